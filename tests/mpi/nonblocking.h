// SPDX-License-Identifier: BSD-3-Clause
// Makes each call of a blocking collective in a program a nonblocking one, or with RONDO_TESTS_PERSISTENT a persistent
// one, which is waited for. Given to the compiler by -include; so the programs that check blocking calls check these,
// too.
#ifndef RONDO_TESTS_MPI_NONBLOCKING_H
#define RONDO_TESTS_MPI_NONBLOCKING_H

#include <mpi.h>
#include <stddef.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"

/// Makes a blocking call on a communicator that has had none: Rondo gets a context for its messages there.
static void meet_once(MPI_Comm comm) {
    static int key = MPI_KEYVAL_INVALID, found, mark;
    void* value;
    if (comm == MPI_COMM_NULL) return;
    if (key == MPI_KEYVAL_INVALID) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_get_attr(comm, key, (void*)&value, &found);
    if (found) return;
    MPI_Barrier(comm);
    MPI_Comm_set_attr(comm, key, &mark);
}

#ifdef RONDO_TESTS_PERSISTENT
#define WAITED(lower_case, name, suffix, ...)                                    \
    MPI_Request request;                                                         \
    meet_once(comm);                                                             \
    int error = MPI_##name##_init##suffix(__VA_ARGS__, MPI_INFO_NULL, &request); \
    if (error != MPI_SUCCESS) return error;                                      \
    error = MPI_Start(&request);                                                 \
    if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);     \
    MPI_Request_free(&request);                                                  \
    return error
#else
#define WAITED(lower_case, name, suffix, ...)                           \
    MPI_Request request;                                                \
    meet_once(comm);                                                    \
    const int error = MPI_I##lower_case##suffix(__VA_ARGS__, &request); \
    if (error != MPI_SUCCESS) return error;                             \
    return MPI_Wait(&request, MPI_STATUS_IGNORE)
#endif

