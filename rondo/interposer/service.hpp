// SPDX-License-Identifier: BSD-3-Clause
// What the serving of all functions has in common.
#pragma once

#include <algorithm>
#include <new>

#include "rondo/guard/trial.hpp"
#include "rondo/interposer/counting.hpp"
#include "rondo/interposer/left_calls.hpp"
#include "rondo/interposer/report.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call that begins now. Borrows what it is made of.
class Service {
  public:
    Service(const Wrapped& function, const UserCall& call, const Runtime& runtime)
        : function_(function), call_(call), reporting_(runtime.reporting), start_(reporting_ ? now() : 0) {}

    /// Lets the library carry out the call; it calls the error handler itself. The reason is never freed. `line`: the
    /// line of the rules that chose the library; 0: none.
    int leave_to_library(const char* reason, Count bytes, int line = 0);
    /// Lets the library carry out a call for which there is a decision.
    int leave_to_library(mpi::Decision& decision, Count bytes) {
        left_calls_of[function_.collective].note(decision.reason);
        mpi::Tally* const tally = tally_for(decision);  // calls of an error handler may take the decision's place
        const int error = function_.native(mpi::library(), call_);
        stop(tally, bytes);
        return error;
    }
    /// Lets the next call with such words and such a count go to the library straight from the cache: that is decided
    /// for all of them, or until the trial that was lost revalidates. `counts`: the counts of the call, or the sums
    /// over its ranks. `tally`: counts the calls, if there is a report; their length is `bytes_to_a_count` for each of
    /// the counts.
    void forward_from_now(CachedCall& cached, const SeenCall& seen, const char* reason, Interval counts,
                          mpi::Tally* tally = nullptr, Count bytes_to_a_count = 0, guard::Trial* lost = nullptr) {
        const bool is_known = !reporting_ || (tally != nullptr && !function_.has.local_lengths);
        if (!is_known || !seen.has_lasting_handles()) return;
        // The report has a reason of its own for calls of nothing.
        if (reporting_ && function_.has.data) counts.lowest = std::max<Count>(counts.lowest, 1);
        cached.native = function_.address(mpi::library());
        if (cached.native == nullptr || counts.lowest > counts.highest) return;
        cached.left = &left_calls_of[function_.collective];
        cached.reason = reason;
        cached.lowest = counts.lowest;
        cached.beyond_lowest = static_cast<std::uint64_t>(counts.highest) - static_cast<std::uint64_t>(counts.lowest);
        const bool any_sum_will_do = counts.lowest < 0 && !reporting_;
        cached.ranks = any_sum_will_do ? 0 : seen.communicator.size();
        if (reporting_) new (cached.details) Counted{tally, bytes_to_a_count};
        using enum CachedCall::Way;
        cached.go(reporting_ ? forward_counted : forward, lost != nullptr ? lost->counter() : nullptr);
    }
    /// The tally of calls that the library has for this reason; nullptr if there is no report.
    [[nodiscard]] mpi::Tally* tally_for(const char* reason, int line = 0) {
        if (!reporting_) return nullptr;
        return tally_of(treatment("native", reason, line));
    }
    /// The tally of calls in this form for which there is a decision; nullptr if there is no report.
    [[nodiscard]] mpi::Tally* tally_for(mpi::Decision& decision) {
        if (!reporting_) return nullptr;
        mpi::Tally*& tally = decision.tallies[static_cast<std::size_t>(function_.form)];
        if (tally == nullptr) tally = tally_of(treatment(decision.algorithm, decision.reason, decision.line));
        return tally;
    }
    /// What it takes to count the call when it is over.
    [[nodiscard]] LaterCount counting(mpi::Tally* tally, Count bytes) const {
        return {reporting_ ? tally : nullptr, static_cast<std::uint64_t>(bytes), start_};
    }
    /// Counts the call, if there is a report.
    void stop(mpi::Tally* tally, Count bytes) {
        if (reporting_ && tally != nullptr) tally->count(static_cast<std::uint64_t>(bytes), now() - start_);
    }

  private:
    [[nodiscard]] mpi::Treatment treatment(std::string_view algorithm, std::string_view reason, int line) const {
        const std::string_view form = mpi::names_of_forms[static_cast<std::size_t>(function_.form)];
        return {collectives()[function_.collective].name, algorithm, reason, line, form};
    }

    const Wrapped& function_;
    const UserCall& call_;
    bool reporting_;
    std::uint64_t start_;
};

/// Serves a call while Rondo is disabled in this process.
int serve_without_rondo(const Wrapped& function, const UserCall& call, const void* caller);

/// The MPI error code of the exception that is being handled, if it is one of Rondo; else throws it on.
int code_of_exception();

}  // namespace rondo::interposer
