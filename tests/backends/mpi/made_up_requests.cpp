// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives of the library, which are over when they return, and generalized requests.
#include "tests/backends/mpi/made_up_objects.hpp"

namespace rondo::mpi::made_up::functions {
namespace {

int over(int error, MPI_Request* request) {
    *request = MPI_REQUEST_NULL;
    return error;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int Iallgather(const void* input, int input_count, MPI_Datatype input_type, void* output, int count,
               MPI_Datatype datatype, MPI_Comm comm, MPI_Request* request) {
    return over(Allgather(input, input_count, input_type, output, count, datatype, comm), request);
}
int Iallgatherv(const void* input, int input_count, MPI_Datatype input_type, void* output, const int* counts,
                const int* displacements, MPI_Datatype datatype, MPI_Comm comm, MPI_Request* request) {
    return over(Allgatherv(input, input_count, input_type, output, counts, displacements, datatype, comm), request);
}
int Iallreduce(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
               MPI_Request* request) {
    return over(Allreduce(input, output, count, datatype, op, comm), request);
}
int Ialltoall(const void* input, int input_count, MPI_Datatype input_type, void* output, int count,
              MPI_Datatype datatype, MPI_Comm comm, MPI_Request* request) {
    return over(Alltoall(input, input_count, input_type, output, count, datatype, comm), request);
}
int Ialltoallv(const void* input, const int* input_counts, const int* input_displacements, MPI_Datatype input_type,
               void* output, const int* counts, const int* displacements, MPI_Datatype datatype, MPI_Comm comm,
               MPI_Request* request) {
    return over(
        Alltoallv(input, input_counts, input_displacements, input_type, output, counts, displacements, datatype, comm),
        request);
}
int Ialltoallw(const void* input, const int* input_counts, const int* input_displacements,
               const MPI_Datatype* input_types, void* output, const int* counts, const int* displacements,
               const MPI_Datatype* types, MPI_Comm comm, MPI_Request* request) {
    return over(
        Alltoallw(input, input_counts, input_displacements, input_types, output, counts, displacements, types, comm),
        request);
}
int Ibarrier(MPI_Comm comm, MPI_Request* request) { return over(Barrier(comm), request); }
int Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
    return over(Bcast(buffer, count, datatype, root, comm), request);
}
int Iexscan(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
            MPI_Request* request) {
    return over(Exscan(input, output, count, datatype, op, comm), request);
}
int Igather(const void* input, int part_count, MPI_Datatype part_type, void* output, int count, MPI_Datatype datatype,
            int root, MPI_Comm comm, MPI_Request* request) {
    return over(Gather(input, part_count, part_type, output, count, datatype, root, comm), request);
}
int Igatherv(const void* input, int part_count, MPI_Datatype part_type, void* output, const int* counts,
             const int* displacements, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request* request) {
    return over(Gatherv(input, part_count, part_type, output, counts, displacements, datatype, root, comm), request);
}
int Ireduce(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
            MPI_Request* request) {
    return over(Reduce(input, output, count, datatype, op, root, comm), request);
}
int Ireduce_scatter(const void* input, void* output, const int* counts, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                    MPI_Request* request) {
    return over(Reduce_scatter(input, output, counts, datatype, op, comm), request);
}
int Ireduce_scatter_block(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                          MPI_Request* request) {
    return over(Reduce_scatter_block(input, output, count, datatype, op, comm), request);
}
int Iscan(const void* input, void* output, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
          MPI_Request* request) {
    return over(Scan(input, output, count, datatype, op, comm), request);
}
int Iscatter(const void* input, int count, MPI_Datatype datatype, void* output, int part_count, MPI_Datatype part_type,
             int root, MPI_Comm comm, MPI_Request* request) {
    return over(Scatter(input, count, datatype, output, part_count, part_type, root, comm), request);
}
int Iscatterv(const void* input, const int* counts, const int* displacements, MPI_Datatype datatype, void* output,
              int part_count, MPI_Datatype part_type, int root, MPI_Comm comm, MPI_Request* request) {
    return over(Scatterv(input, counts, displacements, datatype, output, part_count, part_type, root, comm), request);
}

int Comm_idup(MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
    MPI_Group group;
    const int error = Comm_group(comm, &group);
    return over(error != MPI_SUCCESS ? error : Comm_create(comm, group, made), request);
}

int Grequest_start(MPI_Grequest_query_function* /*query*/, MPI_Grequest_free_function* /*free*/,
                   MPI_Grequest_cancel_function* /*cancel*/, void* /*state*/, MPI_Request* request) {
    return over(MPI_ERR_OTHER, request);  // nobody goes on with Rondo's calls
}
int Grequest_complete(MPI_Request /*request*/) { return MPI_ERR_REQUEST; }
int Status_set_elements(MPI_Status* /*status*/, MPI_Datatype /*type*/, int /*count*/) { return MPI_SUCCESS; }
int Status_set_cancelled(MPI_Status* /*status*/, int /*flag*/) { return MPI_SUCCESS; }
// NOLINTEND(readability-identifier-naming)

}  // namespace rondo::mpi::made_up::functions
