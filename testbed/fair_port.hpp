// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace rondo::testbed {

using Nanoseconds = std::int64_t;

/// A part of a packet, as the wire carries it.
struct Frame {
    std::uint64_t flow;    ///< frames of a flow are served one at a time, in order
    std::uint32_t packet;  ///< the caller's name for the packet
    std::uint32_t bytes;
    unsigned to;
    bool completes_packet = true;
    std::uint32_t way = 0;     ///< the caller's name for the ports that it passes
    std::uint32_t passed = 0;  ///< how many of them it is through
};

/// One direction of a link: lanes that serve frames, each for as long as its bytes take.
///
/// Flows share it by start-time fair queueing [goyal1997sfq]: a flow that sends little does not wait behind the backlog
/// of one that sends much. The lanes are pooled: a flow uses one at a time, k flows use k. Virtual time only: nothing
/// here sleeps.
class FairPort {
  public:
    struct Service {
        Nanoseconds end;
        Frame frame;
    };

    explicit FairPort(unsigned lanes) : lanes_(lanes) {}

    void enqueue(const Frame& frame);

    /// Puts the next frame on a free lane, or `most` bytes of it (the rest goes on waiting); nothing if no lane is free
    /// or no flow waits.
    std::optional<Service> start(Nanoseconds now, std::uint32_t most, double nanoseconds_per_byte);

    /// Frees the lane whose service ends at `end`, which start() returned, and tells what it carried.
    Frame finish(Nanoseconds end);

    /// A frame that completes a packet waits for a lane.
    [[nodiscard]] bool is_completion_waiting() const { return completions_waiting_ > 0; }

    /// When the next lane gets free; only while one is occupied.
    [[nodiscard]] Nanoseconds next_end() const;

  private:
    struct Flow {
        std::deque<Frame> frames;
        std::uint64_t finish_tag = 0;
        bool in_service = false;
    };
    struct Waiting {
        std::uint64_t start_tag;
        std::uint64_t order;  // of becoming ready, among equal tags
        std::uint64_t flow;
        bool operator>(const Waiting& other) const {
            return start_tag != other.start_tag ? start_tag > other.start_tag : order > other.order;
        }
    };

    void wait(std::uint64_t flow, std::uint64_t start_tag) { waiting_.push({start_tag, order_++, flow}); }

    unsigned lanes_;
    std::vector<Service> in_service_;
    std::unordered_map<std::uint64_t, Flow> flows_;
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
    std::uint64_t virtual_time_ = 0;  // in bytes: of the frame that was put on a lane last
    std::uint64_t order_ = 0;
    std::size_t completions_waiting_ = 0;
};

}  // namespace rondo::testbed
