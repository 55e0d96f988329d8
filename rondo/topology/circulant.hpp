// SPDX-License-Identifier: BSD-3-Clause
// Circulant graphs with about halving skips, and the schedule by which blocks travel in them so that every rank gets a
// new block in every round. [traff2024optimal]; computed for one rank without communication, O(log^2 size).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::topology {

inline constexpr int most_rounds = 32;

/// ceil(log2 size) rounds; in round k everybody sends to the rank skip(k) further on around the circle.
class CirculantSkips {
  public:
    explicit CirculantSkips(Rank size);

    [[nodiscard]] int rounds() const { return rounds_; }
    [[nodiscard]] Rank size() const { return skips_[index(rounds_)]; }
    /// skip(0) = 1, ..., skip(rounds()) = size: each at most twice the one before.
    [[nodiscard]] Rank skip(int round) const { return skips_[index(round)]; }

    [[nodiscard]] Rank up(Rank rank, int round) const { return wrapped(std::int64_t{rank} + skip(round)); }
    [[nodiscard]] Rank down(Rank rank, int round) const { return wrapped(std::int64_t{rank} - skip(round) + size()); }

  private:
    static std::size_t index(int round) { return static_cast<std::size_t>(round); }
    [[nodiscard]] Rank wrapped(std::int64_t rank) const {
        return static_cast<Rank>(rank < size() ? rank : rank - size());
    }

    int rounds_ = 0;
    std::array<Rank, most_rounds + 1> skips_{};
};

/// Which blocks rank `rank` sends and receives in a broadcast from rank 0, relative to those of one pass over the
/// rounds before: after each pass the numbers grow by `rounds()`; negative ones stand for blocks that do not exist.
class CirculantSchedule {
  public:
    CirculantSchedule(Rank rank, const CirculantSkips& skips);

    /// Rank 0 has everything: what would be received there means nothing.
    [[nodiscard]] int receives(int round) const { return receives_[static_cast<std::size_t>(round)]; }
    [[nodiscard]] int sends(int round) const { return sends_[static_cast<std::size_t>(round)]; }

  private:
    std::array<int, most_rounds> receives_{}, sends_{};
};

/// What every rank receives, as CirculantSchedule says it for one: a rank that broadcasts from all roots at once needs
/// it for all distances from a root.
class CirculantReceives {
  public:
    explicit CirculantReceives(const CirculantSkips& skips);

    [[nodiscard]] int operator()(Rank rank, int round) const {
        return receives_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(round)];
    }

  private:
    std::vector<std::array<int, most_rounds>> receives_;  // by rank
};

/// The rounds of a broadcast of `blocks` blocks: one after the other (`rounds() - 1 + blocks` of them), or backwards,
/// as a reduction uses them.
class CirculantRounds {
  public:
    CirculantRounds(int rounds_per_pass, Count blocks)
        : per_pass_(rounds_per_pass), blocks_(blocks),
          idle_(per_pass_ == 0 ? 0 : (per_pass_ - (blocks - 1) % per_pass_) % per_pass_) {}

    [[nodiscard]] Count size() const { return per_pass_ == 0 || blocks_ == 0 ? 0 : per_pass_ - 1 + blocks_; }
    /// Which skip is used in a round.
    [[nodiscard]] int skip_of(Count round) const { return static_cast<int>((round + idle_) % per_pass_); }
    /// The block that a number of the schedule stands for in a round; -1 for none. The last block stands for all that
    /// would come behind it.
    [[nodiscard]] Count block(Count round, int number) const {
        const Count shifted = number - idle_ + (round + idle_) / per_pass_ * per_pass_;
        return shifted < 0 ? -1 : shifted < blocks_ ? shifted : blocks_ - 1;
    }

  private:
    int per_pass_;
    Count blocks_;
    Count idle_;  // rounds of the first pass that are left out, so that the last pass ends with the last round
};

}  // namespace rondo::topology
