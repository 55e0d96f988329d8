// SPDX-License-Identifier: BSD-3-Clause
// A wire that flows share as fluids do, as plainly as it can be written: see plain_time.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_set>
#include <vector>

namespace rondo::virtual_machine::plain {

/// One direction of a node. Times must not fall from call to call.
class SharedWire {
  public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr double never = std::numeric_limits<double>::infinity();

    /// So many flows go at the full rate together.
    explicit SharedWire(int lanes) : lanes_(lanes) {}

    /// A message that takes so many seconds at the full rate. Does it start now? Else it waits for others of its flow.
    bool enter(double now, std::uint64_t flow, double seconds, std::uint32_t message) {
        if (!busy_.insert(flow).second) {
            waiting_.push_back({flow, seconds, message});
            return false;
        }
        advance(now);
        start({flow, seconds, message});
        return true;
    }

    /// When the next message is through, if none enters before.
    [[nodiscard]] double due() const {
        return served_.empty() ? never : last_ + std::max(served_.top().end - service_, 0.0) / rate();
    }

    struct Through {
        std::uint32_t message;
        std::uint32_t next;  ///< of the same flow, which starts now; or none
    };
    /// Takes out the message that is due, now.
    Through pop(double now) {
        advance(now);
        const Served first = served_.top();
        served_.pop();
        service_ = std::max(service_, first.end);
        const auto next = std::find_if(waiting_.begin(), waiting_.end(),
                                       [&](const Message& each) { return each.flow == first.message.flow; });
        if (next == waiting_.end()) {
            busy_.erase(first.message.flow);
            return {first.message.name, none};
        }
        const Message started = *next;
        waiting_.erase(next);
        start(started);
        return {first.message.name, started.name};
    }

  private:
    struct Message {
        std::uint64_t flow;
        double seconds;
        std::uint32_t name;
    };
    /// With what its flow has got of the wire when it is through.
    struct Served {
        double end;
        std::uint64_t order;
        Message message;
        bool operator>(const Served& other) const { return end != other.end ? end > other.end : order > other.order; }
    };

    [[nodiscard]] double rate() const { return std::min(1.0, lanes_ / static_cast<double>(served_.size())); }

    void advance(double now) {
        if (!served_.empty()) service_ += (now - last_) * rate();
        last_ = now;
    }

    void start(const Message& message) { served_.push({service_ + message.seconds, order_++, message}); }

    double lanes_;
    double service_ = 0;  // what a flow has got that was there all the time, in seconds at the full rate
    double last_ = 0;     // until when that counts
    std::uint64_t order_ = 0;
    std::priority_queue<Served, std::vector<Served>, std::greater<>> served_;
    std::unordered_set<std::uint64_t> busy_;
    std::deque<Message> waiting_;  // for others of their flows, first come first
};

}  // namespace rondo::virtual_machine::plain
