// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/receives.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "rondo/backends/shared_memory/shares.hpp"

namespace rondo::shared_memory {
namespace {

/// What one poll copies at most, so that other messages need not wait long.
constexpr std::size_t poll_bytes = std::size_t{256} << 10;
/// Read in another process at once, where it is consumed next: well within a core's own cache.
constexpr std::size_t consumed_bytes = std::size_t{128} << 10;

}  // namespace

void Receives::post(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index) {
    Receive& receive = posts_.add();
    receive.into = static_cast<std::byte*>(into);
    receive.bytes = bytes;
    receive.neighbour = from;
    receive.tag = tag;
    receive.index = index;
}

bool Receives::receive_now(int from, std::uint32_t tag, void* into, std::size_t bytes) {
    Channel::Arrival arrival;
    if (!channel(from).take(tag, arrival, into, bytes)) return false;
    const Header& header = arrival.header;
    if (header.place == Place::lines && header.bytes <= bytes) return true;
    if (header.place != Place::lines) tell_sender(from, arrival.reference, arrival.reference.bytes);
    return fail(too_long);
}

bool Receives::poll(std::vector<std::uint32_t>& completed) {
    moved_ = false;
    budget_ = poll_bytes;
    posts_.advance(completed, [this](Receive& each) { return failure_ == nullptr && advance(each); });
    return moved_;
}

int Receives::ended_neighbour() const {
    return posts_.find_neighbour([this](int each) { return channel(each).neighbour_has_ended(); });
}

void Receives::let_go() {
    for (const Receive& each : posts_) {
        if (each.source.parcel == 0) continue;
        if (each.shared != nullptr) take_back(each);
        tell_sender(each.neighbour, each.source, each.source.bytes);
    }
}

void Receives::clear() {
    posts_.clear();
    failure_ = nullptr;
}

bool Receives::fail(const char* why) {
    failure_ = why;
    return false;
}

/// True when it is complete.
bool Receives::advance(Receive& receive) {
    while (budget_ > 0) {
        if (receive.source.parcel == 0) {
            if (!take(receive)) return false;
            if (receive.source.parcel != 0) continue;
        } else {
            if (!read(receive)) return false;
            tell_sender(receive.neighbour, receive.source, receive.source_read);
            receive.is_last = receive.is_last && receive.source_read == receive.source.bytes;
            receive.filled += receive.source_read;
            receive.source = {};
            receive.shared = nullptr;
        }
        if (receive.is_last) return true;
    }
    return false;
}

/// The next piece, if it is there.
bool Receives::take(Receive& receive) {
    const std::size_t room = receive.bytes - receive.filled;
    std::byte* const into = receive.into + receive.filled;
    Channel::Arrival arrival;
    if (!channel(receive.neighbour).take(receive.tag, arrival, into, room)) return false;
    moved_ = true;
    const Header& header = arrival.header;
    receive.is_last = header.last;
    const bool is_whole = header.last && (header.place == Place::lines || arrival.reference.address == 0);
    receive.lets_pass = receive.lets_pass || is_whole;
    const bool is_here = header.place == Place::lines;
    const std::uint64_t bytes = is_here ? header.bytes : arrival.reference.bytes;
    if (bytes > room) {
        if (!is_here) tell_sender(receive.neighbour, arrival.reference, arrival.reference.bytes);
        return fail(too_long);
    }
    const bool is_first = !std::exchange(receive.is_begun, true);
    if (consumer_ != nullptr && is_first && consumer_->wants(receive.index)) receive.consumer = consumer_;
    if (is_here) {
        if (receive.consumer != nullptr) receive.consumer->consume(receive.index, into, receive.filled, bytes);
        receive.filled += bytes;
        return true;
    }
    const std::uint64_t shared = sizeof(ParcelHead) + (arrival.reference.address == 0 ? bytes : 0);
    if (channel(receive.neighbour).memory(arrival.reference.parcel, shared) == nullptr) {
        return fail("a process of this node refers to memory that it does not share");
    }
    receive.source = arrival.reference;
    receive.source_read = 0;
    if (arrival.reference.address != 0 && receive.consumer == nullptr) share(receive);
    return true;
}

/// Invites the sender to copy from the other end.
void Receives::share(Receive& receive) const {
    std::byte* const head = channel(receive.neighbour).memory(receive.source.parcel, sizeof(ParcelHead));
    receive.shared = reinterpret_cast<ParcelHead*>(head);
    receive.is_refused = false;
    receive.shared->into.store(reinterpret_cast<std::uintptr_t>(receive.into + receive.filled),
                               std::memory_order_release);
}

/// More of what a message refers to. True when all is read, or all that can be.
bool Receives::read(Receive& receive) {
    const Reference& source = receive.source;
    if (receive.shared != nullptr) return read_shares(receive);
    while (receive.source_read < source.bytes && budget_ > 0) {
        const std::size_t most = (budget_ + Consumer::granule - 1) / Consumer::granule * Consumer::granule;
        const std::size_t bytes = std::min<std::size_t>(source.bytes - receive.source_read, most);
        const std::size_t count = source.address == 0 ? read_parcel(receive, bytes) : read_process(receive, bytes);
        receive.source_read += count;
        budget_ -= std::min(budget_, count);
        moved_ = true;
        if (count == 0) return true;
    }
    return receive.source_read == source.bytes;
}

/// The reader's shares lie one behind the other, up to those of the sender.
bool Receives::read_shares(Receive& receive) {
    const Shares shares(receive.source.bytes);
    ParcelHead& head = *receive.shared;
    while (!receive.is_refused && budget_ > 0) {
        const Share share = shares.take_front(head.taken);
        if (share.bytes == 0) break;
        const std::size_t count = read_process(receive, share.bytes);
        receive.source_read += count;
        receive.is_refused = count < share.bytes;
        budget_ -= std::min(budget_, count);
        moved_ = true;
    }
    if (receive.is_refused) {
        if (!shares.close(head.taken, head.written)) return false;
    } else {
        if (!shares.is_complete(head.taken, head.written)) return false;
        receive.source_read = receive.source.bytes;
    }
    return moved_ = true;
}

/// Nothing is written by the sender any more. It is waited for in the middle of a share: some microseconds, or until it
/// is found to have ended.
void Receives::take_back(const Receive& receive) const {
    const Shares shares(receive.source.bytes);
    while (!shares.close(receive.shared->taken, receive.shared->written)) {
        if (channel(receive.neighbour).neighbour_has_ended()) return;
        std::this_thread::yield();
    }
}

std::size_t Receives::read_parcel(const Receive& receive, std::size_t bytes) const {
    const std::byte* const from =
        channel(receive.neighbour).memory(receive.source.parcel, sizeof(ParcelHead) + receive.source.bytes) +
        sizeof(ParcelHead) + receive.source_read;
    const std::size_t first = receive.filled + receive.source_read;
    if (receive.consumer != nullptr) receive.consumer->consume(receive.index, from, first, bytes);
    else std::memcpy(receive.into + first, from, bytes);
    return bytes;
}

/// Less, or nothing, where that cannot be read: memory of a device, or the system has changed its mind. Then pieces are
/// to come. Where the sender has ended they do not, and whoever waits for it finds that out, as for any other message.
std::size_t Receives::read_process(const Receive& receive, std::size_t bytes) {
    const std::size_t first = receive.filled + receive.source_read;
    const std::uint64_t from = receive.source.address + receive.source_read;
    const bool is_consumed = receive.consumer != nullptr;
    if (is_consumed && !piece_) piece_.reset(new (std::nothrow) std::byte[consumed_bytes]);
    std::byte* const into = is_consumed && piece_ ? piece_.get() : receive.into + first;
    if (is_consumed) bytes = std::min(bytes, consumed_bytes);
    std::size_t count = channel(receive.neighbour).read(from, into, bytes);
    if (!is_consumed) return count;
    if (count < bytes) count = count / Consumer::granule * Consumer::granule;
    if (count > 0) receive.consumer->consume(receive.index, into, first, count);
    return count;
}

void Receives::tell_sender(int neighbour, const Reference& reference, std::uint64_t bytes) const {
    std::byte* const head = channel(neighbour).memory(reference.parcel, sizeof(ParcelHead));
    if (head != nullptr) tell_read(reinterpret_cast<ParcelHead*>(head)->read, bytes);
}

}  // namespace rondo::shared_memory
