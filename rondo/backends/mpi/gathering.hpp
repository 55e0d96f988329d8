// SPDX-License-Identifier: BSD-3-Clause
// How the data of an allgather come into the bytes that a plan works on, and out of them again, on one rank. Where
// possible these bytes are the user's own.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "rondo/backends/mpi/division.hpp"
#include "rondo/backends/mpi/packing.hpp"

namespace rondo::mpi {

/// So many bytes beyond an address that a user gives. That may be MPI_BOTTOM, or none at all, which is judged later.
inline char* beyond(const void* address, Count bytes) {
    return std::bit_cast<char*>(std::bit_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes));
}

/// The user's parts of a vector, in memory.
struct PlacedParts {
    char* buffer;
    const Datatype& type;  ///< of all parts, if there are no `types`
    PartCounts counts;
    Numbers displacements;  ///< start of each part, in extents of the type; none: one part after the other
    std::span<const Datatype> types = {};  ///< of each part; displacements are in bytes then

    [[nodiscard]] const Datatype& type_of(Rank rank) const {
        return types.empty() ? type : types[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] Count displacement(Rank rank) const {
        return displacements.is_argument() ? displacements[rank] : counts[rank] * rank;
    }
    /// Where the part starts, in bytes.
    [[nodiscard]] Count offset(Rank rank) const { return displacement(rank) * (types.empty() ? type.extent : 1); }
    [[nodiscard]] UserData operator[](Rank rank) const {
        return {beyond(buffer, offset(rank)), counts[rank], type_of(rank)};
    }
    /// True if data of a predefined type start at a null address. (Others may stand at addresses of their own,
    /// MPI_BOTTOM.)
    [[nodiscard]] bool has_predefined_at_null() const {
        if (buffer != nullptr) return false;
        for (Rank rank = 0; rank < counts.size(); ++rank) {
            const Datatype& each = type_of(rank);
            if (counts[rank] > 0 && each.size > 0 && each.predefined && offset(rank) == 0) return true;
        }
        return false;
    }
};

class Gathering {
  public:
    /// `in_place`: the input is the part of this rank.
    Gathering(const UserData& input, bool in_place, const PlacedParts& parts, Rank rank);

    /// True if the plan finds the input where it belongs in the output: the user put it there, or `enter` does.
    [[nodiscard]] bool plan_in_place() const { return in_place_ || packs_input_; }
    /// Where the plan finds the input otherwise.
    [[nodiscard]] const void* input() const { return input_.buffer; }

    // The interface that staging.hpp asks of data. It is about the whole vector, all bytes in their order.
    [[nodiscard]] char* place() const { return direct_ ? first_ : nullptr; }
    [[nodiscard]] Count bytes() const { return bytes_; }
    int enter(char* at, MPI_Comm comm) const;
    int leave(const char* at, MPI_Comm comm) const;

  private:
    UserData input_;
    PlacedParts parts_;
    Rank rank_;
    bool in_place_, packs_input_ = false;
    bool input_plain_ = false;  // the input lies as packed
    bool plain_;                // each part lies as packed
    bool direct_;               // all parts together lie as packed in host memory
    char* first_;               // the start of the parts in memory
    Count bytes_ = 0;           // bytes of the vector
    Count start_of_input_ = 0;  // offset of the input in the vector, in bytes
};

}  // namespace rondo::mpi
