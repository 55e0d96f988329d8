// SPDX-License-Identifier: BSD-3-Clause
#include "division.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rondo::bench {
namespace {

constexpr int empty_one_in = 5, filled_one_in = 10, heavy_weight = 10;
constexpr std::int64_t mean_weight = 1000;
constexpr int summed = 12;  // random numbers, whose sum is almost normally distributed, with a variance of one

constexpr std::pair<std::string_view, Parts> names[] = {{"equal", Parts::equal},     {"skewed", Parts::skewed},
                                                        {"uniform", Parts::uniform}, {"normal", Parts::normal},
                                                        {"heavy", Parts::heavy},     {"sparse", Parts::sparse}};

/// A number that looks random, the same on every rank: the generator SplitMix64 for a pair of ranks.
class Dice {
  public:
    Dice(int from, int to)
        : state_((static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32) |
                 static_cast<std::uint32_t>(to)) {}

    std::int64_t below(std::int64_t end) {
        std::uint64_t mixed = state_ += 0x9E3779B97F4A7C15;
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
        return static_cast<std::int64_t>((mixed ^ (mixed >> 31)) % static_cast<std::uint64_t>(end));
    }

  private:
    std::uint64_t state_;
};

std::int64_t skewed(int distance) { return distance % empty_one_in == empty_one_in - 1 ? 0 : distance + 1; }

std::int64_t normal(Dice dice) {
    std::int64_t sum = -summed / 2 * mean_weight;
    for (int i = 0; i < summed; ++i) sum += dice.below(mean_weight + 1);
    return std::max<std::int64_t>(0, mean_weight + sum / 3);
}

/// What the length of the part is proportional to.
std::int64_t weight(Parts parts, int from, int to, int ranks) {
    switch (parts) {
        case Parts::skewed: return skewed((to - from + ranks) % ranks);
        case Parts::uniform: return Dice(from, to).below(2 * mean_weight + 1);
        case Parts::normal: return normal(Dice(from, to));
        case Parts::heavy: return to == ranks / 2 ? heavy_weight : 1;
        case Parts::sparse: return Dice(from, to).below(filled_one_in) == 0 ? 1 : 0;
        default: return 1;
    }
}

std::vector<std::int64_t> weights_of(Parts parts, int ranks, int from) {
    std::vector<std::int64_t> all;
    all.reserve(static_cast<std::size_t>(ranks));
    for (int to = 0; to < ranks; ++to) all.push_back(weight(parts, from, to, ranks));
    const bool has_nothing = std::ranges::all_of(all, [](std::int64_t each) { return each == 0; });
    if (has_nothing) all[static_cast<std::size_t>((from + 1) % ranks)] = 1;
    return all;
}

}  // namespace

std::optional<Parts> find_parts(std::string_view name) {
    for (const auto& [known, parts] : names) {
        if (known == name) return parts;
    }
    return std::nullopt;
}

Division::Division(Parts parts, std::int64_t count, int ranks, int from) : starts_{0} {
    const std::vector<std::int64_t> weights = weights_of(parts, ranks, from);
    const std::int64_t all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
    std::int64_t before = 0;
    for (const std::int64_t each : weights) {
        before += each;
        // Rounded where a part starts, so that nothing is left over.
        starts_.push_back(count * ranks * before / std::max<std::int64_t>(all, 1));
    }
}

Piece Division::part(int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    return {starts_[i], starts_[i + 1] - starts_[i]};
}

std::int64_t most_received(Parts parts, std::int64_t count, int ranks) {
    std::vector<std::int64_t> received(static_cast<std::size_t>(ranks));
    for (int from = 0; from < ranks; ++from) {
        const Division division(parts, count, ranks, from);
        for (int to = 0; to < ranks; ++to) received[static_cast<std::size_t>(to)] += division.part(to).count;
    }
    return *std::ranges::max_element(received);
}

}  // namespace rondo::bench
