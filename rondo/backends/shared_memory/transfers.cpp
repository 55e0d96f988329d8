// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/transfers.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rondo/backends/shared_memory/copy_past_caches.hpp"

namespace rondo::shared_memory {
namespace {

/// Of a long message that is copied twice. While the reader copies one piece, the writer fills another.
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
constexpr int most_pieces = 8;
/// Those of earlier tags, too: a sender may run ahead of its reader, but not without end. Pieces of calls that failed
/// are never read.
constexpr int most_pieces_of_all_tags = 16;

/// What one poll copies at most for receives, so that other messages need not wait long.
constexpr std::size_t poll_bytes = std::size_t{256} << 10;
/// Read in another process at once: well within a core's own cache.
constexpr std::size_t read_bytes = std::size_t{64} << 10;

/// Must wait for one that was posted earlier: [begin, end) are those that are still under way.
template <class Each>
bool is_held_up(const Each* begin, const Each* end, const Each& each) {
    return std::any_of(begin, end, [&](const Each& earlier) {
        return !earlier.lets_pass && earlier.neighbour == each.neighbour && earlier.tag == each.tag;
    });
}

/// Lets each that may move do so, in the order of their posts. Those that are complete leave their index and go.
template <class Each, class Advance>
void advance_all(std::vector<Each>& all, std::vector<std::uint32_t>& completed, Advance&& advance) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!is_held_up(all.data(), all.data() + kept, all[i]) && advance(all[i])) {
            completed.push_back(all[i].index);
        } else {
            if (kept != i) all[kept] = all[i];
            ++kept;
        }
    }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
}

}  // namespace

Transfers::~Transfers() {
    abandon();
    if (!neighbours_.sign_.is_same_process()) return;
    while (lent_ != 0) {
        const std::uint64_t parcel = lent_;
        lent_ = neighbours_.parcels_.head(parcel).next;
        neighbours_.leave(parcel);
    }
}

bool Transfers::fail(const char* why) {
    failure_ = why;
    return false;
}

bool Transfers::may_move() {
    moved_ = false;
    budget_ = poll_bytes;
    if (!neighbours_.sign_.is_same_process()) fail("a child of fork has no part in its parent's messages");
    return failure_ == nullptr;
}

/// For one transfer more: nothing that follows can fail for want of memory.
void Transfers::make_room() {
    const std::size_t needed = sends_.size() + receives_.size() + loans_.size() + 1;
    if (needed <= room_) return;
    const std::size_t room = 2 * needed + 16;
    sends_.reserve(room);
    receives_.reserve(room);
    completed_.reserve(room);
    loans_.reserve(room);
    room_ = room;
}

Transfers::Progress Transfers::poll() {
    completed_.clear();
    if (may_move()) {
        advance_all(sends_, completed_, [this](Send& each) { return failure_ == nullptr && advance(each); });
        advance_all(receives_, completed_, [this](Receive& each) { return failure_ == nullptr && advance(each); });
    }
    return {completed_, moved_};
}

int Transfers::ended_neighbour() const {
    const auto has_ended = [&](const auto& each) { return channel(each.neighbour).neighbour_has_ended(); };
    if (idle() && alone_with_ >= 0 && channel(alone_with_).neighbour_has_ended()) return alone_with_;
    if (const auto found = std::find_if(sends_.begin(), sends_.end(), has_ended); found != sends_.end()) {
        return found->neighbour;
    }
    const auto found = std::find_if(receives_.begin(), receives_.end(), has_ended);
    return found == receives_.end() ? -1 : found->neighbour;
}

void Transfers::abandon() {
    if (neighbours_.sign_.is_same_process()) {
        for (const Send& each : sends_) {
            if (each.piece != 0) neighbours_.parcels_.give_back(each.piece);
            if (each.is_lent || each.again) neighbours_.leave(each.parcel);
            else if (each.parcel != 0) neighbours_.parcels_.give_back(each.parcel);
        }
        for (const Receive& each : receives_) {
            if (each.place != Place::lines) tell_sender(each.neighbour, each.source.parcel, Verdict::read);
        }
        for (const Loan& each : loans_) tell_sender(each.neighbour, each.parcel, Verdict::read);
    }
    sends_.clear();
    receives_.clear();
    loans_.clear();
    failure_ = nullptr;
}

// ------------------------------------------------------------------ sending

bool Transfers::send(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index) {
    make_room();
    Send& send = sends_.emplace_back();
    send.data = static_cast<const std::byte*>(data);
    send.bytes = bytes;
    send.neighbour = to;
    send.tag = tag;
    send.index = index;
    const bool is_free = may_move() && !is_held_up(sends_.data(), &send, send);
    if (!is_free || !push(send)) return false;
    sends_.pop_back();
    return true;
}

bool Transfers::send_now(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
    const Header header{
        .tag = tag, .bytes = static_cast<std::uint16_t>(bytes), .place = Place::lines, .last = true, .again = false};
    alone_with_ = to;
    return may_move() && push_message(to, header, data);
}

