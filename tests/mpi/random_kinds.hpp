// SPDX-License-Identifier: BSD-3-Clause
// Kinds of collective calls of random programs: what all ranks know alike of a call.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <optional>

#include "random_elements.hpp"

namespace random_programs {

enum class Form { blocking, nonblocking, persistent };

enum class Collective {
    bcast,
    reduce,
    allreduce,
    scan,
    exscan,
    scatter,
    gather,
    allgather,
    alltoall,
    reduce_scatter_block,
    reduce_scatter,
    allgatherv,
    gatherv,
    scatterv,
    alltoallv,
    barrier
};
inline constexpr int number_of_collectives = 16;
inline constexpr std::array<const char*, number_of_collectives> names_of_collectives{
    "bcast",          "reduce",     "allreduce", "scan",     "exscan",
    "scatter",        "gather",     "allgather", "alltoall", "reduce_scatter_block",
    "reduce_scatter", "allgatherv", "gatherv",   "scatterv", "alltoallv",
    "barrier"};

/// What all ranks know alike of a call.
struct Kind {
    Collective collective = Collective::barrier;
    const Layout* layout = nullptr;
    std::optional<Operator> op;
    int elements = 0, root = 0;
    bool in_place = false;
    std::uint64_t seed = 0;  // of how long the parts of the ranks are, where that differs

    [[nodiscard]] bool reduces() const {
        return (collective >= Collective::reduce && collective <= Collective::exscan) ||
               collective == Collective::reduce_scatter_block || collective == Collective::reduce_scatter;
    }
    [[nodiscard]] bool has_own_lengths() const {
        return collective >= Collective::reduce_scatter && collective <= Collective::alltoallv;
    }
};

inline Kind draw_kind(Draw& draw, Collective collective, int elements, int root) {
    Kind kind;
    kind.collective = collective;
    kind.layout = &draw.any_of(layouts());
    kind.elements = elements;
    kind.root = root;
    if (kind.reduces()) kind.op = draw_operator(draw, *kind.layout);
    kind.in_place = draw.one_in(3);
    kind.seed = static_cast<std::uint64_t>(draw.below(1 << 30));
    return kind;
}

/// A communicator, and this rank in it.
struct Group {
    MPI_Comm comm = MPI_COMM_NULL;
    int rank = 0, size = 0;  // 0 if this rank is none of it
};
inline Group group_of(MPI_Comm comm) {
    Group group{.comm = comm};
    if (comm == MPI_COMM_NULL) return group;
    MPI_Comm_rank(comm, &group.rank);
    MPI_Comm_size(comm, &group.size);
    return group;
}

}  // namespace random_programs
