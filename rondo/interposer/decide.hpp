// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {

/// Of uneven parts, as SharedFacts has them; nullptr if they are even. In an all-to-all, their places.
using Starts = std::shared_ptr<const std::vector<Count>>;

/// What shall be done with calls of this kind on `comm`, whose state `communicator` is. Collective over `comm`: it may
/// communicate. Memory is taken after that, for the plan: a rank that has none fails by itself. (But for where ranks
/// are on irregular nodes, for algorithms that ask.)
mpi::Decision decide(const Runtime& runtime, const mpi::CallKey& key, mpi::Communicator& communicator, MPI_Comm comm,
                     const std::function<Starts()>& starts);

/// Says so, once, if calls go to the library because ranks were given different instructions.
void warn_of_disagreement(const mpi::Communicator& communicator);

}  // namespace rondo::interposer
