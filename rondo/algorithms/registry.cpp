// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/registry.hpp"

#include <iterator>

#include "rondo/algorithms/allgather/allgather.hpp"
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/alltoallv/alltoallv.hpp"
#include "rondo/algorithms/barrier/barrier.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/gather/gather.hpp"
#include "rondo/algorithms/gatherv/gatherv.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"
#include "rondo/algorithms/reduce_scatter/reduce_scatter.hpp"
#include "rondo/algorithms/scan/scan.hpp"
#include "rondo/algorithms/scatter/scatter.hpp"
#include "rondo/algorithms/scatterv/scatterv.hpp"

namespace rondo {
namespace {

constexpr Collective all[] = {
    {"allgather", allgather::summary, allgather::algorithms, {.root = false, .operation = false, .input = Share::part}},
    {"allreduce", allreduce::summary, allreduce::algorithms, {.root = false, .operation = true}},
    {"alltoall",
     alltoall::summary,
     alltoall::algorithms,
     {.root = false, .operation = false, .input = Share::own, .output = Share::own}},
    {"alltoallv",
     alltoallv::summary,
     alltoallv::algorithms,
     {.root = false, .operation = false, .input = Share::own, .output = Share::own, .local_lengths = true}},
    {"barrier",
     barrier::summary,
     barrier::algorithms,
     {.root = false, .operation = false, .input = Share::part, .data = false}},
    {"bcast", bcast::summary, bcast::algorithms, {.root = true, .operation = false, .input = Share::whole_at_root}},
    {"exscan", exscan::summary, exscan::algorithms, {.root = false, .operation = true, .prefix = true}},
    {"gather",
     gather::summary,
     gather::algorithms,
     {.root = true, .operation = false, .input = Share::part, .output = Share::whole_at_root}},
    {"gatherv",
     gatherv::summary,
     gatherv::algorithms,
     {.root = true, .operation = false, .input = Share::part, .output = Share::whole_at_root, .local_lengths = true}},
    {"reduce", reduce::summary, reduce::algorithms, {.root = true, .operation = true, .output = Share::whole_at_root}},
    {"reduce_scatter",
     reduce_scatter::summary,
     reduce_scatter::algorithms,
     {.root = false, .operation = true, .output = Share::part}},
    {"scan", scan::summary, scan::algorithms, {.root = false, .operation = true, .prefix = true}},
    {"scatter",
     scatter::summary,
     scatter::algorithms,
     {.root = true, .operation = false, .input = Share::whole_at_root, .output = Share::part}},
    {"scatterv",
     scatterv::summary,
     scatterv::algorithms,
     {.root = true, .operation = false, .input = Share::whole_at_root, .output = Share::part, .local_lengths = true}},
};

static_assert(std::size(all) == number_of_collectives,
              "tables by collective have another size: say how many there are");

}  // namespace

std::span<const Collective> collectives() { return all; }

const Collective* find_collective(std::string_view name) {
    for (const Collective& collective : all) {
        if (collective.name == name) return &collective;
    }
    return nullptr;
}

const AlgorithmInfo* Collective::algorithm(std::string_view algorithm_name) const {
    for (const AlgorithmInfo* info : algorithms) {
        if (info->name == algorithm_name) return info;
    }
    return nullptr;
}

}  // namespace rondo
