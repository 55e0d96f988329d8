// SPDX-License-Identifier: BSD-3-Clause
// How data whose lengths no other rank need know come into the bytes that a plan works on, and out of them again, on
// one rank: for an all-to-all, or for a scatter or gather of parts that differ. Where possible these bytes are the
// user's own.
#pragma once

#include <span>
#include <vector>

#include "rondo/backends/mpi/gathering.hpp"

namespace rondo::mpi {

/// The data that a rank sends, or that it receives: a part for each rank; or its own part; or nothing.
class ExchangedParts {
  public:
    /// Borrows the parts. Negative counts are taken for 0. `still`: the part of this rank does not move, as if it were
    /// empty.
    explicit ExchangedParts(const PlacedParts& parts, Rank still = no_rank);

    // The interface that staging.hpp asks of data. The place is the user's memory, if each part lies as packed. A copy
    // has all parts one after the other.
    [[nodiscard]] char* place() const { return direct_ ? first_ : nullptr; }
    [[nodiscard]] Count bytes() const { return bytes_; }
    int enter(char* at, MPI_Comm comm) const;
    int leave(const char* at, MPI_Comm comm) const;
    /// Calls `visit(first, bytes)` for the part of each rank: its offset from that place, and its length.
    template <class Visitor>
    void visit(Visitor&& visitor) const {
        Count next = 0;
        for (Rank rank = 0; rank < parts_.counts.size(); ++rank) {
            const Count bytes = bytes_of(rank);
            const char* const user = beyond(parts_.buffer, parts_.offset(rank));
            visitor(bytes == 0 ? 0 : direct_ ? user - first_ : next, bytes);
            next += bytes;
        }
    }

    /// True if some bytes of the user's memory are in several parts.
    [[nodiscard]] bool overlap() const;
    /// Has the parts copied to a place of their own.
    void need_place() { direct_ = false; }

  private:
    [[nodiscard]] Count count_of(Rank rank) const {
        return rank == still_ || parts_.type_of(rank).size == 0 ? 0 : std::max<Count>(0, parts_.counts[rank]);
    }
    [[nodiscard]] Count bytes_of(Rank rank) const { return count_of(rank) * parts_.type_of(rank).size; }
    /// True if the part of this rank lies as packed.
    [[nodiscard]] bool is_plain(Rank rank) const {
        return parts_.types.empty() ? plain_ : lies_as_packed(parts_.type_of(rank));
    }
    [[nodiscard]] bool are_plain() const;
    /// Calls `move(data, is_plain, packed)` for pieces of all parts that an int counts, as long as it returns
    /// MPI_SUCCESS.
    template <class Move>
    int for_each_piece(Move&& move) const;

    PlacedParts parts_;
    Rank still_;
    Count bytes_ = 0;
    bool plain_;   // each part lies as packed
    bool direct_;  // so do they in host memory
    char* first_;
};

/// Both sides of an exchange. In place there is one: sent data stand where received data go. MPI forbids that received
/// parts overlap, but a root may throw data away like that: they come one after the other, then.
class Exchanging {
  public:
    Exchanging(const PlacedParts& outgoing, const PlacedParts& incoming, bool in_place)
        : outgoing_(in_place ? incoming : outgoing), incoming_(incoming), in_place_(in_place) {
        separate_incoming();
    }
    Exchanging(const ExchangedParts& outgoing, const ExchangedParts& incoming)
        : outgoing_(outgoing), incoming_(incoming), in_place_(false) {
        separate_incoming();
    }

    [[nodiscard]] bool in_place() const { return in_place_; }
    [[nodiscard]] const ExchangedParts& outgoing() const { return outgoing_; }
    [[nodiscard]] const ExchangedParts& incoming() const { return incoming_; }

    /// What tells plans for such parts apart: the number of outgoing parts; offset and length of each; then those of
    /// the incoming ones.
    [[nodiscard]] std::vector<Count> places() const;
    [[nodiscard]] bool has_places(std::span<const Count> places) const;
    /// A hash of the places, not 0.
    [[nodiscard]] std::uint32_t hash_of_places() const;

  private:
    void separate_incoming() {
        if (!incoming_.overlap()) return;
        incoming_.need_place();
        if (in_place_) outgoing_.need_place();
    }

    ExchangedParts outgoing_, incoming_;
    bool in_place_;
};

}  // namespace rondo::mpi
