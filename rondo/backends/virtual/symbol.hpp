// SPDX-License-Identifier: BSD-3-Clause
// What stands in an element when nothing is computed: which inputs were combined, in which order. Reductions of symbols
// prove that the same steps reduce anything rightly.
#pragma once

#include <string>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::virtual_machine {

/// V_first (+) V_{first+1} (+) ... (+) V_last.
struct Run {
    Rank first, last;
    friend bool operator==(const Run&, const Run&) = default;
};

/// A product of inputs of ranks, of the element `shift` further on in the origin's input than here. Order counts;
/// adjacent ranks in order are kept as one run. The default is an undefined element.
class Symbol {
  public:
    Symbol() = default;
    static Symbol input_of(Rank rank) { return of_ranks(rank, rank); }
    static Symbol of_ranks(Rank first, Rank last) {
        Symbol symbol;
        symbol.runs_.push_back({first, last});
        return symbol;
    }

    [[nodiscard]] bool defined() const { return !runs_.empty(); }
    /// The rank whose input this is, the very element; no_rank if it is of none, or of several.
    [[nodiscard]] Rank origin() const {
        const bool is_one = runs_.size() == 1 && runs_.front().first == runs_.front().last && shift_ == 0;
        return is_one ? runs_.front().first : no_rank;
    }

    /// left (+) right. With a commutative operator the runs are sorted, so that equal sets are equal symbols. Throws
    /// Error if an operand is undefined, speaks of another element, or (always) if an input would count twice.
    static Symbol combined(const Symbol& left, const Symbol& right, bool commutative);

    /// The symbol of the same data seen from a place `distance` elements further on.
    [[nodiscard]] Symbol moved(Count distance) const {
        Symbol symbol = *this;
        if (defined()) symbol.shift_ -= distance;  // nothing is the same everywhere
        return symbol;
    }

    /// How much further on in the origins' inputs the element stands.
    [[nodiscard]] Count shift() const { return shift_; }

    [[nodiscard]] std::string text() const;  ///< "V0..V3 V7"
    friend bool operator==(const Symbol&, const Symbol&) = default;

  private:
    std::vector<Run> runs_;
    Count shift_ = 0;
};

}  // namespace rondo::virtual_machine
