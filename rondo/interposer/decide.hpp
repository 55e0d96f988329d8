// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <vector>

#include "rondo/guard/trial.hpp"
#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {

/// Of uneven parts, as SharedFacts has them; nullptr if they are even. In an all-to-all, their places.
using Starts = std::shared_ptr<const std::vector<Count>>;

using TrialOf = std::function<const guard::Trial*(const Choice* chosen)>;

/// Thrown by a rank that cannot make a plan, where the others run theirs.
struct NoPlan : std::exception {
    NoPlan() = default;
    NoPlan(const void* choice, int code) : chosen(choice), error(code) {}

    const void* chosen = nullptr;  ///< as in a Decision
    int error = MPI_SUCCESS;       ///< MPI's code
};

/// What shall be done with calls of this kind on `comm`, whose state `communicator` is. Collective over `comm`: it may
/// communicate. Memory is taken after that, for the plan: a rank that has none fails by itself. (But for where ranks
/// are on irregular nodes, for algorithms that ask.)
/// `trial_of`: joins the trial of such calls and what was chosen for them; nullptr if there is none.
mpi::Decision decide(const Runtime& runtime, const mpi::CallKey& key, mpi::Communicator& communicator, MPI_Comm comm,
                     const TrialOf& trial_of, const std::function<Starts()>& starts);

/// Says so, once, if calls go to the library because ranks were given different instructions.
void warn_of_disagreement(const mpi::Communicator& communicator);

}  // namespace rondo::interposer
