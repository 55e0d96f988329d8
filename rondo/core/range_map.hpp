// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iterator>
#include <map>
#include <memory_resource>
#include <utility>

#include "rondo/core/block.hpp"

namespace rondo {

/// A function on the elements 0, 1, 2, ... of a buffer that is constant on runs: it costs memory by the number of runs,
/// not of elements. What was last written where, who is reading what, which symbol an element holds.
template <class Value>
class RangeMap {
  public:
    RangeMap() : RangeMap(std::pmr::get_default_resource()) {}
    /// `memory` must live as long as the map.
    explicit RangeMap(std::pmr::memory_resource* memory) : runs_(memory), recent_(runs_.emplace(0, Value{}).first) {}

    RangeMap(const RangeMap&) = delete;  // a copy's iterators are others
    RangeMap& operator=(const RangeMap&) = delete;
    RangeMap(RangeMap&&) noexcept = default;
    ~RangeMap() = default;

    /// Calls `visit(first, last, Value&)` for every run inside [first, last), in order; runs that reach over a border
    /// are cut there. The value may be changed.
    template <class Visitor>
    void visit(Count first, Count last, Visitor&& visitor) {
        if (first < last) visit_from(cut(first), last, visitor);
    }

    template <class Visitor>
    void visit(const Block& block, Visitor&& visitor) {
        visit(block.first, block.last(), visitor);
    }

    /// Makes [first, last) one run.
    void assign(Count first, Count last, Value value) {
        replace(first, last, std::move(value), [](Count, Count, const Value&) {});
    }

    /// Makes [first, last) one run, after `visit(first, last, Value&)` of every run that was there.
    template <class Visitor>
    void replace(Count first, Count last, Value value, Visitor&& visitor) {
        if (first >= last) return;
        const auto begin = cut(first);
        const auto end = visit_from(begin, last, visitor);
        begin->second = std::move(value);
        runs_.erase(std::next(begin), end);
        recent_ = begin;
    }

  private:
    using Runs = std::pmr::map<Count, Value>;

    /// The run that starts at `at`, cut out of the run that holds it.
    typename Runs::iterator cut(Count at) {
        const auto after = run_behind(at), holder = std::prev(after);
        recent_ = holder->first == at ? holder : runs_.emplace_hint(after, at, holder->second);
        return recent_;
    }

    /// The first run that starts behind `at`. Schedules go through their buffers part by part, up or down: it is
    /// sought next to the latest one before the whole map is.
    typename Runs::iterator run_behind(Count at) {
        auto run = recent_;
        if (run->first > at && run != runs_.begin()) --run;
        for (int tries = 0; run->first <= at && tries < 3; ++tries) {
            ++run;
            if (run == runs_.end() || run->first > at) return run;
        }
        return runs_.upper_bound(at);
    }

    /// Visits the runs from `run` on up to `last`, where a run is cut; the one that starts there.
    template <class Visitor>
    typename Runs::iterator visit_from(typename Runs::iterator run, Count last, Visitor& visitor) {
        for (;;) {
            auto next = std::next(run);
            if (next == runs_.end() || next->first > last) next = runs_.emplace_hint(next, last, run->second);
            visitor(run->first, next->first, run->second);
            if (next->first == last) return next;
            run = next;
        }
    }

    Runs runs_;
    typename Runs::iterator recent_;  ///< a run that was asked for last, or one beside it
};

}  // namespace rondo
