// SPDX-License-Identifier: BSD-3-Clause
// What happens next in virtual time: a radix heap [ahuja1990faster] over the bits of the times. Nothing is scheduled
// before what happens now, and most things happen at the same time as others, so an event is moved a few times, from
// one row of memory to another, where a binary heap would compare it along a path of cache misses.
//
// [ahuja1990faster] R. K. Ahuja, K. Mehlhorn, J. B. Orlin, R. E. Tarjan, Faster algorithms for the shortest path
// problem, Journal of the ACM 37(2), 1990.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace rondo::virtual_machine {

/// Something that happens to somebody at a time, which is not negative.
struct Event {
    std::uint64_t time_bits;  ///< of the double: ordered as times are
    std::uint32_t who;
    std::uint32_t what;

    [[nodiscard]] double time() const { return std::bit_cast<double>(time_bits); }
};

/// Events in the order of their times; of two at the same time, the one that was scheduled first.
class EventQueue {
  public:
    void clear() {
        for (std::vector<Event>& row : rows_) row.clear();
        filled_ = 0;
        next_ = 0;
        now_bits_ = 0;
    }

    /// Not before what `pop` has given last.
    void push(double time, std::uint32_t who, std::uint32_t what) {
        // That of zero is not negative, and above no other.
        insert({std::bit_cast<std::uint64_t>(time + 0.0), who, what});
    }

    [[nodiscard]] bool empty() const { return next_ == rows_[0].size() && (filled_ & ~std::uint64_t{1}) == 0; }

    Event pop() {
        if (next_ == rows_[0].size()) fill_first_row();
        return rows_[0][next_++];
    }

    /// What comes so many events after the next one, if it happens at the same time; else nullptr.
    [[nodiscard]] const Event* ahead(std::size_t by) const {
        return next_ + by < rows_[0].size() ? &rows_[0][next_ + by] : nullptr;
    }

  private:
    /// Row 0 has what happens now; row i what differs from that in bit i - 1 of its time, and in none above. The sign
    /// never differs.
    static constexpr std::size_t rows = 64;

    [[nodiscard]] std::size_t row_of(std::uint64_t time_bits) const {
        return static_cast<std::size_t>(std::bit_width(time_bits ^ now_bits_));
    }

    void insert(const Event& event) {
        const std::size_t row = row_of(event.time_bits);
        rows_[row].push_back(event);
        filled_ |= std::uint64_t{1} << row;
    }

    /// The earliest row that has events is dealt out to those before it, which are empty.
    void fill_first_row() {
        rows_[0].clear();
        next_ = 0;
        const auto row = static_cast<std::size_t>(std::countr_zero(filled_ & ~std::uint64_t{1}));
        std::vector<Event>& events = rows_[row];
        const auto earliest = std::ranges::min_element(events, {}, &Event::time_bits);
        now_bits_ = earliest->time_bits;
        for (const Event& event : events) insert(event);
        events.clear();
        filled_ &= ~(std::uint64_t{1} << row);
    }

    std::array<std::vector<Event>, rows> rows_;
    std::uint64_t filled_ = 0;  // which rows have events; the first may have none
    std::size_t next_ = 0;      // of the first row
    std::uint64_t now_bits_ = 0;
};

}  // namespace rondo::virtual_machine
