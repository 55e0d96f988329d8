// SPDX-License-Identifier: BSD-3-Clause
// The settings that a choice leaves open, closed for a call on a machine.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "rondo/selection/choice.hpp"
#include "rondo/selection/machine.hpp"

namespace rondo {

[[nodiscard]] bool has_open_segment(std::span<const Setting> settings);

/// The settings for all calls of a class, found by running the schedule in virtual time for the one that stands for
/// them. What is cut nowhere may have a segment longer than that call.
using ClosedForClass = std::function<std::vector<Setting>(const Choice&, const SharedFacts&, const Machine&)>;
std::vector<Setting> closed_for_class(const Choice& choice, const SharedFacts& usual, const Machine& machine);

/// The choice's settings for one call: as the machine file names them, else as found for its class of lengths (four to
/// a power of two), for which the shortest vector stands, with root 0 and even parts. From facts and figures that are
/// equal on all ranks. `closed` may remember what `closed_for_class` said.
std::vector<Setting> settings_for(const Choice& choice, const SharedFacts& facts, const Machine& machine,
                                  const ClosedForClass& closed = closed_for_class);

}  // namespace rondo
