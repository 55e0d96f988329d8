// SPDX-License-Identifier: BSD-3-Clause
// A prefix sum under way on this rank, as in [carver_ladder], but that the first pass does no more than others wait
// for:
//
//   first pass   the rank's total; not on the last rank, unless everybody wants the total of all
//   scan         of the totals, one element for each rank: what comes before this one
//   second pass  that in front of the sums of this rank's elements; the total of all arrives meanwhile
#pragma once

#include <memory>
#include <vector>

#include "rondo/prefix/exchange.hpp"
#include "rondo/prefix/passes.hpp"

namespace rondo::prefix {

/// The state of an operation: for a call that waits, or for a request.
class Prefix {
  public:
    /// Borrows the exchange and the guidance. `total`: where the sum of all elements goes; nullptr: nowhere, on all
    /// ranks, or those that differ fail. Throws std::bad_alloc.
    Prefix(const Array& array, void* total, std::unique_ptr<Passes> passes, Exchange& exchange,
           const Guidance& guidance);
    Prefix(const Prefix&) = delete;
    Prefix& operator=(const Prefix&) = delete;

    /// This rank has something wrong of its own. It writes nothing, but takes part: all behind it fail, too.
    void fail(const Failure& failure) { failure_ = failure; }

    /// One step, which may be a piece of a pass. True when the operation is over, `failure` says how. `may_wait`: for
    /// messages, where nothing else can be done. Throws std::bad_alloc, and is over then.
    bool progress(bool may_wait);
    [[nodiscard]] const Failure& failure() const { return failure_; }

  private:
    enum class Stage : std::uint8_t { first_pass, scan, second_pass, total, done };

    [[nodiscard]] bool needs_first_pass() const;
    [[nodiscard]] std::uint64_t signature() const;
    /// The next piece of a pass, by `work(first, count)`. True when there is none.
    template <class Work>
    bool is_through(Work&& work);
    bool first_pass();
    bool second_pass();
    void begin_scan();
    void begin_broadcast();
    void end_scan();
    void end_second_pass();
    void end_total();
    [[nodiscard]] bool has_failed() const { return failure_.is_any(); }
    void note(const Failure& failure) {
        if (!has_failed()) failure_ = failure;
    }
    /// Of this rank, and no fault of its arguments.
    void note(int error) { note({error, error == MPI_ERR_NO_MEM ? Cause::memory : Cause::reported, exchange_.rank()}); }

    Array array_;
    void* total_;
    std::unique_ptr<Passes> passes_;
    Exchange& exchange_;
    const Guidance& guidance_;
    TotalCombiner combiner_;
    std::vector<char> totals_;
    char *own_, *before_, *all_;
    Stage stage_ = Stage::first_pass;
    bool is_scanned_ = false;     // by the first pass
    bool tells_total_ = false;    // rank 0 wants that
    bool total_arrives_ = false;  // is under way
    Count done_ = 0;              // elements, of the pass under way
    Failure failure_;
};

}  // namespace rondo::prefix