/// True when it is complete.
bool Transfers::advance(Send& send) {
    if (send.is_lent) {
        const Verdict said = verdict(verdict_on(send.parcel));
        if (said == Verdict::none) return false;
        moved_ = true;
        if (said == Verdict::read) {
            neighbours_.parcels_.give_back(send.parcel);
            return true;
        }
        verdict_on(send.parcel)
            .store(Verdict::none, std::memory_order_relaxed);  // nobody looks before the next message
        send.is_lent = false;
        send.again = true;
    }
    return push(send);
}

/// As much as there is room for. True when it is complete.
bool Transfers::push(Send& send) {
    if (refers(send)) {
        if (send.parcel == 0) send.parcel = neighbours_.take_parcel(0);
        if (send.parcel != 0) {
            push_reference(send);
            return false;
        }
    }
    do {
        if (!push_piece(send)) return false;
    } while (send.pushed < send.bytes);
    send.lets_pass = true;
    send.is_lent = send.again;  // the parcel gives the pieces their name until the last one is read
    return !send.again;
}

bool Transfers::refers(const Send& send) const {
    if (send.again || send.pushed > 0 || send.piece != 0 || send.bytes <= most_inline) return false;
    if (neighbours_.parcels_.holds(send.data, send.bytes)) return true;
    return channel(send.neighbour).reads_us() && neighbours_.options_.reads_processes &&
           send.bytes >= neighbours_.options_.reads_processes_from;
}

void Transfers::push_reference(Send& send) {
    const bool is_shared = neighbours_.parcels_.holds(send.data, send.bytes);
    const Reference reference{
        .place = is_shared ? neighbours_.parcels_.offset_of(send.data) : reinterpret_cast<std::uintptr_t>(send.data),
        .bytes = send.bytes,
        .parcel = send.parcel};
    send.is_lent = push_message(send, is_shared ? Place::region : Place::process, &reference, sizeof reference, true);
    send.lets_pass = send.is_lent;
}

/// The next bytes: behind a header if they are few, else in a parcel. Few at a time, too, where there is no memory for
/// a parcel, or where pieces of other tags have taken what this neighbour may have: its reader may not ask for them
/// soon.
bool Transfers::push_piece(Send& send) {
    const std::size_t rest = send.bytes - send.pushed;
    if (send.piece == 0 && rest > most_inline) {
        const Pieces under_way = count_pieces(send);
        const bool too_many = under_way.of_all_tags >= most_pieces_of_all_tags;
        if (under_way.of_this_tag >= most_pieces || (too_many && under_way.of_this_tag > 0)) return false;
        if (!too_many) fill_piece(send, std::min(rest, piece_bytes));
    }
    if (send.piece == 0) {
        const std::size_t count = std::min(rest, most_inline);
        if (!push_message(send, Place::lines, send.data + send.pushed, count, count == rest)) return false;
        send.pushed += count;
        return true;
    }
    const Reference reference{
        .place = send.piece + sizeof(ParcelHead), .bytes = send.piece_bytes, .parcel = send.piece};
    if (!push_message(send, Place::region, &reference, sizeof reference, send.piece_bytes == rest)) return false;
    send.pushed += send.piece_bytes;
    ParcelHead& head = neighbours_.parcels_.head(send.piece);
    head.neighbour = send.neighbour;
    head.tag = send.tag;
    head.next = lent_;
    lent_ = send.piece;
    send.piece = 0;
    return true;
}

void Transfers::fill_piece(Send& send, std::size_t bytes) {
    send.piece = neighbours_.take_parcel(bytes);
    if (send.piece == 0) return;
    send.piece_bytes = bytes;
    copy_past_caches(neighbours_.parcels_.data(send.piece), send.data + send.pushed, bytes);
}

bool Transfers::push_message(const Send& send, Place place, const void* bytes, std::size_t count, bool last) {
    const Header header{.tag = send.again ? static_cast<std::uint32_t>(send.parcel / line_bytes) : send.tag,
                        .bytes = static_cast<std::uint16_t>(count),
                        .place = place,
                        .last = last,
                        .again = send.again};
    return push_message(send.neighbour, header, bytes);
}

bool Transfers::push_message(int to, const Header& header, const void* bytes) {
    const bool is_pushed = channel(to).push(header, bytes);
    moved_ = moved_ || is_pushed;
    return is_pushed;
}

/// Under way to that neighbour. Those that have been read are given back.
Transfers::Pieces Transfers::count_pieces(const Send& send) {
    int of_this_tag = 0, of_all_tags = 0;
    for (std::uint64_t* link = &lent_; *link != 0;) {
        const std::uint64_t parcel = *link;
        ParcelHead& head = neighbours_.parcels_.head(parcel);
        if (head.neighbour == send.neighbour && verdict(head.verdict) != Verdict::none) {
            *link = head.next;
            neighbours_.parcels_.give_back(parcel);
            continue;
        }
        of_all_tags += head.neighbour == send.neighbour ? 1 : 0;
        of_this_tag += head.neighbour == send.neighbour && head.tag == send.tag ? 1 : 0;
        link = &head.next;
    }
    return {of_this_tag, of_all_tags};
}

