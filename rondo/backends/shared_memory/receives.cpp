// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/receives.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::shared_memory {
namespace {

/// What one poll copies at most, so that other messages need not wait long.
constexpr std::size_t poll_bytes = std::size_t{256} << 10;

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
    if (header.place != Place::lines) tell_sender(from, arrival.reference.parcel);
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
        if (each.source.parcel != 0) tell_sender(each.neighbour, each.source.parcel);
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
            tell_sender(receive.neighbour, receive.source.parcel);
            receive.source = {};
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
    receive.lets_pass = receive.lets_pass || header.last;
    const bool is_here = header.place == Place::lines;
    const std::uint64_t bytes = is_here ? header.bytes : arrival.reference.bytes;
    if (bytes > room) {
        if (!is_here) tell_sender(receive.neighbour, arrival.reference.parcel);
        return fail(too_long);
    }
    const bool is_first = receive.filled == 0;
    if (consumer_ != nullptr && is_first && consumer_->wants(receive.index)) receive.consumer = consumer_;
    if (is_here) {
        if (receive.consumer != nullptr) receive.consumer->consume(receive.index, into, receive.filled, bytes);
        receive.filled += bytes;
        return true;
    }
    if (channel(receive.neighbour).memory(arrival.reference.parcel, sizeof(ParcelHead) + bytes) == nullptr) {
        return fail("a process of this node refers to memory that it does not share");
    }
    receive.source = arrival.reference;
    receive.source_read = 0;
    return true;
}

/// More of what a message refers to. True when all is read.
bool Receives::read(Receive& receive) {
    const Reference& source = receive.source;
    const std::byte* const data =
        channel(receive.neighbour).memory(source.parcel, sizeof(ParcelHead) + source.bytes) + sizeof(ParcelHead);
    while (receive.source_read < source.bytes && budget_ > 0) {
        const std::size_t most = (budget_ + Consumer::granule - 1) / Consumer::granule * Consumer::granule;
        const std::size_t bytes = std::min<std::size_t>(source.bytes - receive.source_read, most);
        const std::size_t first = receive.filled + receive.source_read;
        const std::byte* const from = data + receive.source_read;
        if (receive.consumer != nullptr) receive.consumer->consume(receive.index, from, first, bytes);
        else std::memcpy(receive.into + first, from, bytes);
        receive.source_read += bytes;
        budget_ -= std::min(budget_, bytes);
        moved_ = true;
    }
    if (receive.source_read < source.bytes) return false;
    receive.filled += source.bytes;
    return true;
}

void Receives::tell_sender(int neighbour, std::uint64_t parcel) const {
    std::byte* const head = channel(neighbour).memory(parcel, sizeof(ParcelHead));
    if (head != nullptr) tell_read(reinterpret_cast<ParcelHead*>(head)->read);
}

}  // namespace rondo::shared_memory
