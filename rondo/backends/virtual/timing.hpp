// SPDX-License-Identifier: BSD-3-Clause
// How long a schedule takes as dataflow, without data: the times of run_dataflow at a fraction of its cost. Only fit
// for algorithms that are right, because nothing is checked but what the times depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rondo/backends/virtual/problem.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo::virtual_machine {

/// The plans of all ranks of one problem, ready to be timed any number of times, with any costs.
class Timing {
  public:
    static constexpr Count most_messages = Count{1} << 20;  // some 400 MiB of plans

    /// Nothing if the ranks send more than `most` messages in all. Throws Error where a message has no counterpart, or
    /// one with another count; and what Plan::of throws.
    static std::optional<Timing> of(const Problem& problem, const FlightLimits& limits = {},
                                    Count most = most_messages);

    /// When the slowest rank has finished. Elements have `element_bytes`, whatever the problem said: so pipelines of as
    /// many segments of another length are timed with the same plans. Throws Error for a deadlock.
    double time(const CostModel& costs, Count element_bytes);

    /// Sent by all ranks together.
    [[nodiscard]] Count messages() const { return messages_; }
    /// Of all plans.
    [[nodiscard]] Count actions() const { return static_cast<Count>(rank_of_.size()); }

  private:
    struct VirtualRank {
        Plan plan;
        std::uint32_t first;  // action of the rank, in the numbering of all actions
        Scoreboard scoreboard;
        double egress_free = 0, ingress_free = 0, processor_free = 0;
    };
    /// The completion of an action. Of equal times, the one scheduled first comes first. One number, from the top: the
    /// bits of the time, which is not negative, the order, the action. So a heap compares without branches.
    __extension__ using Event = unsigned __int128;

    Timing() = default;
    bool add(const Problem& problem, Rank rank, const FlightLimits& limits, Count most);
    void match();
    void begin(const CostModel& costs, Count element_bytes);
    void start_actions(Rank rank);
    void start(VirtualRank& state, const Action& action, std::uint32_t index);
    void start_send(VirtualRank& state, const Action& action, std::uint32_t index);
    void meet(std::uint32_t sent, std::uint32_t received);
    void schedule(double time, std::uint32_t action);
    std::uint32_t next_event();
    [[nodiscard]] double bytes(const Block& block) const { return static_cast<double>(block.count * element_bytes_); }
    VirtualRank& at(Rank rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    std::vector<VirtualRank> ranks_;
    std::vector<Rank> rank_of_;               // of each action
    std::vector<std::uint32_t> counterpart_;  // the receive of a send, and the reverse
    std::vector<double> ready_;               // as in run_dataflow's messages; not_posted before
    std::vector<Event> events_;               // a heap
    Count messages_ = 0;

    CostModel costs_;
    Count element_bytes_ = 1;
    double now_ = 0;
    std::uint32_t order_ = 0;
};

/// The time that run_dataflow finds, for one call. Throws Error also for problems of more than Timing::most_messages.
double time_of(const AlgorithmInfo& algorithm, const CallFacts& facts, std::span<const Setting> settings,
               const CostModel& costs, const FlightLimits& limits = {});

}  // namespace rondo::virtual_machine
