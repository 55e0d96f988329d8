// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/profiler/machines.hpp"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/core/host.hpp"
#include "rondo/profiler/clock.hpp"

namespace rondo::profiler {
namespace {

constexpr int exchanges = 24;  // of one measurement, of which the quickest counts

struct Facts {
    std::uint64_t machine, world;
    int first_on_node, unused;
};

/// MPI_COMM_WORLD once more, for messages that are not the program's; null with a single machine.
MPI_Comm clocks{};
bool several_machines = false;
std::vector<int> leaders;  // the first rank of each machine

int first_on_node(int rank) {
    const mpi::Library& library = mpi::library();
    MPI_Comm node{};
    int first = rank;
    if (library.Comm_split_type(library.comm_world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node) != MPI_SUCCESS)
        return rank;
    library.Bcast(&first, 1, MPI_INT, 0, node);
    library.Comm_free(&node);
    return first;
}

/// The asker's side of an exchange with rank 0.
Offset ask() {
    const mpi::Library& library = mpi::library();
    Offset best{0, ~std::uint64_t{0}, 0};
    for (int i = 0; i < exchanges; ++i) {
        std::uint64_t theirs = 0;
        const std::uint64_t sent = nanoseconds();
        library.Send(&sent, 1, MPI_UINT64_T, 0, 0, clocks);
        library.Recv(&theirs, 1, MPI_UINT64_T, 0, 0, clocks, MPI_STATUS_IGNORE);
        const std::uint64_t half = (nanoseconds() - sent) / 2, middle = sent + half;
        if (half < best.error) best = {static_cast<std::int64_t>(theirs - middle), half, middle};
    }
    return best;
}

void answer(int leader) {
    const mpi::Library& library = mpi::library();
    for (int i = 0; i < exchanges; ++i) {
        std::uint64_t theirs = 0;
        library.Recv(&theirs, 1, MPI_UINT64_T, leader, 0, clocks, MPI_STATUS_IGNORE);
        const std::uint64_t time = nanoseconds();
        library.Send(&time, 1, MPI_UINT64_T, leader, 0, clocks);
    }
}

}  // namespace

Place meet() {
    const mpi::Library& library = mpi::library();
    int rank = 0, size = 1;
    library.Comm_rank(library.comm_world, &rank);
    library.Comm_size(library.comm_world, &size);
    // What no two processes have at the same time on a machine; of rank 0 it names the world.
    const std::uint64_t world = nanoseconds() ^ static_cast<std::uint64_t>(getpid()) << 40U;
    const Facts own{std::hash<std::string>()(machine_identity()), world, first_on_node(rank), 0};
    std::vector<Facts> all(static_cast<std::size_t>(size), own);
    library.Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, library.comm_world);
    Place place;
    place.node = own.first_on_node;
    place.world = all[0].world;
    for (const Facts& each : all) {
        place.first_on_node.push_back(each.first_on_node);
        const auto first = std::ranges::find(all, each.machine, &Facts::machine);
        const auto position = static_cast<int>(&each - all.data());
        if (first - all.begin() == position) leaders.push_back(position);
    }
    place.machine = static_cast<int>(std::ranges::find(all, own.machine, &Facts::machine) - all.begin());
    several_machines = leaders.size() > 1;
    if (several_machines) {
        MPI_Group group{};
        several_machines = library.Comm_group(library.comm_world, &group) == MPI_SUCCESS &&
                           library.Comm_create(library.comm_world, group, &clocks) == MPI_SUCCESS;
        library.Group_free(&group);
    }
    return place;
}

void keep_leaders_with_file(bool has_file) {
    if (!several_machines) return;
    const mpi::Library& library = mpi::library();
    const int own = has_file ? 1 : 0;
    int size = 1;
    library.Comm_size(clocks, &size);
    std::vector<int> with_file(static_cast<std::size_t>(size));
    library.Allgather(&own, 1, MPI_INT, with_file.data(), 1, MPI_INT, clocks);
    std::erase_if(leaders, [&](int leader) { return with_file[static_cast<std::size_t>(leader)] == 0; });
    several_machines = with_file[0] != 0;  // rank 0 answers all others
}

void measure_clocks(Header& header) {
    if (!several_machines || header.clocks == header.offsets.size()) return;
    int rank = 0;
    mpi::library().Comm_rank(clocks, &rank);
    if (rank == 0) {
        for (const int leader : leaders) {
            if (leader != 0) answer(leader);
        }
    } else if (std::ranges::count(leaders, rank) > 0) {
        header.offsets[header.clocks] = ask();
    }
    ++header.clocks;
}

}  // namespace rondo::profiler
