// SPDX-License-Identifier: BSD-3-Clause
#include "part.hpp"

#include <chrono>
#include <thread>

namespace rondo::bench {
namespace {

/// The lowest rank on this rank's node.
int first_on_node(int rank) {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int first = rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    return first;
}

bool has_part(Part part, int rank, int size) {
    switch (part) {
        case Part::half: return rank < size / 2;
        case Part::node: return first_on_node(rank) == 0;
        case Part::leaders: return first_on_node(rank) == rank;
        case Part::all: break;
    }
    return true;
}

}  // namespace

std::optional<Part> find_part(const std::string& name) {
    if (name == "half") return Part::half;
    if (name == "node") return Part::node;
    if (name == "leaders") return Part::leaders;
    return std::nullopt;
}

MPI_Comm communicator_of(Part part) {
    if (part == Part::all) return MPI_COMM_WORLD;
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, has_part(part, rank, size) ? 0 : MPI_UNDEFINED, rank, &comm);
    return comm;
}

void wait_for_all() {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int done = 0; done == 0;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

}  // namespace rondo::bench