static int waited_allgather(const void* input, int input_count, MPI_Datatype input_type, void* output, int count,
                            MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(allgather, Allgather, , input, input_count, input_type, output, count, datatype, comm);
}
static int waited_allgatherv(const void* input, int input_count, MPI_Datatype input_type, void* output,
                             const int* counts, const int* displacements, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(allgatherv, Allgatherv, , input, input_count, input_type, output, counts, displacements, datatype, comm);
}
static int waited_allreduce(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm) {
    WAITED(allreduce, Allreduce, , input, output, count, datatype, op, comm);
}
static int waited_alltoall(const void* input, int input_count, MPI_Datatype input_type, void* output, int count,
                           MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(alltoall, Alltoall, , input, input_count, input_type, output, count, datatype, comm);
}
static int waited_alltoallv(const void* input, const int* input_counts, const int* input_displacements,
                            MPI_Datatype input_type, void* output, const int* counts, const int* displacements,
                            MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(alltoallv, Alltoallv, , input, input_counts, input_displacements, input_type, output, counts, displacements,
           datatype, comm);
}
static int waited_alltoallw(const void* input, const int* input_counts, const int* input_displacements,
                            const MPI_Datatype* input_types, void* output, const int* counts, const int* displacements,
                            const MPI_Datatype* types, MPI_Comm comm) {
    WAITED(alltoallw, Alltoallw, , input, input_counts, input_displacements, input_types, output, counts, displacements,
           types, comm);
}
static int waited_barrier(MPI_Comm comm) { WAITED(barrier, Barrier, , comm); }
static int waited_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(bcast, Bcast, , buffer, count, datatype, root, comm);
}
static int waited_exscan(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    WAITED(exscan, Exscan, , input, output, count, datatype, op, comm);
}
static int waited_gather(const void* input, int part_count, MPI_Datatype part_type, void* output, int count,
                         MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(gather, Gather, , input, part_count, part_type, output, count, datatype, root, comm);
}
static int waited_gatherv(const void* input, int part_count, MPI_Datatype part_type, void* output, const int* counts,
                          const int* displacements, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(gatherv, Gatherv, , input, part_count, part_type, output, counts, displacements, datatype, root, comm);
}
static int waited_reduce(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, int root,
                         MPI_Comm comm) {
    WAITED(reduce, Reduce, , input, output, count, datatype, op, root, comm);
}
static int waited_reduce_scatter(const void* input, void* output, const int* counts, MPI_Datatype datatype, MPI_Op op,
                                 MPI_Comm comm) {
    WAITED(reduce_scatter, Reduce_scatter, , input, output, counts, datatype, op, comm);
}
static int waited_reduce_scatter_block(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op,
                                       MPI_Comm comm) {
    WAITED(reduce_scatter_block, Reduce_scatter_block, , input, output, count, datatype, op, comm);
}
static int waited_scan(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    WAITED(scan, Scan, , input, output, count, datatype, op, comm);
}
static int waited_scatter(const void* input, int count, MPI_Datatype datatype, void* output, int part_count,
                          MPI_Datatype part_type, int root, MPI_Comm comm) {
    WAITED(scatter, Scatter, , input, count, datatype, output, part_count, part_type, root, comm);
}
static int waited_scatterv(const void* input, const int* counts, const int* displacements, MPI_Datatype datatype,
                           void* output, int part_count, MPI_Datatype part_type, int root, MPI_Comm comm) {
    WAITED(scatterv, Scatterv, , input, counts, displacements, datatype, output, part_count, part_type, root, comm);
}
#define MPI_Allgather waited_allgather
#define MPI_Allgatherv waited_allgatherv
#define MPI_Allreduce waited_allreduce
#define MPI_Alltoall waited_alltoall
#define MPI_Alltoallv waited_alltoallv
#define MPI_Alltoallw waited_alltoallw
#define MPI_Barrier waited_barrier
#define MPI_Bcast waited_bcast
#define MPI_Exscan waited_exscan
#define MPI_Gather waited_gather
#define MPI_Gatherv waited_gatherv
#define MPI_Reduce waited_reduce
#define MPI_Reduce_scatter waited_reduce_scatter
#define MPI_Reduce_scatter_block waited_reduce_scatter_block
#define MPI_Scan waited_scan
#define MPI_Scatter waited_scatter
#define MPI_Scatterv waited_scatterv
#if MPI_VERSION >= 4 && !defined(OPEN_MPI)
static int waited_allgather_c(const void* input, MPI_Count input_count, MPI_Datatype input_type, void* output,
                              MPI_Count count, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(allgather, Allgather, _c, input, input_count, input_type, output, count, datatype, comm);
}
static int waited_allgatherv_c(const void* input, MPI_Count input_count, MPI_Datatype input_type, void* output,
                               const MPI_Count* counts, const MPI_Aint* displacements, MPI_Datatype datatype,
                               MPI_Comm comm) {
    WAITED(allgatherv, Allgatherv, _c, input, input_count, input_type, output, counts, displacements, datatype, comm);
}
static int waited_allreduce_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    WAITED(allreduce, Allreduce, _c, input, output, count, datatype, op, comm);
}
static int waited_alltoall_c(const void* input, MPI_Count input_count, MPI_Datatype input_type, void* output,
                             MPI_Count count, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(alltoall, Alltoall, _c, input, input_count, input_type, output, count, datatype, comm);
}
static int waited_alltoallv_c(const void* input, const MPI_Count* input_counts, const MPI_Aint* input_displacements,
                              MPI_Datatype input_type, void* output, const MPI_Count* counts,
                              const MPI_Aint* displacements, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(alltoallv, Alltoallv, _c, input, input_counts, input_displacements, input_type, output, counts,
           displacements, datatype, comm);
}
static int waited_alltoallw_c(const void* input, const MPI_Count* input_counts, const MPI_Aint* input_displacements,
                              const MPI_Datatype* input_types, void* output, const MPI_Count* counts,
                              const MPI_Aint* displacements, const MPI_Datatype* types, MPI_Comm comm) {
    WAITED(alltoallw, Alltoallw, _c, input, input_counts, input_displacements, input_types, output, counts,
           displacements, types, comm);
}
static int waited_bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(bcast, Bcast, _c, buffer, count, datatype, root, comm);
}
static int waited_exscan_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    WAITED(exscan, Exscan, _c, input, output, count, datatype, op, comm);
}
static int waited_gather_c(const void* input, MPI_Count part_count, MPI_Datatype part_type, void* output,
                           MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(gather, Gather, _c, input, part_count, part_type, output, count, datatype, root, comm);
}
static int waited_gatherv_c(const void* input, MPI_Count part_count, MPI_Datatype part_type, void* output,
                            const MPI_Count* counts, const MPI_Aint* displacements, MPI_Datatype datatype, int root,
                            MPI_Comm comm) {
    WAITED(gatherv, Gatherv, _c, input, part_count, part_type, output, counts, displacements, datatype, root, comm);
}
static int waited_reduce_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                           MPI_Comm comm) {
    WAITED(reduce, Reduce, _c, input, output, count, datatype, op, root, comm);
}
static int waited_reduce_scatter_c(const void* input, void* output, const MPI_Count* counts, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm) {
    WAITED(reduce_scatter, Reduce_scatter, _c, input, output, counts, datatype, op, comm);
}
static int waited_reduce_scatter_block_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm) {
    WAITED(reduce_scatter_block, Reduce_scatter_block, _c, input, output, count, datatype, op, comm);
}
static int waited_scan_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
    WAITED(scan, Scan, _c, input, output, count, datatype, op, comm);
}
static int waited_scatter_c(const void* input, MPI_Count count, MPI_Datatype datatype, void* output,
                            MPI_Count part_count, MPI_Datatype part_type, int root, MPI_Comm comm) {
    WAITED(scatter, Scatter, _c, input, count, datatype, output, part_count, part_type, root, comm);
}
static int waited_scatterv_c(const void* input, const MPI_Count* counts, const MPI_Aint* displacements,
                             MPI_Datatype datatype, void* output, MPI_Count part_count, MPI_Datatype part_type,
                             int root, MPI_Comm comm) {
    WAITED(scatterv, Scatterv, _c, input, counts, displacements, datatype, output, part_count, part_type, root, comm);
}
#define MPI_Allgather_c waited_allgather_c
#define MPI_Allgatherv_c waited_allgatherv_c
#define MPI_Allreduce_c waited_allreduce_c
#define MPI_Alltoall_c waited_alltoall_c
#define MPI_Alltoallv_c waited_alltoallv_c
#define MPI_Alltoallw_c waited_alltoallw_c
#define MPI_Bcast_c waited_bcast_c
#define MPI_Exscan_c waited_exscan_c
#define MPI_Gather_c waited_gather_c
#define MPI_Gatherv_c waited_gatherv_c
#define MPI_Reduce_c waited_reduce_c
#define MPI_Reduce_scatter_c waited_reduce_scatter_c
#define MPI_Reduce_scatter_block_c waited_reduce_scatter_block_c
#define MPI_Scan_c waited_scan_c
#define MPI_Scatter_c waited_scatter_c
#define MPI_Scatterv_c waited_scatterv_c
#endif

#pragma GCC diagnostic pop
#undef WAITED
#endif
