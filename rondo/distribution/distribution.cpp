// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/distribution/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/pipeline_times.hpp"
#include "rondo/core/error.hpp"
#include "rondo/distribution/minimax.hpp"

namespace rondo {
namespace {

using virtual_machine::Timing;

/// A tent of height 0 over the first ranks, and none over the others.
struct Slopes {
    Rank ranks;
    double left, right;  // elements from rank to rank
    double peak;         // a rank, or between two

    [[nodiscard]] double below_peak(Rank rank) const {
        return rank < peak ? (peak - rank) * left : (rank - peak) * right;
    }
    [[nodiscard]] double height(double elements) const {
        double missing = 0;
        for (Rank rank = 0; rank < ranks; ++rank) missing += below_peak(rank);
        return (elements + missing) / ranks;
    }
    [[nodiscard]] bool fits(double elements) const {
        return height(elements) >= std::max(below_peak(0), below_peak(ranks - 1));
    }
};

Slopes slopes(Rank ranks, const Passes& passes, double hop) {
    const double middle = ranks * passes.first / passes.both(), below = std::floor(middle);
    // Two ranks may be the peak: between them, for the sake of symmetry.
    const double peak = std::clamp(middle == below ? middle - 0.5 : below, 0.0, ranks - 1.0);
    return {ranks, peak > 0 ? hop / passes.first : 0, peak < ranks - 1 ? hop / passes.second : 0, peak};
}

/// The largest number up to `most` that is good, where 1 is and all below a good one are.
Rank largest(Rank most, const std::function<bool(Rank)>& good) {
    Rank least = 1;
    while (least < most) {
        const Rank middle = least + (most - least + 1) / 2;
        if (good(middle)) least = middle;
        else most = middle - 1;
    }
    return least;
}

std::vector<double> tent_shares(double elements, Rank ranks, const Passes& passes, double hop) {
    const Rank active = largest(ranks, [&](Rank each) { return slopes(each, passes, hop).fits(elements); });
    const Slopes under = slopes(active, passes, hop);
    const double height = under.height(elements);
    std::vector<double> shares(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < active; ++rank) {
        shares[static_cast<std::size_t>(rank)] = std::max(height - under.below_peak(rank), 0.0);
    }
    return shares;
}

void require(Count elements, Rank ranks) {
    if (elements < 0) throw Error(std::to_string(elements) + " elements; expected 0 or more");
    if (ranks < 1) throw Error(std::to_string(ranks) + " ranks; expected at least 1");
}

}  // namespace

double end_of(std::span<const PrefixTimes> times, std::span<const Count> counts) {
    double end = 0;
    for (std::size_t rank = 0; rank < times.size(); ++rank) {
        if (counts[rank] > 0) end = std::max(end, times[rank].end);
    }
    return end;
}

std::vector<Count> rounded(std::span<const double> shares, Count elements) {
    std::vector<Count> counts;
    double sum = 0;
    Count before = 0;
    for (const double share : shares) {
        sum += share;
        const bool is_last = counts.size() + 1 == shares.size();
        const Count until = is_last ? elements : std::clamp(static_cast<Count>(std::llround(sum)), before, elements);
        counts.push_back(until - before);
        before = until;
    }
    // What rounding left over belongs to the last rank that shall have any.
    for (std::size_t rank = shares.size() - 1; rank > 0 && shares[rank] == 0; --rank) {
        counts[rank - 1] += std::exchange(counts[rank], 0);
    }
    return counts;
}

std::vector<Count> even(Count elements, Rank ranks) {
    require(elements, ranks);
    std::vector<Count> counts(static_cast<std::size_t>(ranks), elements / ranks);
    for (Count rank = 0; rank < elements % ranks; ++rank) ++counts[static_cast<std::size_t>(rank)];
    return counts;
}

std::vector<Count> ladder(Count elements, Rank ranks, double step) {
    require(elements, ranks);
    if (!(step >= 0) || !std::isfinite(step)) {
        throw Error("a ladder of " + std::to_string(step) + " elements a step; expected 0 or more");
    }
    const auto total = static_cast<double>(elements);
    const Rank active = largest(ranks, [&](Rank each) { return step * each * (each + 1.0) / 2 <= total; });
    std::vector<double> shares(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < active; ++rank) {
        shares[static_cast<std::size_t>(rank)] = total / active + step * (rank - (active - 1) / 2.0);
    }
    return rounded(shares, elements);
}

std::vector<Count> tent(Count elements, Rank ranks, const Passes& passes, double hop) {
    require(elements, ranks);
    if (!(passes.first >= 0 && passes.second >= 0 && passes.both() > 0 && hop >= 0)) {
        throw Error("a tent needs the seconds of both passes and of a message; expected none below 0");
    }
    return rounded(tent_shares(static_cast<double>(elements), ranks, passes, hop), elements);
}

double hop_of_chain(const virtual_machine::CostModel& costs, Count element_bytes) {
    constexpr Rank few = 4, more = 8;
    const Collective& exscan = *find_collective("exscan");
    const AlgorithmInfo& chain = *exscan.algorithm("linear_pipeline");
    const auto settings = virtual_machine::with_segment(chain.standard_settings(), element_bytes);
    const auto seconds = [&](Rank ranks) {
        const SharedFacts facts =
            exscan.facts({.size = ranks, .count = 1, .element_bytes = element_bytes, .op = {true}});
        return virtual_machine::time_of(chain, facts, settings, costs);
    };
    return (seconds(more) - seconds(few)) / (more - few);
}

PrefixSum::PrefixSum(const AlgorithmInfo& algorithm, const SharedFacts& facts, std::span<const Setting> settings,
                     const virtual_machine::CostModel& costs, const Passes& passes)
    : timing_([&] {
          if (const auto reason = algorithm.refusal(facts, settings)) throw Error(*reason);
          auto timing = Timing::of({.algorithm = algorithm, .facts = facts, .settings = settings});
          if (!timing) {
              throw Error(std::string(algorithm.name) + ": more than " + std::to_string(Timing::most_messages) +
                          " messages cannot be timed; take fewer ranks");
          }
          return std::move(*timing);
      }()),
      ranks_(facts.size), costs_(costs), element_bytes_(facts.element_bytes), passes_(passes) {
    if (!(passes.first >= 0 && passes.second >= 0 && passes.both() > 0)) {
        throw Error("passes of " + std::to_string(passes.first) + " and " + std::to_string(passes.second) +
                    " seconds per element; expected none below 0, and one above");
    }
}

std::vector<PrefixTimes> PrefixSum::times(std::span<const Count> counts) {
    std::vector<double> ready;
    for (const Count count : counts) {
        if (count < 0) throw Error(std::to_string(count) + " elements on a rank; expected 0 or more");
        ready.push_back(passes_.first * static_cast<double>(count));
    }
    const auto finishes = timing_.finishes(costs_, element_bytes_, ready);
    std::vector<PrefixTimes> times;
    for (std::size_t rank = 0; rank < finishes.size(); ++rank) {
        const double prefix = finishes[rank].time;
        times.push_back(
            {ready[rank], prefix, prefix + passes_.second * static_cast<double>(counts[rank]), finishes[rank].due_to});
    }
    return times;
}

/// The search for the best distribution over the first ranks. What a rank ends with is the largest of sums: the first
/// pass of some rank, the way from there to this one, and its own second pass. Runs in virtual time show which of these
/// sums are large; the distribution that is best for those seen so far is tried next. Times are in units of what ranks
/// wait where the distribution is even.
class DistributionSearch {
  public:
    DistributionSearch(PrefixSum& sum, double elements, Rank active)
        : sum_(sum), active_(static_cast<std::size_t>(active)), mean_(elements / active),
          model_(active_, sum.passes_.first / sum.passes_.both(), sum.passes_.second / sum.passes_.both()) {
        shares_.assign(static_cast<std::size_t>(sum_.ranks_), 0);
        std::fill_n(shares_.begin(), active_, mean_);
        unit_ = 1;
        unit_ = std::max(ends(shares_) - mean_ * sum_.passes_.both(), 1e-9 * mean_ * sum_.passes_.both());
        best_ = shares_;
        least_ = learn(best_);
    }

