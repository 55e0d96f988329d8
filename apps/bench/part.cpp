// SPDX-License-Identifier: BSD-3-Clause
#include "part.hpp"

#include <chrono>
#include <thread>
#include <vector>

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
    constexpr int tag = 1;  // nothing else is on the world now
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int first_peer = rank == 0 ? 1 : 0, end_of_peers = rank == 0 ? size : 1;
    const auto exchange = [&](bool sends) {
        std::vector<MPI_Request> requests;
        for (int peer = first_peer; peer < end_of_peers; ++peer) {
            MPI_Request& request = requests.emplace_back();
            if (sends) MPI_Isend(nullptr, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
            else MPI_Irecv(nullptr, 0, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
        }
        for (int done = 0; done == 0;) {
            MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
            if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    const bool is_first = rank == 0;  // hears from all, and then lets them go
    exchange(!is_first);
    exchange(is_first);
}

}  // namespace rondo::bench
