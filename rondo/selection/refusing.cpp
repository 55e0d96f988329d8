// SPDX-License-Identifier: BSD-3-Clause
// Rules whose algorithms refuse calls: found by asking the algorithms.
#include <algorithm>
#include <set>
#include <vector>

#include "rondo/selection/rules.hpp"

namespace rondo {

/// Asks a rule's algorithm for calls that the rule matches, if no other rule does.
class RuleTrial {
  public:
    explicit RuleTrial(const Rules::Rule& rule) : rule_(rule), collective_(*find_collective(rule.collective)) {
        for (const Requirement& requirement : rule.choice.algorithm->requirements) {
            unmet_.push_back({&requirement, false});
        }
    }

    [[nodiscard]] Rules::Refusing run() {
        for (const Count processes : samples(ranks(), most_ranks)) {
            for (const Count bytes : lengths()) {
                for (const bool commutative : {false, true}) {
                    const Interval asked = rule_.bounds[Rules::commutative];
                    if (asked.lowest <= Count{commutative} && Count{commutative} <= asked.highest &&
                        (collective_.has.operation || !commutative)) {
                        try_roots(processes, bytes, commutative);
                    }
                }
            }
        }
        Rules::Refusing result = {rule_.line, &rule_.choice, {}, tried_ > 0 && refused_ == tried_};
        for (const auto& [requirement, is_unmet] : unmet_) {
            if (is_unmet) result.needs.push_back(requirement->summary);
        }
        return result;
    }

  private:
    // Of those that are tried, unless the rule is of larger ones.
    static constexpr Count most_ranks = 1 << 16, most_bytes = 1 << 30;

    /// Both ends, up to `most`, their neighbours, and powers of two in between.
    static std::set<Count> samples(const Interval& range, Count most) {
        const Count last = std::min(range.highest, std::max(most, range.lowest));
        std::set<Count> found = {range.lowest, last};
        if (range.lowest < last) found.insert({range.lowest + 1, last - 1});
        for (Count power = 1; power <= last; power *= 2) {
            if (power >= range.lowest) found.insert(power);
        }
        return found;
    }

    /// Calls on one rank are nobody's. On nodes, as many as these have.
    [[nodiscard]] Interval ranks() const {
        const auto& bounds = rule_.bounds;
        const Count fewest = bounds[Rules::nodes].lowest * bounds[Rules::fewest_on_node].lowest;
        return {std::max({bounds[Rules::processes].lowest, fewest, Count{2}}), bounds[Rules::processes].highest};
    }

    /// Of vectors without elements only where a rule is of no others: there is nothing to do.
    [[nodiscard]] std::set<Count> lengths() const {
        if (!collective_.has.data || collective_.has.local_lengths) return {0};
        const Interval asked = rule_.bounds[Rules::bytes];
        return samples({std::max(asked.lowest, std::min<Count>(asked.highest, 1)), asked.highest}, most_bytes);
    }

    void try_roots(Count processes, Count bytes, bool commutative) {
        const auto size = static_cast<Rank>(processes);
        for (const Rank root : {0, 1, size - 1}) {
            if (root > 0 && !collective_.has.root) break;
            const SharedFacts facts =
                collective_.facts({.size = size, .count = bytes, .root = root, .op = {commutative}});
            ++tried_;
            const Requirement* const first = rule_.choice.algorithm->unmet(facts, rule_.choice.settings);
            if (first == nullptr) continue;
            ++refused_;
            for (auto& [requirement, is_unmet] : unmet_) is_unmet = is_unmet || requirement == first;
        }
    }

    struct Need {
        const Requirement* requirement;
        bool is_unmet;
    };
    const Rules::Rule& rule_;
    const Collective& collective_;
    std::vector<Need> unmet_;
    Count tried_ = 0, refused_ = 0;
};

std::vector<Rules::Refusing> Rules::refusing() const {
    std::vector<Refusing> found;
    for (const Rule& rule : rules_) {
        if (rule.choice.algorithm == nullptr || rule.choice.algorithm->requirements.empty()) continue;
        Refusing trial = RuleTrial(rule).run();
        if (!trial.needs.empty()) found.push_back(std::move(trial));
    }
    std::ranges::sort(found, {}, &Refusing::line);
    return found;
}

}  // namespace rondo