    void consider(const std::vector<double>& shares) {
        const double seconds = learn(shares);
        if (seconds < least_) {
            least_ = seconds;
            best_ = shares;
        }
    }

    /// Looks at what each rank would delay if it came much later than all others.
    void probe() {
        for (std::size_t late = 0; late < active_; ++late) {
            ready_.assign(shares_.size(), 0);
            ready_[late] = 1e3 * unit_;
            learn_from_run();
        }
    }

    void run() {
        const double per_element = sum_.passes_.both() / unit_, least = -mean_ * per_element;
        double reach = 1;  // from the best distribution so far: far away the model knows little
        for (int round = 0; round < most_rounds && reach > precision; ++round) {
            std::vector<double> x(active_);
            for (std::size_t k = 0; k < active_; ++k) x[k] = (best_[k] - mean_) * per_element;
            Minimax::Box box{x, x};
            for (std::size_t k = 0; k < active_; ++k) {
                box.least[k] = std::max(box.least[k] - reach, least);
                box.most[k] += reach;
            }
            x = model_.minimise(std::move(x), box, precision);
            bound_ = model_.value(x) * unit_ + mean_ * sum_.passes_.both();
            std::vector<double> shares = shares_;
            for (std::size_t k = 0; k < active_; ++k) shares[k] = std::max(x[k] / per_element + mean_, 0.0);
            const double before = least_;
            consider(shares);
            if (before - bound_ <= 2 * precision * unit_) break;
            reach *= before - least_ >= 0.3 * (before - bound_) ? 1.5 : 0.6;
        }
    }

