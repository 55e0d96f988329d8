// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls, scatters and gathers in which every part goes straight to its rank: equal parts or different ones.
#pragma once

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

/// What a rank sends: where it stands, or a copy of it if the output overwrites it.
class Outgoing {
  public:
    explicit Outgoing(const Call& call)
        : call_(call), kept_(call.in_place() ? call.scratch(call.input().count) : call.input()) {}

    [[nodiscard]] Block operator[](Rank to) const { return kept(call_.outgoing(to)); }
    /// Where a part of the input is kept.
    [[nodiscard]] Block kept(Block part) const { return kept_.part(part.first - call_.input().first, part.count); }

  private:
    const Call& call_;
    Block kept_;
};

/// Before the first message: makes these copies, or brings the own part to its place.
Schedule keep(const Call& call, const Outgoing& outgoing);

/// In round i with the i-th group of so many ranks behind this one, and before it; so many messages at a time.
Schedule in_rounds(const Call& call, Count messages);
/// The messages of that, and only of parts that are longer.
Schedule straight(const Call& call, const Outgoing& outgoing, Count messages, Count longer_than = 0);

/// A scatter or gather: the root sends every other rank its part, or receives it, in their order, those of so many
/// ranks at a time; only parts that are longer.
Schedule with_root(const Call& call, Direction of_root, Count messages, Count longer_than = 0);

/// Of linear exchanges: as many at a time as do not flood a library.
inline constexpr Count most_at_once = 64;

/// Of the root of linear scatters and gathers: the handshakes of long messages overlap, and no more of them are under
/// way than a network holds.
inline constexpr Parameter root_ports = {
    .name = "ports", .summary = "ranks at a time", .minimum = 1, .maximum = 64, .standard = 16};

/// Of k-ported ones.
inline constexpr Parameter ports_parameter = {
    .name = "ports", .summary = "messages at a time", .minimum = 1, .maximum = 32, .standard = 4};

}  // namespace rondo
