// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rondo::testbed {
namespace {

// A frame keeps others from a lane for a sixteenth of the latency, but is not shorter than an Ethernet frame's data.
// Two ranks of Open MPI that exchange 1 MiB (2 ms, 200 Mbit/s) take 48.7 to 50 ms, the model's 44 and a rendezvous.
// Packets served whole, first come, first served, gave 51 or 93: control messages waited behind data.
constexpr double frames_in_a_latency = 16;
constexpr std::uint32_t shortest_frame = 1500, longest_frame = 65536;
constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();

template <class Queue>
Nanoseconds first_time(const Queue& ends) {
    return ends.empty() ? never : ends.top().time;
}

}  // namespace

NetworkModel::NetworkModel(unsigned nodes, unsigned lanes)
    : nodes_(nodes), egress_(nodes, FairPort(lanes)), ingress_(nodes, FairPort(lanes)) {}

void NetworkModel::set(Nanoseconds latency, std::uint64_t bits_per_second) {
    latency_ = latency;
    nanoseconds_per_byte_ = 8e9 / static_cast<double>(bits_per_second);
    const double wanted = static_cast<double>(latency) / nanoseconds_per_byte_ / frames_in_a_latency;
    frame_bytes_ = static_cast<std::uint32_t>(std::clamp<double>(wanted, shortest_frame, longest_frame));
}

void NetworkModel::send(const Packet& packet, Nanoseconds time) {
    run_until(time);
    if (packet.from == nodes_ || packet.to == nodes_) {
        undisturbed_.push({{packet.name, packet.to, now_}, order_++});
    } else if (packet.is_acknowledgement) {
        undisturbed_.push({{packet.name, packet.to, now_ + latency_}, order_++});
    } else {
        egress_[packet.from].enqueue({packet.flow, packet.name, packet.bytes, packet.to});
        start_egress(packet.from);
    }
}

std::optional<NetworkModel::Delivery> NetworkModel::deliver(Nanoseconds now) {
    if (due_.empty()) run_until(now);
    if (due_.empty()) return std::nullopt;
    const Delivery first = due_.front();
    due_.pop_front();
    return first;
}

// Frames that do not complete a packet need no wake-up of their own: what they lead to is computed when a packet may be
// complete. What ends at an egress shows at the other end a latency later.
std::optional<Nanoseconds> NetworkModel::next() const {
    if (!due_.empty()) return due_.front().time;
    Nanoseconds time = hints_.empty() ? never : hints_.top();
    if (!undisturbed_.empty()) time = std::min(time, undisturbed_.top().delivery.time);
    if (!egress_ends_.empty()) time = std::min(time, egress_ends_.top().time + latency_);
    return time == never ? std::nullopt : std::optional(time);
}

void NetworkModel::run_until(Nanoseconds time) {
    while (step(time)) {
    }
    now_ = std::max(now_, time);
    while (!hints_.empty() && hints_.top() <= now_) hints_.pop();
}

// The earliest of what happens until then. At equal times lanes get free before frames arrive.
bool NetworkModel::step(Nanoseconds until) {
    const Nanoseconds ingress = first_time(ingress_ends_), egress = first_time(egress_ends_);
    const Nanoseconds flight = flights_.empty() ? never : flights_.front().arrival;
    const Nanoseconds undisturbed = undisturbed_.empty() ? never : undisturbed_.top().delivery.time;
    const Nanoseconds time = std::min({ingress, egress, flight, undisturbed});
    if (time > until || time == never) return false;
    now_ = std::max(now_, time);
    if (time == ingress) {
        end_ingress();
    } else if (time == egress) {
        const End end = egress_ends_.top();
        egress_ends_.pop();
        egress_[end.node].finish(end.time);
        start_egress(end.node);
    } else if (time == flight) {
        arrive();
    } else {
        due_.push_back(undisturbed_.top().delivery);
        undisturbed_.pop();
    }
    return true;
}

void NetworkModel::start_egress(unsigned node) {
    while (const auto service = egress_[node].start(now_, frame_bytes_, nanoseconds_per_byte_)) {
        egress_ends_.push({service->end, node});
        const Nanoseconds before = flights_.empty() ? 0 : flights_.back().arrival;  // later, if the latency has shrunk
        flights_.push_back({std::max(now_ + latency_, before), service->frame});
        if (service->frame.completes_packet) hints_.push(flights_.back().arrival + (service->end - now_));
    }
}

void NetworkModel::arrive() {
    const Frame frame = flights_.front().frame;
    flights_.pop_front();
    ingress_[frame.to].enqueue(frame);
    start_ingress(frame.to);
}

void NetworkModel::start_ingress(unsigned node) {
    FairPort& port = ingress_[node];
    while (const auto service = port.start(now_, longest_frame, nanoseconds_per_byte_)) {
        ingress_ends_.push({service->end, node});
        if (service->frame.completes_packet) hints_.push(service->end);
    }
    if (port.is_completion_waiting()) hints_.push(port.next_end());  // it may be its turn then
}

void NetworkModel::end_ingress() {
    const End end = ingress_ends_.top();
    ingress_ends_.pop();
    const Frame frame = ingress_[end.node].finish(end.time);
    if (frame.completes_packet) due_.push_back({frame.packet, frame.to, end.time});
    start_ingress(end.node);
}

}  // namespace rondo::testbed
