// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/scratch.hpp"

#include <atomic>
#include <new>

namespace rondo::mpi {
namespace {

/// The header in front of each piece.
struct alignas(64) Head {
    std::size_t bytes;
};

Head* head_of(char* piece) { return reinterpret_cast<Head*>(piece) - 1; }

constexpr std::align_val_t alignment{alignof(Head)};

char* allocate(std::size_t bytes) {
    auto* head = static_cast<Head*>(::operator new(sizeof(Head) + bytes, alignment));
    head->bytes = bytes;
    return reinterpret_cast<char*>(head + 1);
}

void release(char* piece) {
    if (piece != nullptr) ::operator delete(head_of(piece), alignment);
}

/// Pieces that nobody holds. A call holds two at most, and rarely do more than a few threads call at the same time.
constexpr int most_pieces = 8;
std::atomic<char*> kept[most_pieces];

/// The longest piece that stays with its user.
constexpr std::size_t short_piece = 1024;

/// One larger piece is kept, too, for a while: a program that reduces 256 MiB once does so again.
constexpr std::size_t large = std::size_t{64} << 20;
constexpr int most_idle_calls = 64;
std::atomic<char*> kept_large{nullptr};
std::atomic<int> idle_calls{0};

/// Counts calls that could do without the large piece; after too many it is given back to the system.
void count_idle_call() {
    if (kept_large.load(std::memory_order_relaxed) == nullptr) return;
    if (idle_calls.fetch_add(1, std::memory_order_relaxed) < most_idle_calls) return;
    release(kept_large.exchange(nullptr, std::memory_order_acquire));
}

/// Takes the piece at this place, if it is long enough; a shorter one makes room.
char* take_from(std::atomic<char*>& place, std::size_t bytes) {
    if (place.load(std::memory_order_relaxed) == nullptr) return nullptr;
    char* const piece = place.exchange(nullptr, std::memory_order_acquire);
    if (piece != nullptr && head_of(piece)->bytes >= bytes) return piece;
    release(piece);
    return nullptr;
}

/// Puts a piece at this place. False if the place is taken.
bool put_into(std::atomic<char*>& place, char* piece) {
    char* nothing = nullptr;
    return place.compare_exchange_strong(nothing, piece, std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace

void Scratch::take_piece(std::size_t bytes) {
    if (idle_bytes_ > 0) give_piece_back();
    if (bytes > large) {
        idle_calls.store(0, std::memory_order_relaxed);
        piece_ = take_from(kept_large, bytes);
        if (piece_ == nullptr) piece_ = allocate(bytes);
        return;
    }
    count_idle_call();
    for (std::atomic<char*>& place : kept) {
        piece_ = take_from(place, bytes);
        if (piece_ != nullptr) return;
    }
    piece_ = allocate(bytes);
}

void Scratch::keep_or_give_back() {
    const std::size_t bytes = head_of(piece_)->bytes;
    if (bytes <= short_piece) idle_bytes_ = bytes;
    else give_piece_back();
}

void Scratch::give_piece_back() {
    char* const piece = piece_;
    piece_ = nullptr;
    idle_bytes_ = 0;
    if (head_of(piece)->bytes > large) {
        if (!put_into(kept_large, piece)) release(piece);
        return;
    }
    for (std::atomic<char*>& place : kept) {
        if (put_into(place, piece)) return;
    }
    release(piece);
}

}  // namespace rondo::mpi