    [[nodiscard]] const std::vector<double>& best() const { return best_; }
    /// Ranks wait so long that fewer of them may be as quick.
    [[nodiscard]] bool has_too_many_ranks() const { return least_ > 1.5 * mean_ * sum_.passes_.both(); }
    [[nodiscard]] double seconds() const { return least_; }
    [[nodiscard]] double bound() const { return std::min(bound_, least_); }

  private:
    static constexpr double precision = 0.004;
    static constexpr int most_rounds = 60;

    double ends(const std::vector<double>& shares) {
        ready_.clear();
        for (const double each : shares) ready_.push_back(sum_.passes_.first * each);
        finishes_ = sum_.timing_.finishes(sum_.costs_, sum_.element_bytes_, ready_);
        double end = 0;
        for (std::size_t k = 0; k < active_; ++k) {
            end = std::max(end, finishes_[k].time + sum_.passes_.second * shares[k]);
        }
        return end;
    }

    /// Adds to the model what a run with these shares shows. Returns when it ended.
    double learn(const std::vector<double>& shares) {
        const double end = ends(shares);
        learn_from_finishes();
        return end;
    }
    void learn_from_run() {
        finishes_ = sum_.timing_.finishes(sum_.costs_, sum_.element_bytes_, ready_);
        learn_from_finishes();
    }
    void learn_from_finishes() {
        for (std::size_t k = 0; k < active_; ++k) {
            const auto due_to = static_cast<std::size_t>(finishes_[k].due_to);
            const double way = finishes_[k].time - ready_[due_to];
            // Relative to even shares, of which ranks beyond the active ones have none.
            const double missing = due_to < active_ ? 0 : mean_ * sum_.passes_.first;
            model_.add(static_cast<std::uint32_t>(due_to), static_cast<std::uint32_t>(k), (way - missing) / unit_);
        }
    }

    PrefixSum& sum_;
    std::size_t active_;
    double mean_;
    Minimax model_;
    std::vector<double> shares_, best_;
    double unit_ = 1, least_ = 0, bound_ = 0;
    std::vector<double> ready_;
    std::vector<Timing::Finish> finishes_;
};

PrefixSum::Best PrefixSum::best(Count elements) {
    require(elements, ranks_);
    if (elements == 0) return {even(0, ranks_), 0, 0};
    const auto total = static_cast<double>(elements);
    const double hop = hop_of_chain(costs_, element_bytes_);
    constexpr Rank most_probed = 128;
    constexpr int slopes_tried = 8;
    std::map<Rank, DistributionSearch> searches;
    // Of the best over the first ranks; where there are many, of the best tent over them.
    const auto seconds = [&](Rank active) {
        const auto [place, is_new] = searches.try_emplace(active, *this, total, active);
        DistributionSearch& search = place->second;
        if (!is_new) return search.seconds();
        for (int halvings = 0; halvings < slopes_tried; ++halvings) {
            auto shares = tent_shares(total, active, passes_, std::ldexp(hop, -halvings));
            shares.resize(static_cast<std::size_t>(ranks_));
            search.consider(shares);
        }
        if (ranks_ <= most_probed) {
            search.probe();
            search.run();
        }
        return search.seconds();
    };
    Rank active = ranks_;
    seconds(active);
    if (searches.at(active).has_too_many_ranks()) {
        for (Rank fewer = 1; fewer < ranks_; fewer *= 2) {
            if (seconds(fewer) < seconds(active)) active = fewer;
        }
        for (Rank step = active / 2; step > 0; step /= 2) {  // between half and twice as many
            for (const Rank other : {active - step, active + step}) {
                if (other < 1 || other > ranks_ || seconds(other) >= seconds(active)) continue;
                active = other;
                break;
            }
        }
    }
    DistributionSearch& found = searches.at(active);
    if (ranks_ > most_probed) found.run();
    Best best{{}, std::numeric_limits<double>::infinity(), found.bound()};
    const double step = passes_.first > 0 ? hop / passes_.first : 0;
    for (auto& counts : {rounded(found.best(), elements), even(elements, ranks_), ladder(elements, ranks_, step),
                         tent(elements, ranks_, passes_, hop)}) {
        const double end = end_of(times(counts), counts);
        if (end >= best.seconds) continue;
        best.seconds = end;
        best.counts = counts;
    }
    return best;
}

}  // namespace rondo
