// SPDX-License-Identifier: BSD-3-Clause
// A call from the moment when its arguments are understood: what is decided for it, and who carries it out.
#pragma once

#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/interposer/begun_call.hpp"
#include "rondo/interposer/decide.hpp"
#include "rondo/interposer/forwarded_anywhere.hpp"
#include "rondo/interposer/guarded_call.hpp"
#include "rondo/interposer/library_before.hpp"
#include "rondo/interposer/serve_again.hpp"

namespace rondo::interposer {

inline constexpr Interval whatever_count = {std::numeric_limits<Count>::min(), std::numeric_limits<Count>::max()};

/// `Kind`: how the ranks share the vector (seen_call.hpp). Borrows all that it is made of.
template <class Kind>
class Serving {
  public:
    /// `seen`: a call with something to do.
    Serving(const SeenCall& seen, const Kind& kind, Service& service, const Runtime& runtime, CachedCall& cached)
        : seen_(seen), kind_(kind), service_(service), runtime_(runtime), cached_(cached), bytes_(kind.bytes()),
          key_(kind.key()), guarded_(seen, key_, runtime) {
        key_.compared = guarded_.compared();
    }

    /// Serves the call. Every rank counts it for its trial here, or on the fast path, unless it only begins.
    int serve() {
        const mpi::Communicator::Use use(communicator());
        decision_ = &decided();
        if (decision_->chosen == nullptr) return forward();
        if (begins()) {
            if (const char* const reason = lost_before()) return forward_lost(reason);
        } else {
            trial_ = guarded_.begin(decision_->chosen);
            if (course() == Course::library) return forward_lost(guard::reason_of(*trial_));
        }
        if (const char* const reason = obtain_route()) return service_.leave_to_library(reason, bytes_);
        plan_error_ = take_plan();
        // An error may be this rank's alone while the others are under way: the rank leaves them only for a library
        // that reports it.
        wrong_ = kind_.wrong();
        is_refused_ = (wrong_ != nullptr && communicator().library_checks_arguments()) || kind_.refused_by_library();
        if (begins()) return carry_out(true);
        if (course() == Course::compared) return compare();
        if (plan_error_ == MPI_SUCCESS && !is_refused_ && (trial_ == nullptr || trial_->is_over())) repeat_from_now();
        return carry_out(true);
    }

  private:
    using Course = guard::Trial::Course;

    [[nodiscard]] mpi::Communicator& communicator() const { return seen_.communicator; }
    [[nodiscard]] Course course() const {
        return trial_ != nullptr ? trial_->course_of(guarded_.bytes()) : Course::rondo;
    }
    /// True if the call only begins here. It has no part in trials: it is over when the program waits for it, and ranks
    /// may begin calls on several communicators in different orders.
    [[nodiscard]] bool begins() const { return seen_.function.form != Form::blocking; }
    const char* lost_before() {
        if (!decision_->lost_before) decision_->lost_before = guarded_.lost_before(decision_->chosen);
        return *decision_->lost_before;
    }
    /// The line of the rules that chose; 0 if none did.
    [[nodiscard]] int line() const { return decision_->line; }

    /// Gets what messages need. Returns why the library has the call if that is not to be had; else nullptr.
    const char* obtain_route() {
        if (begins()) return beginning_.obtain_route();
        return communicator().obtain_context(seen_.call.comm) ? nullptr : communicator().native_reason();
    }

    mpi::Decision& decided() {
        if (mpi::Decision* const known = communicator().find(key_)) return *known;
        return communicator().remember(key_, decide(runtime_, key_, communicator(), seen_.call.comm));
    }

    /// Takes the plan of the decision, which is made if there is none for parts that lie like these. Returns an MPI
    /// error code.
    int take_plan() {
        const auto& starts = decision_->starts;
        const bool is_there = decision_->plan != nullptr && (starts == nullptr || kind_.has_starts(*starts));
        try {
            if (!is_there) {
                make_plan(*decision_, runtime_, key_, communicator(),
                          key_.division != 0 ? std::make_shared<const std::vector<Count>>(kind_.starts()) : nullptr);
            }
        } catch (...) {
            return code_of_exception();
        }
        plan_ = decision_->plan;
        return MPI_SUCCESS;
    }

