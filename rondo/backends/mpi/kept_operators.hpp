// SPDX-License-Identifier: BSD-3-Clause
// Operators of the program that calls under way need. MPI cannot duplicate them, so those that the program frees
// meanwhile are freed later.
#pragma once

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

/// Keeps an operator as long as it lives. May end in any thread.
class KeptOperator {
  public:
    KeptOperator() = default;
    KeptOperator(const KeptOperator&) = delete;
    KeptOperator& operator=(const KeptOperator&) = delete;
    ~KeptOperator();

    /// Called once. Throws std::bad_alloc.
    void keep(MPI_Op op);

  private:
    MPI_Op op_ = library().op_null;
};

/// Frees an operator as MPI_Op_free does, but not before the last call under way that needs it is over.
int free_operator(MPI_Op* op);

}  // namespace rondo::mpi
