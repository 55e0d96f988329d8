// SPDX-License-Identifier: BSD-3-Clause
// Calls of nonblocking and persistent functions: Rondo begins them, and the library's engine of progress carries them
// to their end.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/pending_call.hpp"
#include "rondo/backends/mpi/persistent_call.hpp"
#include "rondo/backends/mpi/progress.hpp"
#include "rondo/interposer/counting.hpp"
#include "rondo/interposer/seen_call.hpp"
#include "rondo/interposer/service.hpp"

namespace rondo::interposer {

/// True if the program starts the call later, again and again, with its request.
inline bool starts_later(const SeenCall& seen) { return seen.function.form == Form::persistent; }

/// A call that goes on after its function has returned, with copies of all that the program may change or free by then.
/// `Kind`: how the ranks share the vector (seen_call.hpp).
template <class Kind>
class BegunCall final : public mpi::PendingCall {
  public:
    BegunCall(const SeenCall& seen, std::shared_ptr<const Plan> plan, bool is_wrong, const LaterCount& count)
        : PendingCall(seen.communicator, std::move(plan)), call_(with_own_arrays(seen)), own_type_(seen.type),
          type_(seen.type.predefined ? seen.type : own_type_),
          reduction_(seen.reduction != nullptr ? std::optional<mpi::Reduction>(std::in_place, call_.op, type_)
                                               : std::nullopt),
          seen_{seen.function, call_, type_, reduction_ ? &*reduction_ : nullptr, seen.communicator, seen.choice},
          kind_(seen_), is_wrong_(is_wrong), count_(count) {}

  private:
    int start(const Plan& plan) override {
        if (starts_later(seen_)) count_.start_now();
        return kind_.run(*this, plan, is_wrong_);
    }
    int finish(int error) override {
        count_.count();
        return error != MPI_SUCCESS ? error : kind_.own_error();
    }

    /// An operator of the program is called with the program's own handle of the datatype.
    int keep_handles() override {
        if (reduction_) return reduction_->predefined() ? MPI_SUCCESS : kept_.keep(call_.op, type_);
        const int error = kept_.keep(own_type_);
        return error != MPI_SUCCESS ? error : kind_.keep_types(kept_);
    }

    /// The call with copies of its arrays. MPI wants them unchanged to the end, but libraries read them at the start,
    /// and programs rely on it: mpi4py frees its own.
    UserCall with_own_arrays(const SeenCall& seen) {
        UserCall call = seen.call;
        const auto ranks = static_cast<std::size_t>(seen.communicator.size());
        const bool has_whole = !seen.function.has.parts_of_the_root() || seen.communicator.rank() == call.root;
        arrays_.reserve(4 * ranks);  // so that they stay where they are
        const auto keep = [&](mpi::Numbers& numbers) {
            if (numbers.array() == nullptr) return;
            const std::size_t first = arrays_.size();
            for (std::size_t rank = 0; rank < ranks; ++rank) arrays_.push_back(numbers[static_cast<Rank>(rank)]);
            numbers = mpi::Numbers(&arrays_[first], false);
        };
        types_.reserve(2 * ranks);
        const auto keep_types = [&](mpi::Datatypes& types) {
            if (types.array() == nullptr) return;
            types_.insert(types_.end(), types.array(), types.array() + ranks);
            types = mpi::Datatypes(types_.data() + types_.size() - ranks);
        };
        if (has_whole) {
            keep(call.counts);
            keep(call.displacements);
            keep_types(call.types);
        }
        if (call.input != MPI_IN_PLACE) {
            keep(call.input_counts);
            keep(call.input_displacements);
            keep_types(call.input_types);
        }
        return call;
    }

    std::vector<Count> arrays_;
    std::vector<MPI_Datatype> types_;
    UserCall call_;
    mpi::Datatype own_type_;
    const mpi::Datatype& type_;
    std::optional<mpi::Reduction> reduction_;
    SeenCall seen_;
    Kind kind_;
    bool is_wrong_;
    LaterCount count_;
    mpi::KeptHandles kept_;
};

/// Begins a call in its form. The object borrows what it is made of.
class Beginning {
  public:
    explicit Beginning(const SeenCall& seen) : seen_(seen) {}

    /// Gets what messages need. Returns why the library has the call if that is not to be had; else nullptr.
    const char* obtain_route() {
        mpi::Communicator& communicator = seen_.communicator;
        if (!communicator.obtain_route_to_begin(seen_.call.comm, starts_later(seen_))) {
            const char* const reason = communicator.native_reason();
            return reason != nullptr ? reason : "the first nonblocking calls on a communicator";
        }
        if (!starts_later(seen_)) return nullptr;
        number_ = communicator.number_persistent_call(seen_.call.comm);
        return number_ ? nullptr : "so many persistent calls on a communicator";
    }
    /// Takes the place of a call that the others begin: tags stay alike.
    void skip() {
        if (starts_later(seen_)) seen_.communicator.leave_messages();
        else seen_.communicator.skip_call();
    }
    /// Begins the call, or makes it persistent, and leaves its request to the program. Returns what the MPI function
    /// returns.
    template <class Kind>
    int begin(const std::shared_ptr<const Plan>& plan, bool is_wrong, const LaterCount& count) {
        int error = MPI_SUCCESS;
        try {
            auto call = std::make_unique<BegunCall<Kind>>(seen_, plan, is_wrong, count);
            if (number_) error = mpi::make_persistent(std::move(call), *number_, seen_.call.request);
            else error = mpi::PendingCall::begin(std::move(call), seen_.call.request);
        } catch (...) {
            if (!number_) seen_.communicator.skip_call();
            error = code_of_exception();
        }
        if (error != MPI_SUCCESS) mpi::library().Comm_call_errhandler(seen_.call.comm, error);
        return error;
    }

  private:
    const SeenCall& seen_;
    std::optional<std::uint32_t> number_;  // of a persistent call
};

/// Why a call of a nonblocking or persistent function goes to the library, whatever the rules say: a literal; nullptr
/// if it need not. Equal on all ranks, which have been found in the world.
inline const char* reason_not_to_begin(const SeenCall& seen, const Runtime& runtime) {
    if (!mpi::has_progress_engine()) return "this MPI library goes on with its own nonblocking calls alone";
    if (seen.function.has.local_lengths && runtime.instructions.guard(seen.function.collective) != Guard::off)
        return "a nonblocking call, whose length no rank knows and nobody compares";
    if (seen.communicator.shares_memory() && !runtime.instructions.is_named(seen.function.collective))
        return "a nonblocking call inside a node";
    return nullptr;
}

}  // namespace rondo::interposer
