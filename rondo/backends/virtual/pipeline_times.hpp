// SPDX-License-Identifier: BSD-3-Clause
// What a pipeline takes with segments of any length: seen on few segments and few ranks, in virtual time.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "rondo/backends/virtual/problem.hpp"
#include "rondo/backends/virtual/timing.hpp"

namespace rondo::virtual_machine {

/// How a time was found.
enum class Basis : std::uint8_t {
    whole,         ///< the call itself was run
    extrapolated,  ///< its first segments were run; once full, a pipeline takes the same time for every further one
    fewer_ranks,   ///< so they were on a few ranks, which stand for all
    standard,      ///< nothing was run: the budget is too small, or there is nothing to choose
};

struct SegmentTime {
    Count segment;   ///< bytes
    Count segments;  ///< of the vector, of a rank's part of it, or of what a lane carries
    double seconds;  ///< until the slowest rank has finished; 0 if nothing was run
    Basis basis;
};

inline constexpr Count shortest_segment = 4 << 10;  ///< that is considered

std::vector<Setting> with_segment(std::span<const Setting> settings, Count bytes);

/// Into how many even shares the vector is divided, each of which is cut into segments.
Count shares_of(const AlgorithmInfo& algorithm, const SharedFacts& facts);

/// What is cut into segments: the vector, or a share of it.
SharedFacts stream_of(const AlgorithmInfo& algorithm, const SharedFacts& facts);

/// Times of one call's pipeline for any number of segments. Plans are made for vectors of that many elements, one to a
/// segment, and serve for segments of every length.
class PipelineTimes {
  public:
    PipelineTimes(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                  const CostModel& costs);

    /// What `body()` finds by `of`, which gives times of all ranks meanwhile, or of the largest group that can stand
    /// for them and is worth `budget` actions; nothing if there is none.
    template <class Body>
    std::optional<SegmentTime> on_affordable_group(Count budget, Body&& body) {
        for (const Group& group : groups()) {
            if (!represent(group, budget)) continue;
            const SegmentTime found = body();
            if (could_run_) return found;
        }
        return std::nullopt;
    }

    SegmentTime of(Count segment);

  private:
    /// With how many segments pipelines are run, to extrapolate from there: when the pipeline is full, and half as many
    /// more. Then the time grows by the same amount for every further segment.
    struct Samples {
        Count per_rank, least;
        [[nodiscard]] constexpr Count few(Rank ranks) const { return std::max(per_rank * ranks, least); }
        [[nodiscard]] constexpr Count more(Rank ranks) const { return few(ranks) * 3 / 2; }
    };
    /// Ranks that stand for all, if they are fewer.
    struct Group {
        Rank ranks;
        Samples samples;
    };

    [[nodiscard]] std::vector<Group> groups() const;
    bool represent(const Group& group, Count budget);
    double actions(const Group& group);
    double on_group(Count segments, Count bytes);
    double extrapolated(Count segments, Count bytes, const CostModel& costs);
    double further_ranks(Count segments, Count bytes);
    double single_segment(Count bytes);
    double run(Rank ranks, Count segments, Count bytes, const CostModel& costs);
    double new_run(Rank ranks, Count segments, Count bytes, const CostModel& costs);
    double time_of_few(Rank ranks, Timing& timing, CostModel costs, Count bytes) const;
    Timing* timing_on(Rank ranks, Count segments);
    [[nodiscard]] std::optional<Timing> timing_of(Rank ranks, Count segments) const;

    const AlgorithmInfo& algorithm_;
    const SharedFacts facts_, stream_;
    const std::vector<Setting> settings_;
    const CostModel costs_;
    Rank group_ = 0;
    Count few_ = 0, more_ = 0;
    bool could_run_ = true;  // else some number of ranks that was needed is not served, and the times mean nothing
    std::map<std::pair<Rank, Count>, std::optional<Timing>> timings_;
    std::map<std::tuple<Rank, Count, Count, double>, double> times_;  // by bytes and latency, besides
};

}  // namespace rondo::virtual_machine
