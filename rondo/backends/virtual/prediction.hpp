// SPDX-License-Identifier: BSD-3-Clause
// What a call takes on many ranks: run as it is, or as much of it as says what the whole takes. What is run is limited
// by counts, never by a clock, so the answer is the same on every machine and under every load.
#pragma once

#include <optional>
#include <vector>

#include "rondo/backends/virtual/timing.hpp"

namespace rondo::virtual_machine {

/// What was run.
enum class Means : std::uint8_t {
    whole,         ///< the call itself
    one_node,      ///< a node that stands for all (symmetry.hpp)
    equal_parts,   ///< that, as if all parts were as long as the longest: no longer than by an element each
    few_segments,  ///< the first segments; once full, a pipeline takes the same time for every further one
};

struct Prediction {
    double seconds;
    Means means;
    /// Of few segments: how far the seconds change, relatively, if further segments take as long as between the first
    /// samples and not as between the last. 0 where times are linear; else a hint at how far they may be off, not a
    /// bound.
    double change = 0;
};

struct PredictionLimits {
    Count whole = Count{1} << 20;     ///< messages; calls of no more are run as they are
    Count messages = Count{1} << 24;  ///< of what is run
    Count steps = Count{1} << 29;     ///< that are looked at, of all ranks together
    FlightLimits flight;              ///< of each rank's executor
    bool alike = true;                ///< nodes are; else none stands for all, as in networks with a shape
};

/// What schedules of all ranks have, seen on some of them.
struct Effort {
    double messages = 0, steps = 0;
};
[[nodiscard]] Effort effort_of(const Problem& problem);

/// The plans by which a call is predicted, with any costs.
class Predictor {
  public:
    /// Nothing if the limits allow nothing. `problem.settings` are closed. Throws what Timing::of throws.
    static std::optional<Predictor> of(const Problem& problem, const PredictionLimits& limits = {});

    [[nodiscard]] Prediction predict(const CostModel& costs);

  private:
    /// Of so many segments.
    struct Run {
        Count segments;
        Timing timing;
    };

    Predictor(Means means, Count element_bytes) : means_(means), element_bytes_(element_bytes) {}
    static std::optional<Predictor> of_one(Means means, const Problem& problem, std::optional<Timing> timing);
    static std::optional<Predictor> of_one_node(Means means, const Problem& problem, const PredictionLimits& limits);
    static std::optional<Predictor> of_equal_parts(const Problem& problem, const PredictionLimits& limits);
    static std::optional<Predictor> of_few_segments(const Problem& problem, const PredictionLimits& limits);

    Means means_;
    Count element_bytes_;
    Count segments_ = 1;     // of the call
    std::vector<Run> runs_;  // one, or three of a pipeline
};

}  // namespace rondo::virtual_machine
