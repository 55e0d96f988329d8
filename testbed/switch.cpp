// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/switch.hpp"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "testbed/addresses.hpp"
#include "testbed/failure.hpp"
#include "testbed/packet.hpp"

namespace rondo::testbed {
namespace {

constexpr Nanoseconds second = 1'000'000'000, longest_sleep = second / 5;
// Sleep ends late, on a virtual machine by 50 us. So it is made to end as much earlier as it lately ended late, and the
// rest of the time the switch polls: packets of a ping-pong are then 10 us late in the mean instead of 54. What is
// nothing to the latency is not worth a processor that the ranks could use.
constexpr Nanoseconds longest_oversleep = second / 10000, oversleep_memory = 8, latency_over_negligible = 64;
// Turns: what one node has sent, and what is due. A delivery makes the receiver send (acknowledgements) at once, so
// that long turns of deliveries would fill the receiver's ring.
constexpr unsigned packets_at_a_time = 32, deliveries_at_a_time = 32;
constexpr std::size_t bytes_at_a_time = std::size_t{256} << 10U;
constexpr Nanoseconds quiet = second / 50, longest_finish = second / 2;

Nanoseconds read_clock(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return Nanoseconds{time.tv_sec} * second + time.tv_nsec;
}

Nanoseconds now() { return read_clock(CLOCK_MONOTONIC); }

void add(Counter& counter, std::uint64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

void raise(Counter& counter, std::uint64_t value) {
    if (counter.load(std::memory_order_relaxed) < value) counter.store(value, std::memory_order_relaxed);
}

}  // namespace

Switch::Switch(std::vector<Cable> cables, Control& control, const std::optional<virtual_machine::NetworkShape>& shape)
    : cables_(std::move(cables)), control_(control), model_(control.nodes, control.lanes, shape),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (unsigned node = 0; node < cables_.size(); ++node) {
        epoll_event event{.events = EPOLLIN, .data = {.u32 = node}};
        if (::epoll_ctl(epoll_.number(), EPOLL_CTL_ADD, cables_[node].descriptor(), &event) != 0) {
            throw system_failure("cannot watch a packet socket");
        }
    }
    obey();
}

void Switch::run(const volatile std::sig_atomic_t& ends, const sigset_t& unblocked) {
    awake_since_ = now();
    while (ends == 0) {
        sleep(now() + longest_sleep, &unblocked);
        obey();
        take_in();
        deliver();
    }
}

void Switch::finish() {
    model_.set(0, std::uint64_t{1} << 60U);
    const Nanoseconds end = now() + longest_finish;
    Nanoseconds last = now();
    while (now() < std::min(end, last + quiet)) {
        sleep(last + quiet, nullptr);
        if (!ready_.empty() || model_.next()) last = now();
        take_in();
        deliver();
    }
}

void Switch::sleep(Nanoseconds deadline, const sigset_t* unblocked) {
    const Nanoseconds start = now();
    add(control_.busy_ns, static_cast<std::uint64_t>(start - awake_since_));
    const Nanoseconds due = std::min(model_.next().value_or(deadline), deadline);
    const Nanoseconds negligible = static_cast<Nanoseconds>(latency_ns_) / latency_over_negligible;
    const Nanoseconds pause = std::max<Nanoseconds>(due - start - std::max<Nanoseconds>(oversleep_ - negligible, 0), 0);
    const timespec time{.tv_sec = pause / second, .tv_nsec = pause % second};
    std::array<epoll_event, 256> events;
    // epoll_pwait2 sleeps to the nanosecond; libraries older than the kernel lack it.
    constexpr std::size_t signal_set_bytes = 8;  // no int: the kernel reads a whole word
    const long count =
        ::syscall(SYS_epoll_pwait2, epoll_.number(), events.data(), events.size(), &time, unblocked, signal_set_bytes);
    awake_since_ = now();
    if (pause > 0 && count == 0) {
        const Nanoseconds over = std::min(awake_since_ - start - pause, longest_oversleep);
        oversleep_ = over > oversleep_ ? over : oversleep_ - (oversleep_ - over) / oversleep_memory;
    }
    ready_.clear();
    for (long i = 0; i < count; ++i) ready_.push_back(events[static_cast<std::size_t>(i)].data.u32);
}

void Switch::obey() {
    const std::uint64_t latency = control_.latency_ns.load(std::memory_order_relaxed);
    const std::uint64_t rate = control_.bits_per_second.load(std::memory_order_relaxed);
    if (latency == latency_ns_ && rate == bits_per_second_) return;
    model_.set(static_cast<Nanoseconds>(latency), rate);
    latency_ns_ = latency;
    bits_per_second_ = rate;
}

void Switch::take_in() {
    if (awake_since_ - lost_counted_ > second / 10) count_lost();
    if (ready_.empty()) return;
    const Nanoseconds offset = now() - read_clock(CLOCK_REALTIME);
    for (const unsigned node : ready_) take_in(node, offset);
    std::ranges::stable_sort(arrivals_, {}, &Arrival::time);
    for (const Arrival& arrival : arrivals_) model_.send(arrival.packet, arrival.time);
    arrivals_.clear();
}

void Switch::take_in(unsigned node, Nanoseconds clock_offset) {
    std::size_t bytes = 0;
    for (unsigned count = 0; count < packets_at_a_time && bytes < bytes_at_a_time; ++count) {
        const auto packet = cables_[node].receive();
        if (!packet) break;
        bytes += packet->data.size();
        const auto facts = read_packet(packet->ip);
        const auto to = facts ? node_at(facts->destination, control_.nodes) : std::nullopt;
        if (to) {
            add(control_.packets, 1);
            add(control_.bytes, facts->payload);
            add(control_.queued, 1);
            arrivals_.push_back({std::min(packet->sent + clock_offset, now()),
                                 {.from = node,
                                  .to = *to,
                                  .flow = facts->flow,
                                  .bytes = facts->payload,
                                  .is_acknowledgement = facts->is_acknowledgement,
                                  .name = keep(packet->data)}});
        } else {
            add(control_.dropped, 1);
        }
        cables_[node].release();
    }
    raise(control_.most_queued, control_.queued.load(std::memory_order_relaxed));
}

std::uint32_t Switch::keep(std::span<const std::byte> data) {
    if (free_buffers_.empty()) {
        free_buffers_.push_back(static_cast<std::uint32_t>(buffers_.size()));
        buffers_.emplace_back();
    }
    const std::uint32_t name = free_buffers_.back();
    free_buffers_.pop_back();
    buffers_[name] = {std::make_unique_for_overwrite<std::byte[]>(data.size()), data.size()};
    std::memcpy(buffers_[name].data.get(), data.data(), data.size());
    return name;
}

void Switch::deliver() {
    for (unsigned count = 0; count < deliveries_at_a_time; ++count) {
        const Nanoseconds time = now();
        const auto delivery = model_.deliver(time);
        if (!delivery) break;
        Buffer buffer = std::move(buffers_[delivery->packet]);
        free_buffers_.push_back(delivery->packet);
        const auto lateness = static_cast<std::uint64_t>(std::max<Nanoseconds>(time - delivery->time, 0));
        raise(control_.worst_lateness_ns, lateness);
        add(control_.lateness_sum_ns, lateness);
        add(control_.queued, ~std::uint64_t{0});
        if (!cables_[delivery->to].transmit({buffer.data.get(), buffer.size})) add(control_.dropped, 1);
    }
}

void Switch::count_lost() {
    lost_counted_ = awake_since_;
    for (const Cable& cable : cables_) add(control_.dropped, cable.lost());
}

}  // namespace rondo::testbed
