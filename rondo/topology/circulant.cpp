// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/circulant.hpp"

#include <numeric>

namespace rondo::topology {
namespace {

/// Searches, for every round, the path of skips by which the newest block comes to the rank: largest skips first; the
/// last skip of a path serves no other round. By recursion: iterative versions in circulation are wrong for p = 33, 65,
/// ...
class ReceiveSearch {
  public:
    ReceiveSearch(Rank rank, const CirculantSkips& skips)
        : skips_(skips), rounds_(skips.rounds()), target_(std::int64_t{rank} + skips.size()) {
        std::iota(next_.begin(), next_.end(), -1);  // from each skip to the next smaller one; -1: the end
        std::iota(previous_.begin(), previous_.end(), 1);
    }

    /// `base`: the round in which the rank gets its first block.
    std::array<int, most_rounds> run(int base) {
        unlink(base);
        extend(0, 2 * std::int64_t{skips_.size()}, head_, 0);
        for (int& number : found_) number = number == rounds_ ? base : number - rounds_;
        return found_;
    }

  private:
    /// Extends the path of sum `sum` by the skips from `skip` on downwards; sums stay below `bound`, which falls with
    /// every round served. Returns the first round that is not served yet.
    int extend(std::int64_t sum, std::int64_t bound, int skip, int round) {
        for (; skip >= 0; skip = next_[at(skip)]) {
            const std::int64_t longer = sum + skips_.skip(skip);
            if (longer > target_ - skips_.skip(round) || longer >= bound) continue;
            if (longer <= target_ - skips_.skip(round + 1)) {
                round = extend(longer, bound, skip, round);
                if (round == rounds_) return round;
            }
            if (sum > target_ - skips_.skip(round + 1)) return round;
            bound = longer;
            found_[at(round++)] = skip;
            unlink(skip);
            if (round == rounds_) return round;
        }
        return round;
    }

    void unlink(int skip) {
        if (skip == head_) head_ = next_[at(skip)];
        else next_[at(previous_[at(skip)])] = next_[at(skip)];
        if (next_[at(skip)] >= 0) previous_[at(next_[at(skip)])] = previous_[at(skip)];
    }

    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    const CirculantSkips& skips_;
    const int rounds_;
    const std::int64_t target_;
    std::array<int, most_rounds> found_{};
    std::array<int, most_rounds + 1> next_{}, previous_{};
    int head_ = rounds_;
};

/// The smallest skip on the greedy path from rank 0 to `rank`; rounds() for rank 0.
int base_block(Rank rank, const CirculantSkips& skips) {
    int round = skips.rounds();
    while (rank > 0) {
        --round;
        if (rank >= skips.skip(round)) rank -= skips.skip(round);
    }
    return round;
}

std::array<int, most_rounds> receive_schedule(Rank rank, const CirculantSkips& skips) {
    return ReceiveSearch(rank, skips).run(base_block(rank, skips));
}

}  // namespace

CirculantSkips::CirculantSkips(Rank size) {
    while (std::int64_t{1} << rounds_ < size) ++rounds_;
    Rank skip = size;
    for (int round = rounds_; round >= 0; --round, skip -= skip / 2) skips_[index(round)] = skip;
}

CirculantSchedule::CirculantSchedule(Rank rank, const CirculantSkips& skips) {
    if (skips.rounds() == 0) return;
    receives_ = receive_schedule(rank, skips);
    for (int round = 0; round < skips.rounds(); ++round) {
        const auto at = static_cast<std::size_t>(round);
        sends_[at] = rank == 0 ? round : receive_schedule(skips.up(rank, round), skips)[at];
    }
}

CirculantReceives::CirculantReceives(const CirculantSkips& skips) {
    if (skips.rounds() == 0) return;
    receives_.reserve(static_cast<std::size_t>(skips.size()));
    for (Rank rank = 0; rank < skips.size(); ++rank) receives_.push_back(receive_schedule(rank, skips));
}

}  // namespace rondo::topology
