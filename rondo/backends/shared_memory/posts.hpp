// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rondo::shared_memory {

/// What a message is known by on one side.
struct Post {
    int neighbour = 0;
    std::uint32_t tag = 0;
    std::uint32_t index = 0;  ///< the caller's name for it
    bool lets_pass = false;   ///< the next one with this neighbour and tag may move
};

/// Messages one way that are under way, in the order of their posts. Those of one neighbour and tag go one after
/// another; others pass them. `Each` is a `Post` with whatever else it takes.
template <class Each>
class Posts {
  public:
    /// Throws std::bad_alloc; nothing else does.
    Each& add() { return all_.emplace_back(); }
    [[nodiscard]] bool last_is_held_up() const { return is_held_up(all_.back(), all_.data(), &all_.back()); }
    [[nodiscard]] Each& last() { return all_.back(); }
    void remove_last() { all_.pop_back(); }

    /// Lets each that may move do so: `advance` says whether it is complete. Then its index goes to `completed`, which
    /// has room for all.
    template <class Advance>
    void advance(std::vector<std::uint32_t>& completed, Advance&& advance) {
        Each* const first = all_.data();
        Each* const last = first + all_.size();
        Each* kept = first;
        for (Each* each = first; each != last; ++each) {
            if (!is_held_up(*each, first, kept) && advance(*each)) {
                completed.push_back(each->index);
            } else {
                if (kept != each) *kept = *each;
                ++kept;
            }
        }
        if (kept != last) all_.erase(all_.begin() + (kept - first), all_.end());
    }

    /// The first neighbour of one that is under way for which it holds; -1 if there is none.
    template <class Condition>
    [[nodiscard]] int find_neighbour(Condition&& condition) const {
        const auto found =
            std::find_if(all_.begin(), all_.end(), [&](const Each& each) { return condition(each.neighbour); });
        return found == all_.end() ? -1 : found->neighbour;
    }

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] bool empty() const { return all_.empty(); }
    [[nodiscard]] auto begin() const { return all_.begin(); }
    [[nodiscard]] auto end() const { return all_.end(); }
    void clear() { all_.clear(); }

  private:
    /// By one of [begin, end), which were posted earlier.
    [[nodiscard]] static bool is_held_up(const Each& each, const Each* begin, const Each* end) {
        for (const Each* earlier = begin; earlier != end; ++earlier) {
            if (!earlier->lets_pass && earlier->neighbour == each.neighbour && earlier->tag == each.tag) return true;
        }
        return false;
    }

    std::vector<Each> all_;
};

}  // namespace rondo::shared_memory
