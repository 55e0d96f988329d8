// SPDX-License-Identifier: BSD-3-Clause
// What scans on trees share: one rank's part in the scan of a vector over one in-order tree. Upwards, a rank learns the
// sums of its subtrees; downwards, the sum of all ranks before its subtree. [sanders2009two], section 4.3.
//
// The functions name the blocks of segment i that pass over each edge, and the work that follows an arrival. A block is
// empty where nothing passes: both ends of an edge find the same.
#pragma once

#include <array>

#include "rondo/core/pipeline.hpp"

namespace rondo {

enum class ScanKind : std::uint8_t { inclusive, exclusive };

/// What lies around a rank in an in-order tree.
struct PrefixPlace {
    bool has_left, has_right;
    bool is_first;           ///< the subtree begins with rank 0: nothing comes from above
    bool is_last;            ///< the subtree ends with the last rank: nobody needs its sum
    bool left_first = true;  ///< upwards, the left child's segment arrives before the right one's
};

class PrefixTree {
  public:
    /// `result`: the part of the output that corresponds to `own`.
    PrefixTree(const Call& call, ScanKind kind, Segments own, Segments result, PrefixPlace place)
        : kind_(kind), place_(place), own_(own), result_(result),
          from_left_(call, kind == ScanKind::inclusive && place.has_left ? own : none),
          from_right_(call, hears_right() ? own : none), whole_(call, hears_right() ? own : none),
          up_to_own_(call, kind == ScanKind::exclusive && place.has_left && !place.is_last ? own : none),
          prefix_(call, kind == ScanKind::exclusive && place.has_right ? own : none),
          before_(call, !place.is_first && (place.has_left || kind == ScanKind::inclusive) ? own : none) {}

    using Work = std::array<Combine, 2>;

    [[nodiscard]] Count size() const { return own_.size(); }

    // ---- upwards

    [[nodiscard]] Block from_left(Count i) const {
        if (!place_.has_left || is_outside(i)) return {};
        return kind_ == ScanKind::inclusive ? from_left_.slot(i, own_[i]) : result_[i];
    }
    [[nodiscard]] Block from_right(Count i) const {
        return hears_right() && !is_outside(i) ? from_right_.slot(i, own_[i]) : Block();
    }
    [[nodiscard]] Block to_parent(Count i) const {
        if (place_.is_last || is_outside(i)) return {};
        return place_.has_right ? whole_.slot(i, own_[i]) : up_to_own(i);
    }
    [[nodiscard]] Work after_left(Count i) const {
        Work work{};
        if (from_left(i).empty()) return work;
        if (kind_ == ScanKind::inclusive || !place_.is_last)
            work[0] = combine(from_left(i), own_[i]).into(up_to_own(i));
        if (hears_right() && !place_.left_first) work[1] = sum_of_subtree(i);
        return work;
    }
    [[nodiscard]] Work after_right(Count i) const {
        Work work{};
        if (!from_right(i).empty() && (place_.left_first || !place_.has_left)) work[0] = sum_of_subtree(i);
        return work;
    }

    // ---- downwards

    [[nodiscard]] Block from_parent(Count i) const {
        if (place_.is_first || is_outside(i)) return {};
        return kind_ == ScanKind::inclusive || place_.has_left ? before_.slot(i, own_[i]) : result_[i];
    }
    [[nodiscard]] Block to_left(Count i) const { return place_.has_left ? from_parent(i) : Block(); }
    [[nodiscard]] Block to_right(Count i) const {
        if (!place_.has_right || is_outside(i)) return {};
        if (kind_ == ScanKind::inclusive) return place_.is_first ? up_to_own(i) : result_[i];
        return result_exists() ? prefix_.slot(i, own_[i]) : own_[i];
    }
    [[nodiscard]] Work after_parent(Count i) const {
        Work work{};
        const Block before = from_parent(i);
        if (before.empty()) return work;
        if (kind_ == ScanKind::inclusive) work[0] = combine(before, up_to_own(i)).into(result_[i]);
        else if (place_.has_left) work[0] = combine(before, result_[i]).into(result_[i]);
        return work;
    }
    /// What must be done before `to_right(i)` holds what shall be sent.
    [[nodiscard]] Work before_right(Count i) const {
        Work work{};
        if (kind_ == ScanKind::exclusive && result_exists() && !to_right(i).empty()) {
            work[0] = combine(result_[i], own_[i]).into(prefix_.slot(i, own_[i]));
        }
        return work;
    }

    /// The first rank hears from nobody: its own input is its inclusive prefix.
    [[nodiscard]] bool copies_own() const {
        return kind_ == ScanKind::inclusive && place_.is_first && !place_.has_left;
    }

  private:
    static constexpr Segments none{Block(), 1};

    [[nodiscard]] bool is_outside(Count i) const { return i < 0 || i >= own_.size(); }
    [[nodiscard]] bool hears_right() const { return place_.has_right && !place_.is_last; }
    /// Of an exclusive scan: on all but the first rank.
    [[nodiscard]] bool result_exists() const { return place_.has_left || !place_.is_first; }

    /// The sum of the left subtree and this rank.
    [[nodiscard]] Block up_to_own(Count i) const {
        if (!place_.has_left) return own_[i];
        return kind_ == ScanKind::inclusive ? result_[i] : up_to_own_.slot(i, own_[i]);
    }
    [[nodiscard]] Combine sum_of_subtree(Count i) const {
        return combine(up_to_own(i), from_right_.slot(i, own_[i])).into(whole_.slot(i, own_[i]));
    }

    ScanKind kind_;
    PrefixPlace place_;
    Segments own_, result_;
    SegmentRing from_left_, from_right_;
    SegmentRing whole_;      // sums of the whole subtree
    SegmentRing up_to_own_;  // of an exclusive scan: sums of the left subtree and this rank
    SegmentRing prefix_;     // of an exclusive scan: sums of all up to this rank
    SegmentRing before_;     // sums of all before the subtree
};

}  // namespace rondo
