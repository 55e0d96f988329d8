// SPDX-License-Identifier: BSD-3-Clause
// Makes each call of a blocking collective in a program a nonblocking one, which is waited for. Given to the compiler
// by -include; so the programs that check blocking calls check these, too.
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

#define WAITED(call)                        \
    MPI_Request request;                    \
    meet_once(comm);                        \
    const int error = (call);               \
    if (error != MPI_SUCCESS) return error; \
    return MPI_Wait(&request, MPI_STATUS_IGNORE)

static int waited_allgather(const void* input, int input_count, MPI_Datatype input_type, void* output, int count,
                            MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(MPI_Iallgather(input, input_count, input_type, output, count, datatype, comm, &request));
}
static int waited_allgatherv(const void* input, int input_count, MPI_Datatype input_type, void* output,
                             const int* counts, const int* displacements, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(MPI_Iallgatherv(input, input_count, input_type, output, counts, displacements, datatype, comm, &request));
}
static int waited_allreduce(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm) {
    WAITED(MPI_Iallreduce(input, output, count, datatype, op, comm, &request));
}
static int waited_alltoall(const void* input, int input_count, MPI_Datatype input_type, void* output, int count,
                           MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(MPI_Ialltoall(input, input_count, input_type, output, count, datatype, comm, &request));
}
static int waited_alltoallv(const void* input, const int* input_counts, const int* input_displacements,
                            MPI_Datatype input_type, void* output, const int* counts, const int* displacements,
                            MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(MPI_Ialltoallv(input, input_counts, input_displacements, input_type, output, counts, displacements, datatype,
                          comm, &request));
}
static int waited_barrier(MPI_Comm comm) { WAITED(MPI_Ibarrier(comm, &request)); }
static int waited_bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(MPI_Ibcast(buffer, count, datatype, root, comm, &request));
}
static int waited_exscan(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    WAITED(MPI_Iexscan(input, output, count, datatype, op, comm, &request));
}
static int waited_gather(const void* input, int part_count, MPI_Datatype part_type, void* output, int count,
                         MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(MPI_Igather(input, part_count, part_type, output, count, datatype, root, comm, &request));
}
static int waited_gatherv(const void* input, int part_count, MPI_Datatype part_type, void* output, const int* counts,
                          const int* displacements, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(MPI_Igatherv(input, part_count, part_type, output, counts, displacements, datatype, root, comm, &request));
}
static int waited_reduce(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, int root,
                         MPI_Comm comm) {
    WAITED(MPI_Ireduce(input, output, count, datatype, op, root, comm, &request));
}
static int waited_reduce_scatter(const void* input, void* output, const int* counts, MPI_Datatype datatype, MPI_Op op,
                                 MPI_Comm comm) {
    WAITED(MPI_Ireduce_scatter(input, output, counts, datatype, op, comm, &request));
}
static int waited_reduce_scatter_block(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op,
                                       MPI_Comm comm) {
    WAITED(MPI_Ireduce_scatter_block(input, output, count, datatype, op, comm, &request));
}
static int waited_scan(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
    WAITED(MPI_Iscan(input, output, count, datatype, op, comm, &request));
}
static int waited_scatter(const void* input, int count, MPI_Datatype datatype, void* output, int part_count,
                          MPI_Datatype part_type, int root, MPI_Comm comm) {
    WAITED(MPI_Iscatter(input, count, datatype, output, part_count, part_type, root, comm, &request));
}
static int waited_scatterv(const void* input, const int* counts, const int* displacements, MPI_Datatype datatype,
                           void* output, int part_count, MPI_Datatype part_type, int root, MPI_Comm comm) {
    WAITED(MPI_Iscatterv(input, counts, displacements, datatype, output, part_count, part_type, root, comm, &request));
}
#define MPI_Allgather waited_allgather
#define MPI_Allgatherv waited_allgatherv
#define MPI_Allreduce waited_allreduce
#define MPI_Alltoall waited_alltoall
#define MPI_Alltoallv waited_alltoallv
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
    WAITED(MPI_Iallgather_c(input, input_count, input_type, output, count, datatype, comm, &request));
}
static int waited_allgatherv_c(const void* input, MPI_Count input_count, MPI_Datatype input_type, void* output,
                               const MPI_Count* counts, const MPI_Aint* displacements, MPI_Datatype datatype,
                               MPI_Comm comm) {
    WAITED(MPI_Iallgatherv_c(input, input_count, input_type, output, counts, displacements, datatype, comm, &request));
}
static int waited_allreduce_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm) {
    WAITED(MPI_Iallreduce_c(input, output, count, datatype, op, comm, &request));
}
static int waited_alltoall_c(const void* input, MPI_Count input_count, MPI_Datatype input_type, void* output,
                             MPI_Count count, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(MPI_Ialltoall_c(input, input_count, input_type, output, count, datatype, comm, &request));
}
static int waited_alltoallv_c(const void* input, const MPI_Count* input_counts, const MPI_Aint* input_displacements,
                              MPI_Datatype input_type, void* output, const MPI_Count* counts,
                              const MPI_Aint* displacements, MPI_Datatype datatype, MPI_Comm comm) {
    WAITED(MPI_Ialltoallv_c(input, input_counts, input_displacements, input_type, output, counts, displacements,
                            datatype, comm, &request));
}
static int waited_bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(MPI_Ibcast_c(buffer, count, datatype, root, comm, &request));
}
static int waited_exscan_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm) {
    WAITED(MPI_Iexscan_c(input, output, count, datatype, op, comm, &request));
}
static int waited_gather_c(const void* input, MPI_Count part_count, MPI_Datatype part_type, void* output,
                           MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
    WAITED(MPI_Igather_c(input, part_count, part_type, output, count, datatype, root, comm, &request));
}
static int waited_gatherv_c(const void* input, MPI_Count part_count, MPI_Datatype part_type, void* output,
                            const MPI_Count* counts, const MPI_Aint* displacements, MPI_Datatype datatype, int root,
                            MPI_Comm comm) {
    WAITED(MPI_Igatherv_c(input, part_count, part_type, output, counts, displacements, datatype, root, comm, &request));
}
static int waited_reduce_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root,
                           MPI_Comm comm) {
    WAITED(MPI_Ireduce_c(input, output, count, datatype, op, root, comm, &request));
}
static int waited_reduce_scatter_c(const void* input, void* output, const MPI_Count* counts, MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm) {
    WAITED(MPI_Ireduce_scatter_c(input, output, counts, datatype, op, comm, &request));
}
static int waited_reduce_scatter_block_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm) {
    WAITED(MPI_Ireduce_scatter_block_c(input, output, count, datatype, op, comm, &request));
}
static int waited_scan_c(const void* input, void* output, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
    WAITED(MPI_Iscan_c(input, output, count, datatype, op, comm, &request));
}
static int waited_scatter_c(const void* input, MPI_Count count, MPI_Datatype datatype, void* output,
                            MPI_Count part_count, MPI_Datatype part_type, int root, MPI_Comm comm) {
    WAITED(MPI_Iscatter_c(input, count, datatype, output, part_count, part_type, root, comm, &request));
}
static int waited_scatterv_c(const void* input, const MPI_Count* counts, const MPI_Aint* displacements,
                             MPI_Datatype datatype, void* output, MPI_Count part_count, MPI_Datatype part_type,
                             int root, MPI_Comm comm) {
    WAITED(
        MPI_Iscatterv_c(input, counts, displacements, datatype, output, part_count, part_type, root, comm, &request));
}
#define MPI_Allgather_c waited_allgather_c
#define MPI_Allgatherv_c waited_allgatherv_c
#define MPI_Allreduce_c waited_allreduce_c
#define MPI_Alltoall_c waited_alltoall_c
#define MPI_Alltoallv_c waited_alltoallv_c
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
