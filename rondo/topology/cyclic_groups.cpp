// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/cyclic_groups.hpp"

namespace rondo::topology {

Rank CyclicPath::to() const {
    if (done() || idle()) return no_rank;
    if (index_ == 1 && only_total()) return no_rank;
    return rank_of(index_ > 0 ? index_ - 1 : last_odd());
}

Rank CyclicPath::from() const {
    if (done() || idle()) return no_rank;
    if (index_ == 0 && only_total()) return no_rank;
    return rank_of(replaces() ? 0 : index_ + 1);
}

void CyclicPath::descend() {
    const bool odd = index_ % 2 == 1;
    sizes_[depth_] = size_;
    odd_ |= static_cast<std::uint32_t>(odd) << depth_;
    ++depth_;
    // The last odd one took rank 0's item: it is the first of its group now, the others follow in order.
    if (odd) index_ = replaces() ? 0 : (index_ + 1) / 2;
    else index_ /= 2;
    size_ = odd ? size_ / 2 : size_ - size_ / 2;
}

Rank CyclicPath::rank_of(Rank index) const {
    for (int level = depth_ - 1; level >= 0; --level) {
        if ((odd_ >> level & 1U) == 0) index = 2 * index;
        else index = index > 0 ? 2 * index - 1 : sizes_[level] / 2 * 2 - 1;
    }
    return index;
}

}  // namespace rondo::topology
