// SPDX-License-Identifier: BSD-3-Clause
// What trials have shown: those of earlier runs, which all ranks know, and those of this one, which rank 0 of the world
// keeps for the next.
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
    /// In MPI_Init, on all ranks that have agreed, after it is known where they are: rank 0 reads what it finds in the
    /// directory about this library, machine and version of Rondo, and tells the others. When the process ends, rank 0
    /// writes what is new.
    void open(const std::string& directory, const std::string& library_version, std::uint64_t machine);

    /// A trial of such calls as an earlier run left it, with what is fresh of this one; nothing if there was none.
    /// Equal on all ranks. On a part of the world, a verdict about the world will do. On the whole it may only be
    /// begun.
    std::optional<Trial> take_up(const Trial& fresh, const mpi::Communicator& communicator) noexcept;
    /// A trial is over, or the ranks have agreed on what its calls took so far.
    void note(const Trial& trial, const mpi::Communicator& communicator) noexcept;

    /// For reports: verdicts that are new, and those that have been made use of.
    struct Known {
        Verdict verdict;
        bool is_new;
    };
    [[nodiscard]] std::vector<Known> known();

    /// Trials there that have not ended when the program ends go on in the next run: those of the world, whose verdicts
    /// its parts take over. Equal on all ranks.
    [[nodiscard]] bool keeps_begun(const mpi::Communicator& communicator) const;

    void write();

  private:
    const Verdict* use_verdict(const TrialKey& key, const Choice& choice,
                               const mpi::Communicator& communicator) noexcept;
    const Verdict* find(const TrialKey& key, const Choice& choice, const Shape& shape) const noexcept;

    std::mutex mutex_;  // of what follows
    bool opened_ = false;
    std::string path_;  // empty: nothing is kept
    Verdicts before_, fresh_;
    std::vector<bool> used_;  // of those before
    int process_ = 0;
};

/// Of this process. Never destroyed.
History& history();

}  // namespace rondo::guard
