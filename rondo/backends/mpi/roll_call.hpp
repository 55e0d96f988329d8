// SPDX-License-Identifier: BSD-3-Clause
// Ranks wait for each other, but not for ever: a rank may come late, or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rondo/backends/mpi/operation.hpp"
#include "rondo/backends/mpi/world.hpp"

namespace rondo::mpi {

/// Ranks may ask for so many values at once.
inline constexpr std::size_t most_asked = 40;

struct Roll {
    bool is_complete;        ///< all ranks have come in time; equal on all ranks that have come
    bool waits_in_vain;      ///< this rank has lost patience, which is why it is not complete
    bool hears_lower_ranks;  ///< a rank before this one has come, in time or not
};

/// Waits for the ranks of a route, but no more than `patience` nanoseconds for those that have not come. If all have
/// come, replaces each value by the least over all ranks; else leaves the values undefined. If the library cannot send
/// a word, the roll is not complete on this rank; if it is one of the answers, others may wait for it. Nothing else is
/// sent with the tag of the route. `context`: what the tag belongs to, kept while messages are under way; none if to
/// nobody. Values are above the least `long long`.
Roll call_roll(const Route& route, const Context& context, std::span<long long> values, std::uint64_t patience);

/// Ends roll calls in MPI_Finalize: receives what others have sent, or send within a second. Later messages are left
/// to the library.
void end_roll_calls();

}  // namespace rondo::mpi
