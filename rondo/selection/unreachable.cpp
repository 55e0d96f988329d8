// SPDX-License-Identifier: BSD-3-Clause
// Rules that never decide, or not all their calls. A rule's calls are a box with a side for each fact; what the rules
// above it take away is cut off piece by piece.
#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>

#include "rondo/selection/rules.hpp"

namespace rondo {

class RuleCoverage {
  public:
    /// The lines of `above` that match calls of `rule`, and whether they leave any of them.
    struct Found {
        std::vector<int> lines;
        bool leaves_some;
    };
    static Found coverage(std::span<const Rules::Rule> above, const Rules::Rule& rule) {
        // More pieces than that come of no file that a person writes.
        constexpr std::size_t most_pieces = 10'000;
        std::vector<Box> left = {intersection(rule.bounds, every_call)};
        std::vector<int> lines;
        for (const Rules::Rule& other : above) {
            if (other.collective != rule.collective) continue;
            std::vector<Box> pieces;
            bool meets = false;
            for (const Box& box : left) meets = cut(box, other.bounds, pieces) || meets;
            if (meets) lines.push_back(other.line);
            if (pieces.empty()) return {covers(other, rule) ? std::vector{other.line} : lines, false};
            if (pieces.size() > most_pieces) return {{}, true};
            left = std::move(pieces);
        }
        return {lines, true};
    }

  private:
    using Bounds = Rules::Bounds;
    using Box = std::array<Bounds, Rules::facts>;

    static constexpr Count most_ranks = std::numeric_limits<Rank>::max();
    static constexpr Bounds any_count = {0, std::numeric_limits<Count>::max()};
    // As Situation and Spread say; nobody knows the nodes, and the ranks there: 0.
    static constexpr Bounds any_ranks = {0, most_ranks};
    static constexpr auto every_call = std::to_array<Bounds>(
        {any_count, Bounds{1, most_ranks}, Bounds{0, 1}, Bounds{0, static_cast<Count>(MpiLibrary::impi)}, any_count,
         any_ranks, Bounds{0, 1}, Bounds{0, 1}, Bounds{1, most_ranks}, any_ranks, any_ranks});
    static_assert(every_call.size() == Rules::facts);

    static Box intersection(const Box& a, const Box& b) {
        Box both = a;
        for (std::size_t fact = 0; fact < both.size(); ++fact) {
            both[fact].lowest = std::max(both[fact].lowest, b[fact].lowest);
            both[fact].highest = std::min(both[fact].highest, b[fact].highest);
        }
        return both;
    }

    /// True if no call lies in the box. The fewest ranks on a node are never more than the most, both are known or none
    /// is, and only a single node has domains.
    static bool empty(const Box& box) {
        const Bounds fewest = box[Rules::fewest_on_node], most = box[Rules::most_on_node];
        if (fewest.lowest > most.highest || (fewest.highest == 0 && most.lowest > 0)) return true;
        if (box[Rules::domains].lowest > 1 && box[Rules::nodes].lowest > 1) return true;
        return std::any_of(box.begin(), box.end(), [](Bounds side) { return side.lowest > side.highest; });
    }

    static bool covers(const Rules::Rule& other, const Rules::Rule& rule) {
        std::vector<Box> left;
        cut(intersection(rule.bounds, every_call), other.bounds, left);
        return left.empty();
    }

    /// Adds what is left of a box without another; false if they have nothing in common.
    static bool cut(const Box& box, const Box& other, std::vector<Box>& left) {
        if (empty(intersection(box, other))) {
            left.push_back(box);
            return false;
        }
        Box rest = box;
        for (std::size_t fact = 0; fact < rest.size(); ++fact) {
            const Bounds taken = other[fact];
            if (rest[fact].lowest < taken.lowest) {
                Box piece = rest;
                piece[fact].highest = taken.lowest - 1;
                if (!empty(piece)) left.push_back(piece);
                rest[fact].lowest = taken.lowest;
            }
            if (taken.highest < rest[fact].highest) {
                Box piece = rest;
                piece[fact].lowest = taken.highest + 1;
                if (!empty(piece)) left.push_back(piece);
                rest[fact].highest = taken.highest;
            }
        }
        return true;
    }
};

std::vector<Rules::Unreachable> Rules::unreachable() const {
    std::vector<Unreachable> found;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        auto [lines, leaves_some] = RuleCoverage::coverage(std::span(rules_).first(i), rules_[i]);
        if (!leaves_some) found.push_back({.line = rules_[i].line, .covered_by = std::move(lines)});
    }
    std::ranges::sort(found, {}, &Unreachable::line);
    return found;
}

std::vector<Rules::Overlap> Rules::overlaps() const {
    std::vector<Overlap> found;
    for (std::size_t i = 0; i < rules_.size(); ++i) {
        auto [lines, leaves_some] = RuleCoverage::coverage(std::span(rules_).first(i), rules_[i]);
        if (leaves_some && !lines.empty()) found.push_back({.line = rules_[i].line, .with = std::move(lines)});
    }
    std::ranges::sort(found, {}, &Overlap::line);
    return found;
}

}  // namespace rondo
