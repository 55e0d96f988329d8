// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/gathering.hpp"

#include "rondo/backends/mpi/device_memory.hpp"

namespace rondo::mpi {

Gathering::Gathering(const UserData& input, bool in_place, const PlacedParts& parts, Rank rank)
    : input_(input), parts_(parts), rank_(rank), in_place_(in_place), plain_(lies_as_packed(parts.type)),
      direct_(plain_), first_(parts.buffer) {
    if (parts.displacements.is_argument()) {
        // The parts lie in one piece if the distance between where a part is and where it belongs is the same for all.
        Count start = 0;
        bool found = false;
        for (Rank each = 0; each < parts.counts.size(); ++each) {
            if (each == rank) start_of_input_ = start * parts.type.size;
            const Count count = parts.counts[each];
            if (count == 0) continue;
            char* const first = beyond(parts.buffer, (parts.displacement(each) - start) * parts.type.extent);
            if (!found) first_ = first;
            else if (first != first_) direct_ = false;
            found = true;
            start += count;
        }
        bytes_ = start * parts.type.size;
    } else {
        start_of_input_ = parts.counts[rank] * rank * parts.type.size;
        bytes_ = parts.counts[rank] * parts.counts.size() * parts.type.size;
    }
    if (on_device(first_)) direct_ = false;
    input_plain_ = in_place ? plain_ : lies_as_packed(input.type);
    if (input.bytes() > 0) packs_input_ = in_place ? !direct_ : !input_plain_ || on_device(input.buffer);
}

int Gathering::enter(char* at, MPI_Comm comm) const {
    if (!packs_input_) return MPI_SUCCESS;
    return pack(input_, input_plain_, at + start_of_input_, comm);
}

int Gathering::leave(const char* at, MPI_Comm comm) const {
    if (direct_) return MPI_SUCCESS;
    for (Rank each = 0; each < parts_.counts.size(); ++each) {
        const UserData part = parts_[each];
        const auto size = static_cast<std::size_t>(part.bytes());
        if (size > 0 && !(in_place_ && each == rank_)) {
            if (const int error = unpack(at, part, plain_, comm); error != MPI_SUCCESS) return error;
        }
        at += size;
    }
    return MPI_SUCCESS;
}

}  // namespace rondo::mpi
