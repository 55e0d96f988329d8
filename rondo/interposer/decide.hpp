// SPDX-License-Identifier: BSD-3-Clause
// What the rules say about a call, and the plan of one that Rondo carries out.
#pragma once

#include <memory>
#include <vector>

#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {

/// The start of each part, if parts are uneven (SharedFacts::starts); nullptr if they are even. For an all-to-all, the
/// list of Exchanging::places.
using Starts = std::shared_ptr<const std::vector<Count>>;

/// Decides who carries out calls of this kind on `comm`, whose state `communicator` is. Equal on all ranks. Makes no
/// plan yet. Needs no memory, or throws std::bad_alloc, where an algorithm asks for the nodes and ranks are on
/// irregular ones, and where the model is asked.
mpi::Decision decide(const Runtime& runtime, const mpi::CallKey& key, mpi::Communicator& communicator, MPI_Comm comm);

/// Makes the plan of a decision for Rondo, where it can communicate. A rank that has no memory for it fails by itself:
/// throws std::bad_alloc, or Error.
void make_plan(mpi::Decision& decision, const Runtime& runtime, const mpi::CallKey& key,
               mpi::Communicator& communicator, Starts starts);

/// Warns, once, if calls go to the library because ranks were given different instructions.
void warn_of_disagreement(const mpi::Communicator& communicator);

}  // namespace rondo::interposer
