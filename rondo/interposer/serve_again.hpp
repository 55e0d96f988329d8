// SPDX-License-Identifier: BSD-3-Clause
// The fast path of calls that Rondo carries out: they are like one before, so nothing is decided, and nothing but the
// plan is looked up.
#pragma once

#include <new>
#include <type_traits>

#include "rondo/interposer/meeting.hpp"
#include "rondo/interposer/service.hpp"
#include "rondo/interposer/whole_vector.hpp"

namespace rondo::interposer {

/// A call that was carried out, as far as the next one like it needs it again.
struct Served {
    const Wrapped* function;
    mpi::Communicator* communicator;
    const mpi::Datatype* type;
    mpi::Reduction reduction;
    Count count;
    MPI_Comm comm;
    Rank root;
    std::uint32_t decision;  ///< the number of the decision
    bool in_place;
    const void *input, *output;  ///< the last buffers; no runtime of a GPU has been loaded since

    /// Remembers that these buffers are in host memory, so that nobody needs to look for runtimes of GPUs again. Long
    /// ones are not remembered: they may have been given back to the system.
    void remember_buffers(const void* used_input, const void* used_output) {
        constexpr Count longest_remembered = Count{64} << 10;  // in bytes
        const bool is_short = count * type->size <= longest_remembered;
        input = is_short ? used_input : this;  // a marker that is nobody's buffer
        output = is_short ? used_output : this;
    }
};
static_assert(sizeof(Served) <= sizeof(CachedCall::details) && std::is_trivially_copyable_v<Served>);

/// Runs a plan, as `run` says, and tells the error handler what went wrong.
template <class Run>
[[gnu::always_inline]] inline int run_plan(const Plan& plan, MPI_Comm comm, mpi::Communicator& communicator,
                                           Run&& run) {
    int error = MPI_SUCCESS;
    try {
        error = run(plan);
    } catch (...) {
        error = code_of_exception();
    }
    if (error != MPI_SUCCESS) [[unlikely]] {
        communicator.leave_messages();
        mpi::library().Comm_call_errhandler(comm, error);
    }
    return error;
}

/// True if the decision still holds, and nothing but buffers differs, none of which the library would report.
template <class Kind>
bool may_serve_again(const Served& known, const mpi::Decision* decision, const WholeArguments& call) {
    if (decision == nullptr) return false;
    if constexpr (std::is_same_v<Kind, Meeting>) return true;
    const Output output = known.function->output;
    const Rank rank = known.communicator->rank();
    return WholeVector::in_place(output, call, rank) == known.in_place &&
           !WholeVector::buffers_in_doubt(output, call, *known.type, rank);
}

/// What CachedCall::again points to for a served call.
template <class Kind, bool is_counted>
int serve_again(CachedCall& cached, const void* input, void* output) {
    auto& known = *std::launder(reinterpret_cast<Served*>(cached.details));
    mpi::Communicator& communicator = *known.communicator;
    const Wrapped& function = *known.function;
    const mpi::Decision* const decision = communicator.decision_of_number(function.collective, known.decision);
    const mpi::Datatype& type = *known.type;  // the library's, and never freed
    const WholeArguments call = {.input = input, .output = output, .count = known.count, .root = known.root};
    if (!may_serve_again<Kind>(known, decision, call) || !count_call(cached)) return CachedCall::not_again;
    const mpi::Communicator::Use use(communicator);
    const std::uint64_t start = is_counted ? mpi::now() : 0;
    mpi::Tally* const tally = decision->tallies.front();  // calls of an error handler may take the decision's place
    if (output != known.output || input != known.input) {
        mpi::notice_device_runtimes();
        known.remember_buffers(input, output);
    }
    ++served_again;
    const int error = run_plan(*decision->plan, known.comm, communicator, [&](const Plan& plan) {
        if constexpr (std::is_same_v<Kind, Meeting>) return Meeting::run(communicator, plan);
        const mpi::Reduction* const reduction = function.has.operation ? &known.reduction : nullptr;
        return WholeVector::run(function.output, communicator, communicator.rank(), call, type, reduction, plan);
    });
    if (is_counted && tally != nullptr) {
        tally->count(static_cast<std::uint64_t>(call.count * type.size), mpi::now() - start);
    }
    return error;
}

/// Lets the next call like this one, for which there is a decision for Rondo, go the fast path. `won`: the trial that
/// has decided it; nullptr if the choice is not in doubt.
template <class Kind>
void serve_again_from_now(CachedCall& cached, const SeenCall& seen, bool in_place, guard::Trial* won, bool is_counted) {
    const mpi::Reduction reduction = seen.reduction != nullptr ? *seen.reduction : mpi::Reduction();
    auto* const served =
        new (cached.details) Served{.function = &seen.function,
                                    .communicator = &seen.communicator,
                                    .type = &seen.type,
                                    .reduction = reduction,
                                    .count = seen.call.count,
                                    .comm = seen.call.comm,
                                    .root = seen.call.root,
                                    .decision = seen.communicator.number_of_decision(seen.function.collective),
                                    .in_place = in_place,
                                    .input = nullptr,
                                    .output = nullptr};
    served->remember_buffers(seen.call.input, seen.call.output);
    cached.again = is_counted ? serve_again<Kind, true> : serve_again<Kind, false>;
    cached.go(CachedCall::Way::serve, won != nullptr ? won->counter() : nullptr);
}

}  // namespace rondo::interposer
