// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/sends.hpp"

#include <algorithm>
#include <utility>

#include "rondo/backends/shared_memory/copy_past_caches.hpp"
#include "rondo/backends/shared_memory/shares.hpp"

namespace rondo::shared_memory {
namespace {

/// While the reader copies one piece, the writer fills another.
constexpr std::size_t most_piece_bytes = std::size_t{64} << 10;

}  // namespace

void Sends::post(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index) {
    Send& send = posts_.add();
    send.data = static_cast<const std::byte*>(data);
    send.bytes = bytes;
    send.neighbour = to;
    send.tag = tag;
    send.index = index;
}

bool Sends::send(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index) {
    post(to, tag, data, bytes, index);
    if (posts_.last_is_held_up() || !push(posts_.last())) return false;
    posts_.remove_last();
    return true;
}

bool Sends::send_now(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
    const Header header{.tag = tag, .bytes = static_cast<std::uint16_t>(bytes), .place = Place::lines, .last = true};
    return channel(to).push(header, data);
}

bool Sends::poll(std::vector<std::uint32_t>& completed) {
    moved_ = false;
    posts_.advance(completed, [this](Send& each) { return advance(each); });
    return moved_;
}

int Sends::ended_neighbour() const {
    return posts_.find_neighbour([this](int each) { return channel(each).neighbour_has_ended(); });
}

void Sends::let_go() {
    for (const Send& each : posts_) {
        if (each.piece != 0) parcels_.give_back(each.piece);
        if (each.awaits_reader) parcels_.leave(each.word);
        else if (each.word != 0) parcels_.give_back(each.word);
    }
}

/// True when it is complete.
bool Sends::advance(Send& send) {
    if (!send.awaits_reader) return push(send);
    ParcelHead& head = parcels_.head(send.word);
    if (!is_read(head.read)) {
        copy_share(send, head);
        return false;
    }
    moved_ = true;
    send.pushed = bytes_read(head.read);
    send.is_refused = send.pushed < send.bytes;
    send.awaits_reader = false;
    parcels_.give_back(std::exchange(send.word, 0));
    channel(send.neighbour).note_read(send.pushed, !send.is_refused);
    return !send.is_refused || push(send);
}

/// Of a message that the reader has begun to copy.
void Sends::copy_share(const Send& send, ParcelHead& head) {
    const std::uint64_t into = head.into.load(std::memory_order_acquire);
    Channel& reader = channel(send.neighbour);
    if (into == 0 || !reader.may_write()) return;
    const Shares shares(send.bytes);
    const Share share = shares.take_back(head.taken);
    if (share.bytes == 0) return;
    moved_ = true;
    const bool is_written = reader.write(into + share.first, send.data + share.first, share.bytes);
    if (is_written) shares.note_written(head.written, share);
    else shares.give_back(head.taken, share);
}

/// As much as there is room for. True when it is complete.
bool Sends::push(Send& send) {
    const bool is_begun = send.pushed > 0 || send.piece != 0 || send.is_refused;
    if (!is_begun && channel(send.neighbour).is_read_by_neighbour(send.bytes) && push_address(send)) return false;
    do {
        if (!push_piece(send)) return false;
    } while (send.pushed < send.bytes);
    return true;
}

/// Later messages of the tag wait: what is left of this one would come behind them. False if there is no memory.
bool Sends::push_address(Send& send) {
    if (send.word == 0) send.word = parcels_.take(0);
    if (send.word == 0) return false;
    const Reference reference{
        .parcel = send.word, .bytes = send.bytes, .address = reinterpret_cast<std::uintptr_t>(send.data)};
    send.awaits_reader = push_message(send, Place::elsewhere, &reference, sizeof reference, true);
    return true;
}

/// The next bytes.
bool Sends::push_piece(Send& send) {
    const std::size_t rest = send.bytes - send.pushed;
    if (send.piece == 0 && rest > most_inline) {
        const UnreadPieces::Form form = unread_.next_form(send.neighbour, send.tag);
        if (form == UnreadPieces::Form::none) return false;
        if (form == UnreadPieces::Form::piece) fill_piece(send, std::min(rest, most_piece_bytes));
    }
    return send.piece == 0 ? push_lines(send) : push_parcel(send);
}

/// Few at a time.
bool Sends::push_lines(Send& send) {
    const std::size_t rest = send.bytes - send.pushed;
    const std::size_t count = std::min(rest, most_inline);
    if (!push_message(send, Place::lines, send.data + send.pushed, count, count == rest)) return false;
    send.pushed += count;
    return true;
}

bool Sends::push_parcel(Send& send) {
    const bool last = send.piece_bytes == send.bytes - send.pushed;
    const Reference reference{.parcel = send.piece, .bytes = send.piece_bytes, .address = 0};
    if (!push_message(send, Place::elsewhere, &reference, sizeof reference, last)) return false;
    send.pushed += send.piece_bytes;
    unread_.add(send.piece, send.neighbour, send.tag);
    send.piece = 0;
    return true;
}

/// None if there is no memory for it.
void Sends::fill_piece(Send& send, std::size_t bytes) {
    send.piece = parcels_.take(bytes);
    if (send.piece == 0) return;
    send.piece_bytes = bytes;
    copy_past_caches(parcels_.data(send.piece), send.data + send.pushed, bytes);
}

bool Sends::push_message(const Send& send, Place place, const void* bytes, std::size_t count, bool last) {
    const Header header{.tag = send.tag, .bytes = static_cast<std::uint16_t>(count), .place = place, .last = last};
    const bool is_pushed = channel(send.neighbour).push(header, bytes);
    moved_ = moved_ || is_pushed;
    return is_pushed;
}

}  // namespace rondo::shared_memory
