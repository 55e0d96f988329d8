// SPDX-License-Identifier: BSD-3-Clause
// [goyal1997sfq] P. Goyal, H. Vin, H. Cheng: Start-time fair queueing, IEEE/ACM Transactions on Networking 5(5), 1997.
#include "testbed/fair_port.hpp"

#include <algorithm>
#include <cmath>

namespace rondo::testbed {

void FairPort::enqueue(const Frame& frame) {
    Flow& flow = flows_[frame.flow];
    if (flow.frames.empty() && !flow.in_service) wait(frame.flow, std::max(virtual_time_, flow.finish_tag));
    flow.frames.push_back(frame);
    completions_waiting_ += frame.completes_packet ? 1 : 0;
}

std::optional<FairPort::Service> FairPort::start(Nanoseconds now, std::uint32_t most, double nanoseconds_per_byte) {
    if (in_service_.size() == lanes_ || waiting_.empty()) return std::nullopt;
    const Waiting next = waiting_.top();
    waiting_.pop();

    Flow& flow = flows_[next.flow];
    Frame frame = flow.frames.front();
    if (frame.bytes > most) {
        flow.frames.front().bytes -= most;
        frame.bytes = most;
        frame.completes_packet = false;
    } else {
        flow.frames.pop_front();
        completions_waiting_ -= frame.completes_packet ? 1 : 0;
    }
    virtual_time_ = std::max(virtual_time_, next.start_tag);
    flow.finish_tag = next.start_tag + frame.bytes;
    flow.in_service = true;
    in_service_.push_back({now + std::llround(frame.bytes * nanoseconds_per_byte), frame});
    return in_service_.back();
}

Frame FairPort::finish(Nanoseconds end) {
    const auto service = std::ranges::find(in_service_, end, &Service::end);
    const Frame frame = service->frame;
    in_service_.erase(service);

    Flow& flow = flows_[frame.flow];
    flow.in_service = false;
    if (!flow.frames.empty()) wait(frame.flow, flow.finish_tag);
    if (in_service_.empty() && waiting_.empty()) {  // idle: nobody has had more than others
        flows_.clear();
        virtual_time_ = 0;
    }
    return frame;
}

Nanoseconds FairPort::next_end() const { return std::ranges::min(in_service_, {}, &Service::end).end; }

}  // namespace rondo::testbed
