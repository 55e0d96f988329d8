// SPDX-License-Identifier: BSD-3-Clause
// The communicators of the program, as far as it has used them. Callers take turns.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/profiler/image.hpp"

namespace rondo::profiler {

inline constexpr std::uint32_t counters = 64;

struct Communicator {
    std::uint32_t kind = 0;         ///< its number in the file
    std::uint32_t instance = none;  ///< the same; none: its calls are not sampled
    const char* made_by = "";
    int size = 1, rank = 0;
    int remote_size = 0;  ///< of an inter-communicator
    /// Calls, for samples: ranks that call the same collective count with the same counter.
    std::array<std::uint32_t, counters> calls{};

    [[nodiscard]] bool is_inter() const { return remote_size > 0; }
};

/// Where the ranks of MPI_COMM_WORLD are: for each the first rank on its node.
void know_nodes(std::vector<int> first_on_node);
Communicator& communicator_of(MPI_Comm handle);
/// `made_by` lives for ever.
void made(MPI_Comm handle, const char* made_by);
void renamed(MPI_Comm handle);
void announced(MPI_Comm handle, const char* made_by);
void forgotten(MPI_Comm handle);

}  // namespace rondo::profiler
