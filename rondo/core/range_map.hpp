// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iterator>
#include <map>
#include <utility>

#include "rondo/core/block.hpp"

namespace rondo {

/// A function on the elements 0, 1, 2, ... of a buffer that is constant on runs: it costs memory by the number of runs,
/// not of elements. What was last written where, who is reading what, which symbol an element holds.
template <class Value>
class RangeMap {
  public:
    RangeMap() { runs_.emplace(0, Value{}); }

    /// Calls `visit(first, last, Value&)` for every run inside [first, last), in order; runs that reach over a border
    /// are cut there. The value may be changed.
    template <class Visitor>
    void visit(Count first, Count last, Visitor&& visitor) {
        if (first >= last) return;
        auto run = cut(first);
        const auto end = cut(last);
        while (run != end) {
            const auto next = std::next(run);
            visitor(run->first, next->first, run->second);  // `end` starts at `last`
            run = next;
        }
    }

    template <class Visitor>
    void visit(const Block& block, Visitor&& visitor) {
        visit(block.first, block.last(), visitor);
    }

    /// Makes [first, last) one run.
    void assign(Count first, Count last, Value value) {
        if (first >= last) return;
        const auto begin = cut(first);
        const auto end = cut(last);
        begin->second = std::move(value);
        runs_.erase(std::next(begin), end);
    }

  private:
    using Runs = std::map<Count, Value>;

    /// The run that starts at `at`, cut out of the run that holds it.
    typename Runs::iterator cut(Count at) {
        auto after = runs_.upper_bound(at);
        auto holder = std::prev(after);
        if (holder->first == at) return holder;
        return runs_.emplace_hint(after, at, holder->second);
    }

    Runs runs_;
};

}  // namespace rondo
