// SPDX-License-Identifier: BSD-3-Clause
// Wires that flows share as fluids do: who has something to send gets as much of it as anybody else. That is fair
// queueing [demers1989analysis] with short packets. Messages of one flow go one after the other.
//
// [demers1989analysis] A. Demers, S. Keshav, S. Shenker, Analysis and simulation of a fair queueing algorithm, ACM
// SIGCOMM 1989.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace rondo::virtual_machine {

/// One direction of a node, or of a link of the network, without its flows. Times must not fall from call to call.
class SharedWire {
  public:
    static constexpr double never = std::numeric_limits<double>::infinity();

    struct Message {
        std::uint32_t sender, number;
        std::uint32_t leg = 0;  ///< of its way, that this wire is
    };

    /// So many messages go at the full rate together.
    explicit SharedWire(double lanes) : lanes_(lanes) {}

    /// A message that takes so many seconds at the full rate.
    void start(double now, double seconds, Message message) {
        advance(now);
        served_.push_back({service_ + seconds, order_++, message});
        std::push_heap(served_.begin(), served_.end(), std::greater<>());
    }

    /// When the next message is through, if none starts before.
    [[nodiscard]] double due() const {
        return served_.empty() ? never : last_ + std::max(served_.front().end - service_, 0.0) / rate();
    }

    /// Takes out the message that is due, now.
    Message pop(double now) {
        advance(now);
        const Served first = served_.front();
        std::pop_heap(served_.begin(), served_.end(), std::greater<>());
        served_.pop_back();
        service_ = std::max(service_, first.end);
        return first.message;
    }

  private:
    /// With what it has got of the wire when it is through.
    struct Served {
        double end;
        std::uint32_t order;
        Message message;
        bool operator>(const Served& other) const { return end != other.end ? end > other.end : order > other.order; }
    };

    [[nodiscard]] double rate() const { return std::min(1.0, lanes_ / static_cast<double>(served_.size())); }

    void advance(double now) {
        if (!served_.empty()) service_ += (now - last_) * rate();
        last_ = now;
    }

    double lanes_;
    double service_ = 0;  // what a message has got that was there all the time, in seconds at the full rate
    double last_ = 0;     // until when that counts
    std::uint32_t order_ = 0;
    std::vector<Served> served_;  // a heap
};

/// Who waits for whom: messages of flows, each known by a number of its own, which `next` links.
class Flow {
  public:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

    /// Does the message start now? Else it waits for others of this flow.
    template <class Next>
    bool enter(std::uint32_t message, Next&& next) {
        if (last_ == none) {
            last_ = message;
            return true;
        }
        next(last_) = message;
        last_ = message;
        return false;
    }

    /// This one is through. The one that starts now, or none.
    template <class Next>
    std::uint32_t leave(std::uint32_t message, Next&& next) {
        if (last_ != message) return next(message);
        last_ = none;
        return none;
    }

  private:
    std::uint32_t last_ = none;  // under way or waiting
};

}  // namespace rondo::virtual_machine
