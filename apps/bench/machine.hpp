// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks run, and what the operating system counts.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace rondo::bench {

struct Machine {
    /// Collective over `comm`.
    explicit Machine(MPI_Comm comm);

    std::vector<int> machines;  ///< of each rank, numbered in the order of their first ranks
    std::vector<int> nodes;     ///< the same; an emulated cluster has many on one machine
    std::vector<int> ranks_per_node;
    std::vector<std::string> hosts;  ///< of each node
    int cores = 1;                   ///< that this process may use
    double ranks_per_core = 0;       ///< of the machine with the most
    bool first_on_node = true;       ///< this rank
    /// Has some machine more ranks than cores?
    [[nodiscard]] bool crowded() const { return ranks_per_core > 1; }
    // Known on rank 0 only:
    std::string library, kernel, processor;
};

/// TCP segments that this node has sent again since it started; 0 where that is not counted.
std::int64_t retransmitted_segments();

}  // namespace rondo::bench
