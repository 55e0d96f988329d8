// SPDX-License-Identifier: BSD-3-Clause
// The verdicts of trials and what the model has proposed: those of earlier runs, which all ranks know, and those of
// this one, which rank 0 of the world keeps for the next.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "rondo/backends/mpi/communicator.hpp"
#include "rondo/guard/trial.hpp"
#include "rondo/selection/verdicts.hpp"

namespace rondo::guard {

class History {
  public:
    /// Reads the history, in MPI_Init, on all ranks that have agreed, after it is known where they are: rank 0 reads
    /// what the directory has about this library, machine and version of Rondo, and tells the others. When the process
    /// ends, rank 0 writes what is new.
    void open(const std::string& directory, const std::string& library_version, std::uint64_t machine);

    /// A trial of such calls as an earlier run left it, with the facts of `fresh`; nothing if there was none. Equal on
    /// all ranks. A part of the world also takes a verdict about the world. If there is no verdict, the trial may be
    /// one that was only begun.
    std::optional<Trial> take_up(const Trial& fresh, const mpi::Communicator& communicator) noexcept;
    /// Notes a trial that is over, or on whose times so far the ranks have agreed.
    void note(const Trial& trial, const mpi::Communicator& communicator) noexcept;

    /// What the model has proposed for such calls in an earlier run; nullptr if nothing. Equal on all ranks.
    [[nodiscard]] const KeptProposal* find(const ProposedCalls& calls) const noexcept { return before_.find(calls); }
    /// Notes what the model has proposed, without the day.
    void note(KeptProposal proposal) noexcept;

    /// A verdict for reports: they have those that are new, and those that were used.
    struct Known {
        Verdict verdict;
        bool is_new;
    };
    [[nodiscard]] std::vector<Known> known();

    /// True if trials that have not ended when the program ends go on in the next run. Equal on all ranks.
    [[nodiscard]] bool keeps_begun() const;

    void write();

  private:
    const Verdict* use_verdict(const TrialKey& key, const Choice& choice,
                               const mpi::Communicator& communicator) noexcept;
    const Verdict* find(const TrialKey& key, const Choice& choice, const Shape& shape) const noexcept;

    std::mutex mutex_;  // guards the members below
    bool opened_ = false;
    std::string path_;  // empty if nothing is kept
    Verdicts before_, fresh_;
    std::vector<bool> used_;  // for each verdict of `before_`
    int process_ = 0;
};

/// The history of this process, which is never destroyed.
History& history();

}  // namespace rondo::guard
