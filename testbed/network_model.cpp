// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/network_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

NetworkModel::NetworkModel(unsigned nodes, unsigned lanes, const std::optional<virtual_machine::NetworkShape>& shape)
    : nodes_(nodes), lanes_(lanes), egress_(nodes, FairPort(lanes)), far_(nodes, FarPort{.port = FairPort(lanes)}) {
    if (!shape) return;
    std::vector<Rank> places(nodes);
    std::iota(places.begin(), places.end(), 0);
    network_.emplace(*shape, std::move(places));
}

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
        return;
    }
    const std::uint32_t number = way(packet.from, packet.to);
    if (packet.is_acknowledgement) {
        undisturbed_.push({{packet.name, packet.to, now_ + latency_ + ways_[number].hops}, order_++});
    } else {
        egress_[packet.from].enqueue(
            {.flow = packet.flow, .packet = packet.name, .bytes = packet.bytes, .to = packet.to, .way = number});
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
    const Nanoseconds far = first_time(far_ends_), egress = first_time(egress_ends_);
    const Nanoseconds flight = flights_.empty() ? never : flights_.top().arrival;
    const Nanoseconds undisturbed = undisturbed_.empty() ? never : undisturbed_.top().delivery.time;
    const Nanoseconds time = std::min({far, egress, flight, undisturbed});
    if (time > until || time == never) return false;
    now_ = std::max(now_, time);
    if (time == far) {
        end_far();
    } else if (time == egress) {
        const End end = egress_ends_.top();
        egress_ends_.pop();
        egress_[end.port].finish(end.time);
        start_egress(end.port);
    } else if (time == flight) {
        arrive();
    } else {
        due_.push_back(undisturbed_.top().delivery);
        undisturbed_.pop();
    }
    return true;
}

void NetworkModel::start_egress(std::size_t node) {
    while (const auto service = egress_[node].start(now_, frame_bytes_, nanoseconds_per_byte_)) {
        egress_ends_.push({service->end, node});
        last_arrival_ = std::max(now_ + latency_, last_arrival_);  // later than now if the latency has shrunk
        const Nanoseconds arrival = last_arrival_ + ways_[service->frame.way].hops;
        fly(service->frame, arrival);
        if (service->frame.completes_packet) hints_.push(arrival + (service->end - now_));
    }
}

void NetworkModel::arrive() {
    const Frame frame = flights_.top().frame;
    flights_.pop();
    far_[next_port(frame)].port.enqueue(frame);
    start_far(next_port(frame));
}

// A frame goes on from a link as it comes in, but does not come out of the next one before it is through this one.
void NetworkModel::start_far(std::size_t number) {
    auto& [port, rate] = far_[number];
    while (const auto service = port.start(now_, longest_frame, nanoseconds_per_byte_ / rate)) {
        far_ends_.push({service->end, number});
        Nanoseconds through = service->end;
        Frame frame = service->frame;
        if (++frame.passed < ways_[frame.way].ports.size()) {
            const Nanoseconds next = service_time(frame, next_port(frame));
            through = std::max(through, now_ + next);
            fly(frame, through - next);
        }
        if (frame.completes_packet) hints_.push(through);
    }
    if (port.is_completion_waiting()) hints_.push(port.next_end());  // it may be its turn then
}

void NetworkModel::end_far() {
    const End end = far_ends_.top();
    far_ends_.pop();
    const Frame frame = far_[end.port].port.finish(end.time);
    const bool is_there = frame.passed + 1 == ways_[frame.way].ports.size();
    if (is_there && frame.completes_packet) due_.push_back({frame.packet, frame.to, end.time});
    start_far(end.port);
}

std::uint32_t NetworkModel::way(unsigned from, unsigned to) {
    const auto [found, is_new] = numbers_of_ways_.try_emplace({from, to}, static_cast<std::uint32_t>(ways_.size()));
    if (!is_new) return found->second;
    Way fresh;
    if (network_) {
        const virtual_machine::Network& network = *network_;
        std::vector<virtual_machine::NetworkLink> links;
        network.route(static_cast<Rank>(from), static_cast<Rank>(to), links);
        for (const auto& link : links) fresh.ports.push_back(port_of(link));
        fresh.hops = std::llround(1e9 * network.shape().hop * static_cast<double>(links.size()));
    }
    fresh.ports.push_back(to);
    ways_.push_back(std::move(fresh));
    return found->second;
}

std::size_t NetworkModel::port_of(const virtual_machine::NetworkLink& link) {
    const auto [found, is_new] = links_.try_emplace(link.number, far_.size());
    if (is_new) far_.push_back({.port = FairPort(1), .rate = link.capacity * lanes_});
    return found->second;
}

Nanoseconds NetworkModel::service_time(const Frame& frame, std::size_t port) const {
    return std::llround(frame.bytes * nanoseconds_per_byte_ / far_[port].rate);
}

}  // namespace rondo::testbed
