// SPDX-License-Identifier: BSD-3-Clause
// All trials that calls on one communicator are part of. Without <mpi.h>.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "rondo/guard/trial.hpp"

namespace rondo::guard {

/// Trials in places that were reserved before: a rank that had no memory for one would leave the others alone.
class TrialTable {
  public:
    explicit TrialTable(std::span<Trial> places) : places_(places) {}
    /// A copy of another table, in places that hold what its places hold.
    TrialTable(std::span<Trial> places, const TrialTable& other)
        : places_(places), used_(other.used_), timeouts_(other.timeouts_) {}

    /// The trial of such calls and this choice; nullptr if there is none.
    [[nodiscard]] Trial* find(const TrialKey& key, const void* chosen) const;
    /// True if there is a trial of such calls, and only about other choices.
    [[nodiscard]] bool is_about_others(const TrialKey& key, const void* chosen) const;
    /// Adds a trial for calls that have none; nullptr if the table is full.
    Trial* add(const Trial& trial);

    /// Counts a timed call for which ranks have not come together. After a few of these nobody waits for any such call
    /// any more: each costs a program that relies on it what no later gain may pay for.
    void count_timeout() { ++timeouts_; }
    [[nodiscard]] bool may_wait() const { return timeouts_ < most_timeouts; }
    static constexpr int most_timeouts = 3;

    /// True if the tables hold equal trials, whatever their places are.
    friend bool operator==(const TrialTable& a, const TrialTable& b);

  private:
    std::span<Trial> places_;
    std::size_t used_ = 0;
    int timeouts_ = 0;
};

/// A table with its places.
template <std::size_t most>
struct StoredTrials {
    StoredTrials() = default;
    StoredTrials(const StoredTrials& other) : places(other.places), table(places, other.table) {}
    StoredTrials& operator=(const StoredTrials& other) {
        places = other.places;
        table = TrialTable(places, other.table);
        return *this;
    }

    std::array<Trial, most> places;
    TrialTable table{places};
};

/// The trials of one communicator: its own, those of all communicators of all ranks together, or its own until the
/// whole world has found out more. Every rank of the communicator has equal ones before each call.
class Trials {
  public:
    /// `world`: the table whose verdicts it waits for, and takes over; nullptr if there is none.
    Trials(TrialTable& own, const TrialTable* world, bool on_one_node)
        : own_(own), world_(world), on_one_node_(on_one_node) {}

    /// The trial that calls of this key, length and choice are part of from now on: the known one, or else what
    /// `earlier()` has of an earlier run, or else this fresh one. A part of the world takes the verdict of the whole,
    /// if that comes before its own. nullptr if there are too many.
    template <class Earlier>
    Trial* join(const Trial& fresh, Earlier&& earlier) {
        if (Trial* const known = own_.find(fresh.key(), fresh.chosen())) return adopt(known);
        return adopt(begin(earlier().value_or(fresh)));
    }

    /// True if ranks still wait for each other before calls that do not make them do so; equal on all of them. On a
    /// part of the world they do not after too many timeouts on the whole.
    [[nodiscard]] bool may_wait() const { return own_.may_wait() && (world_ == nullptr || world_->may_wait()); }
    void count_timeout() { own_.count_timeout(); }

  private:
    /// How many calls a trial on a part waits for one on the whole: some more than most trials take. It does not if
    /// something else is chosen for the whole.
    static constexpr std::uint8_t calls_to_wait = 24;

    Trial* begin(const Trial& trial);
    /// Takes over the world's verdict for a trial that has none.
    Trial* adopt(Trial* trial) const;

    TrialTable& own_;
    const TrialTable* world_;
    bool on_one_node_;
};

}  // namespace rondo::guard