    /// The call's count; empty where each rank has one.
    [[nodiscard]] Interval count() const {
        return seen_.call.counts.is_argument() ? Interval{0, -1} : Interval{seen_.call.count, seen_.call.count};
    }
    /// The call's count, or the sum over all ranks. A trial is about calls of a length, however their vectors are
    /// divided, or about all lengths if no rank knows them.
    [[nodiscard]] Interval counts_of_trial() const {
        if (seen_.function.has.local_lengths) return whatever_count;
        if (!seen_.call.counts.is_argument()) return count();
        const Count sum = bytes_ / kind_.bytes_to_a_count();
        return {sum, sum};
    }
    /// The counts whose calls are cached as left to the library.
    [[nodiscard]] Interval forwarded_counts() const {
        if (!decision_->holds_whatever_the_parts()) return count();
        constexpr Interval any_length;
        const Count lowest = decision_->lowest, highest = decision_->highest, each = kind_.bytes_to_a_count();
        if (lowest == any_length.lowest && highest == any_length.highest) return whatever_count;
        return {lowest / each + (lowest % each != 0 ? 1 : 0), highest / each};
    }

    /// Leaves the call to the library, as the rules say.
    int forward() {
        ForwardedAnywhere* const anywhere = decision_->holds_on_any ? forwarded_anywhere() : nullptr;
        if (anywhere != nullptr) anywhere->remember(key_, communicator().size(), *decision_);
        service_.forward_from_now(cached_, seen_, decision_->reason, forwarded_counts(), service_.tally_for(*decision_),
                                  kind_.bytes_to_a_count());
        return service_.leave_to_library(*decision_, bytes_);
    }
    /// Leaves the call to the library, which has won the trial, if there is one in this run.
    int forward_lost(const char* reason) {
        service_.forward_from_now(cached_, seen_, reason, counts_of_trial(), service_.tally_for(reason, line()),
                                  kind_.bytes_to_a_count(), trial_);
        return service_.leave_to_library(reason, bytes_, line());
    }

    int compare() {
        guard::Site& site = *guarded_.site();
        if (trial_->compares_twice()) {
            LibraryBefore before(seen_, key_, plan_error_ == MPI_SUCCESS && wrong_ == nullptr && !is_refused_);
            return guard::compare_twice(*trial_, site, before, [this](bool is_last) { return carry_out(is_last); });
        }
        return guard::compare(*trial_, site, [this](guard::Contender contender) {
            if (contender == guard::Contender::rondo) return carry_out(true);
            return service_.leave_to_library(guard::compared, bytes_, line());
        });
    }

    /// Takes the place of a call that the others make: tags stay alike.
    void skip() {
        if (begins()) beginning_.skip();
        else communicator().skip_call();
    }

    /// Carries the call out. `counts`: the report counts it as a call of the program.
    int carry_out(bool counts) {
        if (plan_error_ != MPI_SUCCESS) {
            skip();
            mpi::library().Comm_call_errhandler(seen_.call.comm, plan_error_);
            return plan_error_;
        }
        if (is_refused_) {
            skip();
            return service_.leave_to_library(wrong_ != nullptr ? wrong_ : "unusual datatype", bytes_);
        }
        if (begins())
            return beginning_.begin<Kind>(plan_, wrong_ != nullptr,
                                          service_.counting(service_.tally_for(*decision_), bytes_));
        mpi::Tally* const tally = service_.tally_for(*decision_);  // calls of an error handler may take its place
        return run_plan(*plan_, seen_.call.comm, communicator(), [&](const Plan& plan) {
            int error = kind_.run(communicator(), plan, wrong_ != nullptr);
            if (error == MPI_SUCCESS) error = kind_.own_error();
            if (counts) service_.stop(tally, bytes_);
            return error;
        });
    }

    void repeat_from_now() {
        constexpr bool is_whole = std::is_same_v<Kind, WholeVector>;
        if constexpr (is_whole || std::is_same_v<Kind, Meeting>) {
            if (is_whole && (wrong_ != nullptr || !seen_.has_lasting_handles())) return;
            serve_again_from_now<Kind>(cached_, seen_, key_.in_place, trial_, runtime_.reporting);
        }
    }

    const SeenCall& seen_;
    const Kind& kind_;
    Service& service_;
    const Runtime& runtime_;
    CachedCall& cached_;
    Count bytes_;
    mpi::CallKey key_;
    GuardedCall guarded_;
    mpi::Decision* decision_ = nullptr;
    Beginning beginning_{seen_};
    guard::Trial* trial_ = nullptr;     // nullptr if the choice is not in doubt
    std::shared_ptr<const Plan> plan_;  // kept for this call, whatever an error handler calls
    int plan_error_ = MPI_SUCCESS;      // this rank's own: the others may have a plan
    const char* wrong_ = nullptr;
    bool is_refused_ = false;
};

}  // namespace rondo::interposer
