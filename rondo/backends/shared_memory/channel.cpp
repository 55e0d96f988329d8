// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/channel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace rondo::shared_memory {
namespace {

constexpr std::size_t content_bytes = sizeof(Line::content);
constexpr std::size_t beside_header = content_bytes - sizeof(Header);

constexpr std::uint64_t lines_for(std::size_t bytes) {
    return (sizeof(Header) + bytes + content_bytes - 1) / content_bytes;
}

// One line stays beside the longest message, so that two processes can always write and read at the same time.
static_assert(3 * lines_for(most_inline) < queue_lines);

/// As much as a line holds, at most. Whole ones by instructions for their length.
void copy_line(std::byte* into, const std::byte* from, std::size_t bytes) {
    if (bytes >= content_bytes) std::memcpy(into, from, content_bytes);
    else std::memcpy(into, from, bytes);
}

/// Where what is behind a header goes.
struct Target {
    std::byte* into;
    std::size_t room;
};

Target target_of(const Header& header, Channel::Arrival& arrival, void* into, std::size_t room) {
    arrival.header = header;
    if (header.place == Place::lines) return {static_cast<std::byte*>(into), room};
    return {reinterpret_cast<std::byte*>(&arrival.reference), sizeof arrival.reference};
}

}  // namespace

void Channel::open(Ends ends) {
    ends_ = std::move(ends);
    out_ = {at<Line>(ends_.own->data(), ends_.own_queue), ends_.notice};
    in_ = {ends_.queue, ends_.own_notice};
    may_write_.store(ends_.may_write, std::memory_order_relaxed);
}

std::byte* Channel::memory(std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t all = ends_.region.bytes();
    const bool is_there = offset <= all && bytes <= all - offset && ends_.region.open_up_to(offset + bytes);
    return is_there ? ends_.region.data() + offset : nullptr;
}

bool Channel::push(const Header& header, const void* bytes) {
    const std::unique_lock guard(sending_, std::try_to_lock);
    if (!guard) return false;
    const auto* from = static_cast<const std::byte*>(bytes);
    const std::size_t count = header.bytes;
    const bool is_pushed = writer_.push(out_, lines_for(count), [&](std::uint64_t slot, std::uint64_t i) {
        std::byte* const content = out_.lines[slot].content;
        if (i == 0) {
            std::memcpy(content, &header, sizeof header);
            if (count > 0) std::memcpy(content + sizeof header, from, std::min(count, beside_header));
        } else {
            const std::size_t done = beside_header + (i - 1) * content_bytes;
            copy_line(content, from + done, count - done);
        }
    });
    if (is_pushed) note_sent(header, bytes);
    return is_pushed;
}

/// Pieces are parts of one message. What the reader may refuse to read counts when it has been read.
void Channel::note_sent(const Header& header, const void* bytes) {
    Reference reference{.parcel = 0, .bytes = header.bytes, .address = 0};
    if (header.place != Place::lines) std::memcpy(&reference, bytes, sizeof reference);
    if (reference.address == 0) count(reference.bytes, header.last);
}

void Channel::note_read(std::uint64_t bytes, bool is_message) {
    const std::lock_guard guard(sending_);
    count(bytes, is_message);
}

bool Channel::write(std::uint64_t into, const void* from, std::size_t bytes) {
    if (write_process(ends_.address.process, into, from, bytes) == bytes) return true;
    may_write_.store(false, std::memory_order_relaxed);
    return false;
}

/// With the lock held.
void Channel::count(std::uint64_t bytes, bool is_message) {
    constexpr auto relaxed = std::memory_order_relaxed;
    bytes_.store(bytes_.load(relaxed) + bytes, relaxed);
    messages_.store(messages_.load(relaxed) + (is_message ? 1 : 0), relaxed);
}

/// Without a lock, and without a look at the neighbour's memory but for the line that is to come.
bool Channel::looks_empty() {
    if (are_kept_.load(std::memory_order_relaxed) > 0) return false;
    const std::uint64_t next = next_.load(std::memory_order_relaxed);
    return in_.number(next % queue_lines).load(std::memory_order_relaxed) != next + 1;
}

void Channel::copy_behind_header(const Header& header, std::byte* into, std::size_t room) const {
    const std::size_t bytes = std::min<std::size_t>(room, header.bytes);
    const std::size_t first = std::min(bytes, beside_header);
    if (first > 0) std::memcpy(into, in_.lines[reader_.slot(0)].content + sizeof header, first);
    for (std::size_t done = first, i = 1; done < bytes; done += content_bytes, ++i) {
        copy_line(into + done, in_.lines[reader_.slot(i)].content, bytes - done);
    }
}

void Channel::consume(const Header& header) {
    reader_.consume(in_, lines_for(header.bytes));
    next_.store(reader_.next(), std::memory_order_relaxed);
}

bool Channel::take(std::uint32_t tag, Arrival& arrival, void* into, std::size_t room) {
    if (looks_empty()) return false;
    const std::unique_lock guard(receiving_, std::try_to_lock);
    if (!guard) return false;
    if (!kept_.empty() && take_kept(tag, arrival, into, room)) return true;
    while (reader_.has_message(in_)) {
        Header header;
        std::memcpy(&header, in_.lines[reader_.slot(0)].content, sizeof header);
        const bool matches = header.tag == tag;
        if (matches) {
            const Target target = target_of(header, arrival, into, room);
            copy_behind_header(header, target.into, target.room);
        } else if (!keep(header)) {
            return false;
        }
        consume(header);
        if (matches) return true;
    }
    return false;
}

bool Channel::take_kept(std::uint32_t tag, Arrival& arrival, void* into, std::size_t room) {
    const auto found =
        std::find_if(kept_.begin(), kept_.end(), [&](const Kept& each) { return each.header.tag == tag; });
    if (found == kept_.end()) return false;
    const Target target = target_of(found->header, arrival, into, room);
    const std::size_t bytes = std::min(target.room, found->bytes.size());
    if (bytes > 0) std::memcpy(target.into, found->bytes.data(), bytes);
    kept_.erase(found);
    are_kept_.store(kept_.size(), std::memory_order_relaxed);
    return true;
}

/// Another thread will ask for it, or a later call. If there is no memory it stays where it is.
bool Channel::keep(const Header& header) {
    try {
        kept_.push_back({header, std::vector<std::byte>(header.bytes)});
    } catch (const std::bad_alloc&) {
        return false;
    }
    copy_behind_header(header, kept_.back().bytes.data(), header.bytes);
    are_kept_.store(kept_.size(), std::memory_order_relaxed);
    return true;
}

}  // namespace rondo::shared_memory
