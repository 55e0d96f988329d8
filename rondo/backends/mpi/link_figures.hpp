// SPDX-License-Identifier: BSD-3-Clause
// Measures what messages between two ranks cost, in a fraction of a second.
#pragma once

#include <optional>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/core/block.hpp"

namespace rondo::mpi {

struct LinkFigures {
    double latency;   ///< seconds that a short message takes to arrive
    double per_byte;  ///< seconds
    double overhead;  ///< seconds of the processor for a message
};

/// Measures messages between two ranks of `comm`, on which no other messages are under way and errors are returned.
/// Both ranks call it, and nobody else; `first` decides how long it goes on, some `seconds` at most. The figures are
/// those of `first`; nothing on `second`, and where a message failed or nothing could be told.
std::optional<LinkFigures> measure_link(MPI_Comm comm, Rank here, Rank first, Rank second, double seconds);

}  // namespace rondo::mpi