// ------------------------------------------------------------------ receiving

void Transfers::post(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index,
                     bool may_be_lent) {
    make_room();
    Receive& receive = receives_.emplace_back();
    receive.into = static_cast<std::byte*>(into);
    receive.bytes = bytes;
    receive.neighbour = from;
    receive.tag = tag;
    receive.index = index;
    receive.may_be_lent = may_be_lent;
}

bool Transfers::receive_now(int from, std::uint32_t tag, void* into, std::size_t bytes) {
    Channel::Arrival arrival;
    alone_with_ = from;
    if (!may_move() || !channel(from).take({tag, false}, arrival, into, bytes)) return false;
    const Header& header = arrival.header;
    if (header.place == Place::lines && header.bytes <= bytes) return true;
    if (header.place != Place::lines) tell_sender(from, arrival.reference.parcel, Verdict::read);
    return fail(too_long);
}

/// True when it is complete.
bool Transfers::advance(Receive& receive) {
    while (budget_ > 0) {
        if (receive.place == Place::lines) {
            if (!take(receive)) return false;
            if (receive.place != Place::lines) continue;
        } else {
            if (!read(receive)) return false;
            tell_sender(receive.neighbour, receive.source.parcel, Verdict::read);
            receive.place = Place::lines;
        }
        if (receive.is_last) return finish(receive);
    }
    return false;
}

/// The next piece, if it is there.
bool Transfers::take(Receive& receive) {
    const std::size_t room = receive.bytes - receive.filled;
    Channel::Arrival arrival;
    const Match match = receive.refused != 0 ? Match{static_cast<std::uint32_t>(receive.refused / line_bytes), true}
                                             : Match{receive.tag, false};
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
    if (consumer_ != nullptr && !receive.may_be_lent && receive.filled == 0 && receive.refused == 0 &&
        header.place != Place::process) {
        receive.is_consumed = consumer_->wants(receive.index);
    }
    if (is_here) {
        if (receive.is_consumed) consume(receive, receive.into + receive.filled, receive.filled, bytes);
        receive.filled += bytes;
        return true;
    }
    if (header.place == Place::region) {
        const std::byte* const data = channel(receive.neighbour).memory(arrival.reference.place, bytes);
        if (data == nullptr) return fail("a process of this node refers to memory that it does not share");
        if (receive.may_be_lent && header.last && receive.filled == 0 && receive.refused == 0) {
            loans_.push_back({receive.index, data, receive.neighbour, arrival.reference.parcel});
            return true;
        }
    }
    receive.place = header.place;
    receive.source = arrival.reference;
    receive.source_read = 0;
    return true;
}

/// More of what a message refers to. True when all is read.
bool Transfers::read(Receive& receive) {
    const Reference& source = receive.source;
    const Channel& peer = channel(receive.neighbour);
    while (receive.source_read < source.bytes && budget_ > 0) {
        const std::size_t most = (budget_ + Consumer::granule - 1) / Consumer::granule * Consumer::granule;
        std::size_t bytes = std::min<std::size_t>(source.bytes - receive.source_read, most);
        std::byte* const into = receive.into + receive.filled + receive.source_read;
        const std::uint64_t from = source.place + receive.source_read;
        if (receive.place == Place::region) {
            if (receive.is_consumed)
                consume(receive, peer.memory(from, bytes), receive.filled + receive.source_read, bytes);
            else std::memcpy(into, peer.memory(from, bytes), bytes);
        } else {
            const ssize_t count = read_process(peer.process(), from, into, std::min(bytes, read_bytes));
            if (count < 0 && errno == ESRCH) return fail(ended);
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
void Transfers::refuse(Receive& receive) {
    receive.refused = receive.source.parcel;
    receive.place = Place::lines;
    receive.is_last = false;
    tell_sender(receive.neighbour, receive.refused, Verdict::refused);
    moved_ = true;
}

bool Transfers::finish(const Receive& receive) {
    if (receive.refused != 0) tell_sender(receive.neighbour, receive.refused, Verdict::read);
    return true;
}

void Transfers::tell_sender(int neighbour, std::uint64_t parcel, Verdict verdict) const {
    std::byte* const head = channel(neighbour).memory(parcel, sizeof(ParcelHead));
    if (head != nullptr) tell(reinterpret_cast<ParcelHead*>(head)->verdict, verdict);
}

const void* Transfers::lent(std::uint32_t index) const {
    const auto found =
        std::find_if(loans_.begin(), loans_.end(), [&](const Loan& each) { return each.index == index; });
    return found == loans_.end() ? nullptr : found->data;
}

void Transfers::give_back(std::uint32_t index) {
    const auto found =
        std::find_if(loans_.begin(), loans_.end(), [&](const Loan& each) { return each.index == index; });
    if (found == loans_.end()) return;
    tell_sender(found->neighbour, found->parcel, Verdict::read);
    loans_.erase(found);
}

}  // namespace rondo::shared_memory
