// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/bine.hpp"

namespace rondo::topology {

BineTree::BineTree(Rank place, Rank root, Rank size) {
    for (Rank first = 0, last = size, leader = root; last - first > 1;) {
        const Rank far = (last - first) / 2, near = last - first - far;
        const bool leader_is_left = leader < first + near;
        const Rank seam = leader_is_left ? first + near : last - near;
        const Rank depth = best_root(far), other = leader_is_left ? seam + depth : seam - 1 - depth;
        if (place == leader) children_.at(size_++) = other;
        (place < seam ? last : first) = seam;
        if ((place < seam) == leader_is_left) continue;
        parent_ = leader;
        leader = other;
    }
}

// The ranks that keep the first half in round 0 are 0, 3, 4, 7, 8, ..., the others 1, 2, 5, 6, ... Numbered from 0, or
// from 2, backwards around the circle, the rounds that follow are among each of them what the rounds from 0 on are
// among half as many ranks: d(i+1) = 1 - 2 d(i).
Rank BineButterfly::part(Rank rank) const {
    Rank part = 0;
    for (Rank size = size_, bit = 1; size > 1; size /= 2, bit *= 2) {
        const Rank half = (rank + 1) / 2 % 2;
        part += half * bit;
        rank = BineButterfly(size / 2).wrapped(std::int64_t{half} - rank / 2);
    }
    return part;
}

int BineButterfly::rounds_to(Rank rank, Rank top) const {
    const Rank aim = part(rank);
    int rounds = 0;
    for (int round = 0; top != rank; ++round) {
        if (((part(top) ^ aim) >> round) % 2 == 0) continue;
        top = partner(top, round);
        rounds = round + 1;
    }
    return rounds;
}

}  // namespace rondo::topology
