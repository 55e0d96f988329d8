// SPDX-License-Identifier: BSD-3-Clause
// Two-tree algorithms where no rank sends and receives at the same time: couples of two ranks play the numbers of the
// trees. In a broadcast one of the two receives and hands everything to the other one, who sends; a reduction goes the
// same way back. [sanders2009two], section 5.2.
#pragma once

#include "rondo/algorithms/patterns/two_tree_steps.hpp"
#include "rondo/topology/rotation.hpp"

namespace rondo {

inline constexpr Parameter simplex_parameter = {
    .name = "simplex",
    .summary = "1: no rank sends and receives in the same step, for half-duplex networks",
    .minimum = 0,
    .maximum = 1,
    .standard = 0,
};

/// Two ranks make no couple beside the root's, and only one of them sends.
[[nodiscard]] inline bool plays_in_couples(const Call& call) {
    return call.setting(simplex_parameter.name) == 1 && call.ranks().second > 2;
}

/// The couple of a rank, and where others are. Places count from the root on around the circle; the root has a partner
/// only if the number of ranks is even, whom nobody else talks to.
class Couples {
  public:
    explicit Couples(const Call& call)
        : circle_(call.facts().root, 0, call.ranks().second), first_(call.ranks().second % 2 == 0 ? 2 : 1),
          size_((call.ranks().second - first_) / 2), place_(circle_.place_of(call.ranks().first)) {}

    /// Those beside the root's: as many numbers have the trees.
    [[nodiscard]] Rank size() const { return size_; }
    /// The root's couple has the number behind the last, which feeds the trees.
    [[nodiscard]] Rank number() const { return is_of_root() ? size_ : (place_ - first_) / 2; }
    [[nodiscard]] bool is_root() const { return place_ == 0; }
    [[nodiscard]] bool is_of_root() const { return place_ < first_; }
    /// Is this the one who talks to the couple's parent?
    [[nodiscard]] bool talks_upwards() const { return !is_of_root() && (place_ - first_) % 2 == 0; }
    /// Or the one who talks to its children?
    [[nodiscard]] bool talks_downwards() const { return is_root() || (!is_of_root() && !talks_upwards()); }
    /// In a broadcast: is this the one from whom the partner has everything?
    [[nodiscard]] bool hands_over() const { return is_root() || talks_upwards(); }

    [[nodiscard]] Rank partner() const {
        if (is_of_root()) return first_ == 2 ? circle_.rank_at(1 - place_) : no_rank;
        return circle_.rank_at(talks_upwards() ? place_ + 1 : place_ - 1);
    }
    /// Of another couple, who talks to its parent, and who to its children; no rank for no couple.
    [[nodiscard]] Rank upper(Rank couple) const {
        return couple == no_rank ? no_rank : circle_.rank_at(first_ + 2 * couple);
    }
    [[nodiscard]] Rank lower(Rank couple) const {
        if (couple == no_rank) return no_rank;
        return circle_.rank_at(couple == size_ ? 0 : first_ + 2 * couple + 1);
    }

  private:
    topology::Rotation circle_;
    Rank first_, size_, place_;
};

}  // namespace rondo
