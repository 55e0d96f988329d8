// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {

/// What shall be done with calls of this kind on `comm`, whose state `communicator` is. Collective over `comm`: it may
/// communicate. `starts`: of uneven parts, as SharedFacts has them; borrowed.
mpi::Decision decide(const Runtime& runtime, const mpi::CallKey& key, mpi::Communicator& communicator, MPI_Comm comm,
                     std::span<const Count> starts = {});

/// Says so, once, if calls go to the library because ranks were given different instructions.
void warn_of_disagreement(const mpi::Communicator& communicator);

}  // namespace rondo::interposer
