// SPDX-License-Identifier: BSD-3-Clause
// What circulant graph broadcasts and reductions share: one rank's part in a broadcast of blocks. A reduction goes
// through the same rounds backwards. [traff2024optimal]
#pragma once

#include <algorithm>

#include "rondo/core/call.hpp"
#include "rondo/topology/circulant.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo {

class CirculantSteps {
  public:
    /// In a round. Blocks are numbers; -1: none.
    struct Step {
        Rank to, from;
        Count sent, received;
    };

    CirculantSteps(const Call& call, Count blocks)
        : circle_(call.facts().root, 0, call.ranks().second), place_(circle_.place_of(call.ranks().first)),
          skips_(call.ranks().second), schedule_(place_, skips_), rounds_(skips_.rounds(), blocks) {}

    /// Rounds.
    [[nodiscard]] Count size() const { return rounds_.size(); }
    [[nodiscard]] bool is_root() const { return place_ == 0; }

    [[nodiscard]] Step operator[](Count round) const {
        const int k = rounds_.skip_of(round);
        const Rank to = skips_.up(place_, k), from = skips_.down(place_, k);
        // The root has every block already.
        return {.to = circle_.rank_at(to),
                .from = circle_.rank_at(from),
                .sent = to == 0 ? -1 : rounds_.block(round, schedule_.sends(k)),
                .received = is_root() ? -1 : rounds_.block(round, schedule_.receives(k))};
    }

    /// The round behind the last one in which a block travels. The root sends it in the round of the same number;
    /// others get it up to so many rounds later.
    [[nodiscard]] Count end_of(Count block) const {
        return std::min(rounds_.size(), block + 2 * Count{skips_.rounds()});
    }

  private:
    topology::Rotation circle_;
    Rank place_;
    topology::CirculantSkips skips_;
    topology::CirculantSchedule schedule_;
    topology::CirculantRounds rounds_;
};

}  // namespace rondo
