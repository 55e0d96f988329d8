// SPDX-License-Identifier: BSD-3-Clause
#include "division.hpp"

namespace rondo::bench {
namespace {

constexpr int empty_one_in = 5;

/// What the length of the part is proportional to.
std::int64_t weight(Parts parts, int rank) {
    if (parts == Parts::equal) return 1;
    return rank % empty_one_in == empty_one_in - 1 ? 0 : rank + 1;
}

}  // namespace

Division::Division(Parts parts, std::int64_t count, int ranks) : ranks_(ranks), starts_{0} {
    std::int64_t all = 0, before = 0;
    for (int rank = 0; rank < ranks; ++rank) all += weight(parts, rank);
    for (int rank = 0; rank < ranks; ++rank) {
        before += weight(parts, rank);
        starts_.push_back(count * ranks * before / all);  // rounded where a part starts: nothing is left over
    }
}

Piece Division::part(int rank) const {
    const auto i = static_cast<std::size_t>(rank);
    return {starts_[i], starts_[i + 1] - starts_[i]};
}

std::int64_t Division::elements_from(int first, int parts) const {
    const std::int64_t start = starts_[static_cast<std::size_t>(first)];
    const int end = first + parts;
    if (end <= ranks_) return starts_[static_cast<std::size_t>(end)] - start;
    return elements() - start + starts_[static_cast<std::size_t>(end - ranks_)];
}

Piece Division::sent(int from, int to) const {
    return {elements_from((ranks_ - from) % ranks_, to), part((to - from + ranks_) % ranks_).count};
}

Piece Division::received(int from, int to) const {
    return {elements_from((to - from + 1 + ranks_) % ranks_, from), part((to - from + ranks_) % ranks_).count};
}

}  // namespace rondo::bench
