// SPDX-License-Identifier: BSD-3-Clause
// How long a schedule takes as dataflow, without data: the machine of run_dataflow (virtual_time.hpp), and so its
// times, at a fraction of its cost. Only fit for algorithms that are right, because nothing is checked but what the
// times depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rondo/backends/virtual/virtual_time.hpp"

namespace rondo::virtual_machine {

/// The plans of all ranks of one problem, ready to be timed any number of times, with any costs.
class Timing {
  public:
    static constexpr Count most_messages = Count{1} << 20;  // some 100 MiB of plans

    /// Nothing if the ranks send more than `most` messages in all. Throws Error where a message has no counterpart, or
    /// one with another count; and what Plan::of throws.
    static std::optional<Timing> of(const Problem& problem, const FlightLimits& limits = {},
                                    Count most = most_messages);

    /// Of one node that stands for all, where the schedule is the same from each (symmetry.hpp): when ranks finish, if
    /// all come at once. Nothing where it is seen that it is not, or where a node sends more than `most` messages.
    static std::optional<Timing> of_one_node(const Problem& problem, const FlightLimits& limits = {},
                                             Count most = most_messages);

    /// When the slowest rank has finished, if the ranks come to the call at `ready` (empty: all at 0). Elements have
    /// `element_bytes`, whatever the problem said: so pipelines of as many segments of another length are timed with
    /// the same plans. Throws Error for a deadlock.
    double time(const CostModel& costs, Count element_bytes, std::span<const double> ready = {});

    /// Returns what `time` does if all ranks come at once, and nothing where that throws Error for a deadlock. A node
    /// that stands for all may wait for itself: then another node, at which nobody has looked, sends the first message.
    std::optional<double> time_if_it_ends(const CostModel& costs, Count element_bytes);

    /// When a rank has finished, and whose coming that was due to: had that rank come later, this one would have
    /// finished later.
    struct Finish {
        double time = 0;
        Rank due_to = 0;
    };
    /// Of all ranks, which come to the call at these times (empty: all at 0). Throws Error also for times that are
    /// negative or not one for each rank.
    std::vector<Finish> finishes(const CostModel& costs, Count element_bytes, std::span<const double> ready);

    /// Sent by all ranks together.
    [[nodiscard]] Count messages() const { return messages_; }
    /// Of all plans.
    [[nodiscard]] Count actions() const { return time_.actions(); }

  private:
    friend class VirtualTime;
    class Witness;

    Timing() = default;
    /// The message that has no counterpart of the same count, if there is one.
    std::optional<Site> match();
    std::optional<Site> match_from(Rank from, std::uint32_t sent, Rank to, std::uint32_t received);
    template <class Runner>
    void start_on(const Site& site, Runner& runner);

    // For VirtualTime. Messages are buffered, but for the long ones of which the costs say otherwise.
    void start(const Site& site);
    void complete(const Site& /*site*/) const {}
    [[nodiscard]] std::uint32_t post(const Site& site) const { return counterpart(site); }
    [[nodiscard]] std::uint32_t counterpart(const Site& site) const {
        const std::uint32_t own = time_.progress(site).counterpart;
        return time_.is_posted({time_.peer(site), own}) ? own : Action::none;
    }
    [[nodiscard]] static bool asks(const Site& /*site*/, bool is_long) { return is_long; }
    void left(const Site& /*site*/, double /*time*/) const {}
    void arrived(const Site& /*sent*/, const Site& /*received*/, double /*time*/) const {}
    [[nodiscard]] static double delay() { return 0; }
    [[nodiscard]] std::string where(const Site& site) const;

    VirtualTime time_;
    Count messages_ = 0;
};

/// The time that run_dataflow finds, for one call. Throws Error also for problems of more than Timing::most_messages.
double time_of(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
               const CostModel& costs, const FlightLimits& limits = {});

}  // namespace rondo::virtual_machine
