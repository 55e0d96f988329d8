// SPDX-License-Identifier: BSD-3-Clause
// To be preloaded behind Rondo: counts what it has the library make, and begin, and what it gives back, and ends. At
// the end of MPI_Finalize, one line a rank: "left COMMUNICATORS GROUPS KEYS TYPES HANDLERS REQUESTS of" and how many of
// each there were.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

enum { communicators, groups, keys, types, handlers, requests, kinds };
static long made[kinds], left[kinds];

static void tell(int kind, int is_made) {
    made[kind] += is_made;
    left[kind] += is_made;
}

// A function that makes something, where its last argument is a pointer to the handle and `condition` holds after it.
#define MAKER(kind, name, condition, parameters, ...)                                  \
    int PMPI_##name parameters {                                                       \
        int(*library) parameters = (int(*) parameters)dlsym(RTLD_NEXT, "PMPI_" #name); \
        const int error = library(__VA_ARGS__);                                        \
        tell(kind, error == MPI_SUCCESS && (condition));                               \
        return error;                                                                  \
    }

// One that gives something back.
#define GIVER(kind, name, Handle)                                                    \
    int PMPI_##name(Handle* handle) {                                                \
        int (*library)(Handle*) = (int (*)(Handle*))dlsym(RTLD_NEXT, "PMPI_" #name); \
        const int error = library(handle);                                           \
        left[kind] -= error == MPI_SUCCESS;                                          \
        return error;                                                                \
    }

MAKER(communicators, Comm_create, *into != MPI_COMM_NULL, (MPI_Comm comm, MPI_Group group, MPI_Comm* into), comm, group,
      into)
MAKER(communicators, Comm_split_type, *into != MPI_COMM_NULL,
      (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* into), comm, type, key, info, into)
MAKER(groups, Comm_group, 1, (MPI_Comm comm, MPI_Group* into), comm, into)
MAKER(keys, Comm_create_keyval, 1,
      (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function* end, int* into, void* state), copy, end, into,
      state)
MAKER(types, Type_contiguous, 1, (int count, MPI_Datatype type, MPI_Datatype* into), count, type, into)
MAKER(handlers, Comm_get_errhandler, 1, (MPI_Comm comm, MPI_Errhandler* into), comm, into)
MAKER(requests, Irecv, 1,
      (void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* into), data, count,
      type, from, tag, comm, into)
MAKER(requests, Isend, 1,
      (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* into), data, count,
      type, to, tag, comm, into)
MAKER(requests, Ibarrier, 1, (MPI_Comm comm, MPI_Request* into), comm, into)
MAKER(requests, Iallreduce, 1,
      (const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* into), from, to,
      count, type, op, comm, into)

GIVER(communicators, Comm_free, MPI_Comm)
GIVER(groups, Group_free, MPI_Group)
GIVER(keys, Comm_free_keyval, int)
GIVER(types, Type_free, MPI_Datatype)
GIVER(handlers, Errhandler_free, MPI_Errhandler)

static int under_way(const MPI_Request* all, int count) {
    int some = 0;
    for (int i = 0; i < count; ++i) some += all[i] != MPI_REQUEST_NULL;
    return some;
}

// What is null behind a call has ended, however.
#define ENDER(name, count, parameters, ...)                                            \
    int PMPI_##name parameters {                                                       \
        int(*library) parameters = (int(*) parameters)dlsym(RTLD_NEXT, "PMPI_" #name); \
        const int before = under_way(request, count);                                  \
        const int error = library(__VA_ARGS__);                                        \
        left[requests] -= before - under_way(request, count);                          \
        return error;                                                                  \
    }

ENDER(Wait, 1, (MPI_Request * request, MPI_Status* status), request, status)
ENDER(Test, 1, (MPI_Request * request, int* done, MPI_Status* status), request, done, status)
ENDER(Request_free, 1, (MPI_Request * request), request)
ENDER(Testsome, all, (int all, MPI_Request* request, int* done, int* which, MPI_Status* statuses), all, request, done,
      which, statuses)

int MPI_Finalize(void) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int error = PMPI_Finalize();
    char text[512];
    int length = snprintf(text, sizeof text, "rank %d left", rank);
    for (int kind = 0; kind < kinds; ++kind) {
        length += snprintf(text + length, sizeof text - (size_t)length, " %ld", left[kind]);
    }
    length += snprintf(text + length, sizeof text - (size_t)length, " of");
    for (int kind = 0; kind < kinds; ++kind) {
        length += snprintf(text + length, sizeof text - (size_t)length, " %ld", made[kind]);
    }
    snprintf(text + length, sizeof text - (size_t)length, "\n");
    fputs(text, stdout);  // in one piece: ranks share a pipe
    return error;
}
