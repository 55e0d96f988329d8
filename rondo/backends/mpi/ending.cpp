// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/ending.hpp"

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {
namespace {

void (*what_to_do)() = nullptr;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

int end(MPI_Comm, int, void*, void*) {
    what_to_do();
    return MPI_SUCCESS;
}

}  // namespace

/// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last one first (MPI 4.1, 11.2.4).
void at_end(void (*act)()) {
    what_to_do = act;
    int key = MPI_KEYVAL_INVALID;
    if (library().Comm_create_keyval(copy_nothing, end, &key, nullptr) != MPI_SUCCESS) return;
    library().Comm_set_attr(library().comm_self, key, nullptr);
    library().Comm_free_keyval(&key);  // it stays as long as the attribute does
}

}  // namespace rondo::mpi
