// SPDX-License-Identifier: BSD-3-Clause
// The table of what can be measured. Roots are rank 0.
#include <dlfcn.h>

#include <vector>

#include "problem.hpp"

namespace rondo::bench {
namespace {

constexpr int tag = 2;

int ranks_of(MPI_Comm comm) {
    int ranks = 1;
    MPI_Comm_size(comm, &ranks);
    return ranks;
}

int rank_of(MPI_Comm comm) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

std::size_t extent_of(MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    return static_cast<std::size_t>(extent);
}

/// MPI_Exscan, MPI_Scan, MPI_Allreduce and MPI_Reduce_scatter_block have one signature.
void call_without_root(const Callee& callee, const Arguments& a) {
    callee.call<const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm>(a.input, a.output, a.count, a.type, a.op,
                                                                         a.comm);
}

/// MPI_Allgather and MPI_Alltoall have one signature.
void call_with_two_types(const Callee& callee, const Arguments& a) {
    callee.call<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm>(a.input, a.count, a.type, a.output,
                                                                                    a.count, a.type, a.comm);
}

/// MPI_Gather and MPI_Scatter have one signature.
void call_with_parts_of_the_root(const Callee& callee, const Arguments& a) {
    callee.call<const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm>(
        a.input, a.count, a.type, a.output, a.count, a.type, 0, a.comm);
}

void call_alltoallv(const Callee& callee, const Arguments& a) {
    callee
        .call<const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, MPI_Comm>(
            a.input, a.sent.counts, a.sent.starts, a.type, a.output, a.received.counts, a.received.starts, a.type,
            a.comm);
}

void call_gatherv(const Callee& callee, const Arguments& a) {
    callee.call<const void*, int, MPI_Datatype, void*, const int*, const int*, MPI_Datatype, int, MPI_Comm>(
        a.input, a.count, a.type, a.output, a.received.counts, a.received.starts, a.type, 0, a.comm);
}

void call_scatterv(const Callee& callee, const Arguments& a) {
    callee.call<const void*, const int*, const int*, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm>(
        a.input, a.sent.counts, a.sent.starts, a.type, a.output, a.count, a.type, 0, a.comm);
}

void call_reduce(const Callee& callee, const Arguments& a) {
    callee.call<const void*, void*, int, MPI_Datatype, MPI_Op, int, MPI_Comm>(a.input, a.output, a.count, a.type, a.op,
                                                                              0, a.comm);
}

void call_bcast(const Callee& callee, const Arguments& a) {
    callee.call<void*, int, MPI_Datatype, int, MPI_Comm>(a.output, a.count, a.type, 0, a.comm);
}

void call_barrier(const Callee& callee, const Arguments& a) { callee.call<MPI_Comm>(a.comm); }

/// Rank 0 and the last: there and back.
void ping_pong(const Callee&, const Arguments& a) {
    const int last = ranks_of(a.comm) - 1, rank = rank_of(a.comm);
    if (rank == 0) MPI_Send(a.input, a.count, a.type, last, tag, a.comm);
    if (rank == 0 || rank == last) MPI_Recv(a.output, a.count, a.type, last - rank, tag, a.comm, MPI_STATUS_IGNORE);
    if (rank == last) MPI_Send(a.input, a.count, a.type, 0, tag, a.comm);
}

/// All others send to rank 0 at once.
void incast(const Callee&, const Arguments& a) {
    if (rank_of(a.comm) != 0) {
        MPI_Send(a.input, a.count, a.type, 0, tag, a.comm);
        return;
    }
    const std::size_t element_bytes = extent_of(a.type);
    const std::size_t bytes = static_cast<std::size_t>(a.count) * element_bytes;
    std::vector<MPI_Request> requests(static_cast<std::size_t>(ranks_of(a.comm) - 1));
    for (std::size_t i = 0; i < requests.size(); ++i) {
        void* slot = static_cast<std::byte*>(a.output) + i * bytes;
        MPI_Irecv(slot, a.count, a.type, static_cast<int>(i) + 1, tag, a.comm, &requests[i]);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// All send to the rank that is so many further at once.
void shift(const Arguments& a, int ranks, int distance) {
    const int rank = rank_of(a.comm);
    MPI_Sendrecv(a.input, a.count, a.type, (rank + distance) % ranks, tag, a.output, a.count, a.type,
                 (rank + ranks - distance) % ranks, tag, a.comm, MPI_STATUS_IGNORE);
}

void ring_shift(const Callee&, const Arguments& a) { shift(a, ranks_of(a.comm), 1); }

void half_shift(const Callee&, const Arguments& a) {
    const int ranks = ranks_of(a.comm);
    shift(a, ranks, ranks / 2);
}

/// Rank 0 to the last, a message for each element: what the processors need for one.
void stream(const Callee&, const Arguments& a) {
    const int last = ranks_of(a.comm) - 1, rank = rank_of(a.comm);
    if (rank != 0 && rank != last) return;
    const std::size_t element_bytes = extent_of(a.type);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(a.count));
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::size_t offset = i * element_bytes;
        if (rank == 0) MPI_Isend(static_cast<std::byte*>(a.input) + offset, 1, a.type, last, tag, a.comm, &requests[i]);
        else MPI_Irecv(static_cast<std::byte*>(a.output) + offset, 1, a.type, 0, tag, a.comm, &requests[i]);
    }
    MPI_Waitall(a.count, requests.data(), MPI_STATUSES_IGNORE);
}

/// Every rank by itself: what the operator takes.
void reduce_local(const Callee&, const Arguments& a) { MPI_Reduce_local(a.input, a.output, a.count, a.type, a.op); }

/// Every rank by itself, with doubles whatever the type: the sum of a long array, in as many parts as processors add at
/// once.
void first_pass(const Callee&, const Arguments& a) {
    constexpr std::size_t parts = 16;
    const auto* input = static_cast<const double*>(a.input);
    const std::size_t count = static_cast<std::size_t>(a.count) * extent_of(a.type) / sizeof(double);
    double sums[parts] = {};
    for (std::size_t i = 0; i + parts <= count; i += parts) {
        for (std::size_t part = 0; part < parts; ++part) sums[part] += input[i + part];
    }
    for (std::size_t part = 1; part < parts; ++part) sums[0] += sums[part];
    if (count > 0) *static_cast<double*>(a.output) = sums[0];
}

using PrefixSum = int (*)(const void*, void*, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);

/// rondo_prefix of the installation that this was compiled for; nullptr where that is not.
PrefixSum find_prefix_sum() {
#ifdef RONDO_PREFIX_LIBRARY
    if (void* library = dlopen(RONDO_PREFIX_LIBRARY, RTLD_NOW | RTLD_LOCAL)) {
        return reinterpret_cast<PrefixSum>(dlsym(library, "rondo_prefix"));
    }
#endif
    return nullptr;
}

/// The same: its running sums. A prefix sum of one rank is the second pass and nothing else.
void second_pass(const Callee&, const Arguments& a) {
    static const PrefixSum prefix_sum = find_prefix_sum();
    const auto* input = static_cast<const double*>(a.input);
    auto* output = static_cast<double*>(a.output);
    const std::size_t count = static_cast<std::size_t>(a.count) * extent_of(a.type) / sizeof(double);
    if (prefix_sum != nullptr && prefix_sum(input, output, static_cast<MPI_Count>(count), MPI_DOUBLE, MPI_SUM, 0,
                                            MPI_COMM_SELF) == MPI_SUCCESS) {
        return;
    }
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) output[i] = sum += input[i];
}

int none(int, int) { return 0; }
int one_vector(int, int) { return 1; }
int one_of_each(int, int ranks) { return ranks; }
int one_of_each_on_root(int rank, int ranks) { return rank == 0 ? ranks : 0; }
int one_of_each_other_on_root(int rank, int ranks) { return rank == 0 ? ranks - 1 : 0; }

RankRange ranks_before(int, int rank, int) { return {0, rank}; }
RankRange ranks_up_to(int, int rank, int) { return {0, rank + 1}; }
RankRange all(int, int, int ranks) { return {0, ranks}; }
RankRange all_on_root(int, int rank, int ranks) { return {0, rank == 0 ? ranks : 0}; }
RankRange root(int, int, int) { return {0, 1}; }
RankRange each_by_itself(int vector, int, int) { return {vector, vector + 1}; }
RankRange one_of_the_others(int vector, int, int) { return {vector + 1, vector + 2}; }
RankRange previous(int, int rank, int ranks) { return {(rank + ranks - 1) % ranks, (rank + ranks - 1) % ranks + 1}; }
RankRange opposite(int, int rank, int ranks) {
    const int from = (rank + ranks - ranks / 2) % ranks;
    return {from, from + 1};
}
RankRange partner(int, int rank, int ranks) {
    if (rank != 0 && rank != ranks - 1) return {0, 0};
    return {ranks - 1 - rank, ranks - rank};
}

RankRange root_on_the_last(int, int rank, int ranks) { return {0, rank == ranks - 1 ? 1 : 0}; }
RankRange nobody(int, int, int) { return {0, 0}; }

double undefined(int) { return 0; }
double one(int) { return 1; }
double the_others(int ranks) { return 1.0 * (ranks - 1) / ranks; }
double twice_the_others(int ranks) { return 2.0 * (ranks - 1) / ranks; }

/// The first columns of a row: how MPI calls it, and where it is.
#define RONDO_FUNCTION(name) #name, reinterpret_cast<Function>(name)
#define RONDO_PATTERN nullptr, nullptr

// clang-format off
const Collective table[] = {
    {"exscan", RONDO_FUNCTION(MPI_Exscan), true, false, 1, false, call_without_root, Counts::whole, false, one_vector, ranks_before, undefined},
    {"scan", RONDO_FUNCTION(MPI_Scan), true, false, 1, false, call_without_root, Counts::whole, false, one_vector, ranks_up_to, undefined},
    {"allreduce", RONDO_FUNCTION(MPI_Allreduce), true, false, 1, false, call_without_root, Counts::whole, false, one_vector, all, twice_the_others},
    {"reduce_scatter", RONDO_FUNCTION(MPI_Reduce_scatter_block), true, false, 1, false, call_without_root, Counts::part_of_input, false, one_vector, all, the_others},
    {"allgather", RONDO_FUNCTION(MPI_Allgather), false, false, 1, false, call_with_two_types, Counts::part_of_output, false, one_of_each, each_by_itself, the_others},
    {"alltoall", RONDO_FUNCTION(MPI_Alltoall), false, false, 1, false, call_with_two_types, Counts::part_of_both, false, one_of_each, each_by_itself, the_others},
    {"gather", RONDO_FUNCTION(MPI_Gather), false, false, 1, false, call_with_parts_of_the_root, Counts::part_of_output, false, one_of_each_on_root, each_by_itself, the_others},
    {"scatter", RONDO_FUNCTION(MPI_Scatter), false, false, 1, false, call_with_parts_of_the_root, Counts::part_of_input, false, one_vector, root, the_others},
    {"alltoallv", RONDO_FUNCTION(MPI_Alltoallv), false, false, 1, false, call_alltoallv, Counts::part_of_both, true, one_of_each, each_by_itself, the_others},
    {"gatherv", RONDO_FUNCTION(MPI_Gatherv), false, false, 1, false, call_gatherv, Counts::part_of_output, true, one_of_each_on_root, each_by_itself, the_others},
    {"scatterv", RONDO_FUNCTION(MPI_Scatterv), false, false, 1, false, call_scatterv, Counts::part_of_input, true, one_vector, root, the_others},
    {"reduce", RONDO_FUNCTION(MPI_Reduce), true, false, 1, false, call_reduce, Counts::whole, false, one_vector, all_on_root, one},
    {"bcast", RONDO_FUNCTION(MPI_Bcast), false, true, 1, false, call_bcast, Counts::whole, false, one_vector, root, one},
    {"barrier", RONDO_FUNCTION(MPI_Barrier), false, false, 1, false, call_barrier, Counts::whole, false, none, nobody, undefined},
    {"ping_pong", RONDO_PATTERN, false, false, 0.5, true, ping_pong, Counts::whole, false, one_vector, partner, one},
    {"incast", RONDO_PATTERN, false, false, 1, false, incast, Counts::whole, false, one_of_each_other_on_root, one_of_the_others, undefined},
    {"ring_shift", RONDO_PATTERN, false, false, 1, false, ring_shift, Counts::whole, false, one_vector, previous, undefined},
    {"half_shift", RONDO_PATTERN, false, false, 1, false, half_shift, Counts::whole, false, one_vector, opposite, undefined},
    {"stream", RONDO_PATTERN, false, false, 1, false, stream, Counts::whole, false, one_vector, root_on_the_last, undefined},
    {"reduce_local", RONDO_PATTERN, false, false, 1, false, reduce_local, Counts::whole, false, one_vector, nobody, undefined},
    {"first_pass", RONDO_PATTERN, false, false, 1, false, first_pass, Counts::whole, false, one_vector, nobody, undefined},
    {"second_pass", RONDO_PATTERN, false, false, 1, false, second_pass, Counts::whole, false, one_vector, nobody, undefined},
};
// clang-format on

}  // namespace

std::span<const Collective> collectives() { return table; }

}  // namespace rondo::bench
