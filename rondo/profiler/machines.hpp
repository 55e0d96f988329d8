// SPDX-License-Identifier: BSD-3-Clause
// Where the ranks are, and what their machines' clocks differ by.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/profiler/image.hpp"

namespace rondo::profiler {

/// Nodes and machines are numbered by the first rank that is there. A machine has one clock; an emulated cluster has
/// several nodes on a machine.
struct Place {
    int node = 0, machine = 0;
    std::uint64_t world = 0;         ///< the same for all processes of an MPI_COMM_WORLD, and for no other
    std::vector<int> first_on_node;  ///< of each rank
};

/// All ranks of MPI_COMM_WORLD together, once.
Place meet();
/// All ranks together, once: leaves out of measurements the machines whose leader has no file.
void keep_leaders_with_file(bool has_file);
/// Adds an offset of the machine's clock, if there are several machines. All ranks together.
void measure_clocks(Header& header);

}  // namespace rondo::profiler
