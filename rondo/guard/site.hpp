// SPDX-License-Identifier: BSD-3-Clause
// The place of a call that is part of a trial: its communicator, as the guard sees it. Without <mpi.h>, so that tests
// can stand in for the ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rondo/guard/trials.hpp"

namespace rondo::guard {

/// Who has come to a timed barrier, in the order in which one rank's answer outweighs another's.
enum class Attendance : std::uint8_t { not_all_here, not_all_ready, all_ready };

class Site {
  public:
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;

    [[nodiscard]] Trials& trials() { return trials_; }
    /// True if the call itself makes every rank wait for every other.
    [[nodiscard]] bool call_waits_for_all() const { return call_waits_for_all_; }

    /// Waits until all ranks are here, if they come in time, and replaces the times by those of the slowest rank. All
    /// get the same answer.
    virtual Attendance come_together(bool ready, std::span<float> times) = 0;
    /// Waits for all ranks, which are about to come to the same point of the same call.
    virtual void meet() = 0;
    /// Replaces the times by those of the slowest rank, on all ranks; false if that failed.
    virtual bool agree_on(std::span<float> times) = 0;

    /// A trial of such calls in an earlier run, equal on all ranks: one that is over, or one to go on with.
    virtual std::optional<Trial> take_up(const Trial& fresh) = 0;
    /// True if the next run can go on with trials here that this one does not end. Equal on all ranks.
    [[nodiscard]] virtual bool keeps_begun() const = 0;
    /// Keeps a verdict, or the times that the ranks have agreed on so far, for the next run.
    virtual void note(const Trial& trial) = 0;

    [[nodiscard]] virtual Moment now() const = 0;
    /// True if the user's error handler has freed the communicator.
    [[nodiscard]] virtual bool is_gone() const = 0;

  protected:
    Site(Trials trials, bool call_waits_for_all) : trials_(trials), call_waits_for_all_(call_waits_for_all) {}
    ~Site() = default;

  private:
    Trials trials_;
    bool call_waits_for_all_;
};

}  // namespace rondo::guard
