// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/receives.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rondo::shared_memory {
namespace {

/// What one poll copies at most, so that other messages need not wait long.
constexpr std::size_t poll_bytes = std::size_t{256} << 10;
/// Read in another process at once: well within a core's own cache.
constexpr std::size_t read_bytes = std::size_t{64} << 10;

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
    if (!channel(from).take({tag, false}, arrival, into, bytes)) return false;
    const Header& header = arrival.header;
    if (header.place == Place::lines && header.bytes <= bytes) return true;
    if (header.place != Place::lines) tell_sender(from, arrival.reference.parcel, Verdict::read);
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
        if (each.place != Place::lines) tell_sender(each.neighbour, each.source.parcel, Verdict::read);
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
        if (receive.place == Place::lines) {
            if (!take(receive)) return false;
            if (receive.place != Place::lines) continue;
        } else {
            if (!read(receive)) return false;
            tell_sender(receive.neighbour, receive.source.parcel, Verdict::read);
            receive.place = Place::lines;
        }
        if (!receive.is_last) continue;
        if (receive.refused != 0) tell_sender(receive.neighbour, receive.refused, Verdict::read);
        return true;
    }
    return false;
}

/// The next piece, if it is there.
bool Receives::take(Receive& receive) {
    const std::size_t room = receive.bytes - receive.filled;
    Channel::Arrival arrival;
    const Match match = receive.refused != 0 ? Match{parcel_number(receive.refused), true} : Match{receive.tag, false};
    if (!channel(receive.neighbour).take(match, arrival, receive.into + receive.filled, room)) return false;
    moved_ = true;
    const Header& header = arrival.header;
    receive.is_last = header.last;
    receive.lets_pass = receive.lets_pass || header.last;
    const bool is_here = header.place == Place::lines;
    const std::uint64_t bytes = is_here ? header.bytes : arrival.reference.bytes;
    if (bytes > room) {
        if (!is_here) tell_sender(receive.neighbour, arrival.reference.parcel, Verdict::read);
        return fail(too_long);
    }
    // What the system may refuse to read, having read half of it, would be consumed twice.
    if (consumer_ != nullptr && receive.filled == 0 && receive.refused == 0 && header.place != Place::process) {
        if (consumer_->wants(receive.index)) receive.consumer = consumer_;
    }
    if (is_here) {
        std::byte* const into = receive.into + receive.filled;
        if (receive.consumer != nullptr) receive.consumer->consume(receive.index, into, receive.filled, bytes);
        receive.filled += bytes;
        return true;
    }
    if (header.place == Place::region && channel(receive.neighbour).memory(arrival.reference.place, bytes) == nullptr) {
        return fail("a process of this node refers to memory that it does not share");
    }
    receive.place = header.place;
    receive.source = arrival.reference;
    receive.source_read = 0;
    return true;
}

/// More of what a message refers to. True when all is read.
bool Receives::read(Receive& receive) {
    const Reference& source = receive.source;
    const Channel& peer = channel(receive.neighbour);
    while (receive.source_read < source.bytes && budget_ > 0) {
        const std::size_t most = (budget_ + Consumer::granule - 1) / Consumer::granule * Consumer::granule;
        std::size_t bytes = std::min<std::size_t>(source.bytes - receive.source_read, most);
        std::byte* const into = receive.into + receive.filled + receive.source_read;
        const std::uint64_t from = source.place + receive.source_read;
        if (receive.place == Place::region) {
            const std::byte* const data = peer.memory(from, bytes);
            const std::size_t first = receive.filled + receive.source_read;
            if (receive.consumer != nullptr) receive.consumer->consume(receive.index, data, first, bytes);
            else std::memcpy(into, data, bytes);
        } else {
            const ssize_t count = read_process(peer.process(), from, into, std::min(bytes, read_bytes));
            if (count < 0 && errno == ESRCH) return fail("a process of this node has ended");
            if (count <= 0) {
                refuse(receive);
                return false;
            }
            bytes = static_cast<std::size_t>(count);
        }
        receive.source_read += bytes;
        budget_ -= std::min(budget_, bytes);
        moved_ = true;
    }
    if (receive.source_read < source.bytes) return false;
    receive.filled += source.bytes;
    return true;
}

/// Memory of a device, or the system has changed its mind.
void Receives::refuse(Receive& receive) {
    receive.refused = receive.source.parcel;
    receive.place = Place::lines;
    receive.is_last = false;
    tell_sender(receive.neighbour, receive.refused, Verdict::refused);
    moved_ = true;
}

void Receives::tell_sender(int neighbour, std::uint64_t parcel, Verdict verdict) const {
    std::byte* const head = channel(neighbour).memory(parcel, sizeof(ParcelHead));
    if (head != nullptr) tell(reinterpret_cast<ParcelHead*>(head)->verdict, verdict);
}

}  // namespace rondo::shared_memory
