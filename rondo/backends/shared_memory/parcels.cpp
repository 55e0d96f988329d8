// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/parcels.hpp"

#include <algorithm>
#include <bit>
#include <mutex>

namespace rondo::shared_memory {
namespace {

/// Pages are made in pieces of this: one system call for many small parcels.
constexpr std::size_t commit_bytes = std::size_t{64} << 10;

/// Sizes in lines: 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...
constexpr std::size_t lines_of(std::uint32_t size_class) {
    if (size_class < 8) return size_class;
    return std::size_t{4 + size_class % 4} << (size_class / 4 - 1);
}

/// The smallest class with room for so many lines.
constexpr std::uint32_t class_for(std::size_t lines) {
    if (lines < 8) return static_cast<std::uint32_t>(lines);
    const auto exponent = static_cast<std::uint32_t>(std::bit_width(lines)) - 3;
    const std::uint32_t at_most = 4 * (exponent + 1) + static_cast<std::uint32_t>(lines >> exponent) % 4;
    return lines_of(at_most) == lines ? at_most : at_most + 1;
}

static_assert(lines_of(class_for(9)) == 10 && lines_of(class_for(16)) == 16 && lines_of(class_for(17)) == 20);
static_assert(lines_of(class_for(1023)) == 1024 && lines_of(class_for(1025)) == 1280);

}  // namespace

Parcels::Parcels(Region& region, std::size_t first, std::size_t bytes)
    : region_(region), first_(first), last_(first + bytes), unused_(first), committed_(first) {}

std::uint64_t Parcels::take(std::size_t bytes) {
    if (bytes > last_ - first_) return 0;
    const std::uint32_t size_class = class_for((bytes + line_bytes - 1) / line_bytes);
    const std::lock_guard guard(lock_);
    std::uint64_t parcel = take_of(size_class);
    if (parcel == 0) {
        free_left();
        parcel = take_of(size_class);
    }
    if (parcel == 0) return 0;
    ParcelHead& taken = head(parcel);
    for (std::atomic<std::uint64_t>* const word : {&taken.read, &taken.into, &taken.taken, &taken.written}) {
        word->store(0, std::memory_order_relaxed);
    }
    return parcel;
}

std::uint64_t Parcels::take_of(std::uint32_t size_class) {
    const std::uint64_t parcel = free_[size_class];
    if (parcel == 0) return take_new(size_class);
    free_[size_class] = head(parcel).next;
    return parcel;
}

std::uint64_t Parcels::take_new(std::uint32_t size_class) {
    const std::size_t bytes = sizeof(ParcelHead) + lines_of(size_class) * line_bytes;
    if (bytes > last_ - unused_) return 0;
    if (unused_ + bytes > committed_) {
        const std::size_t missing = unused_ + bytes - committed_;
        const std::size_t more =
            std::min((missing + commit_bytes - 1) / commit_bytes * commit_bytes, last_ - committed_);
        if (!region_.commit(committed_, more)) return 0;
        committed_ += more;
    }
    const std::uint64_t parcel = unused_;
    unused_ += bytes;
    head(parcel).size_class = size_class;
    return parcel;
}

void Parcels::give_back(std::uint64_t parcel) {
    const std::lock_guard guard(lock_);
    free(parcel);
}

void Parcels::free(std::uint64_t parcel) {
    ParcelHead& given = head(parcel);
    given.next = free_[given.size_class];
    free_[given.size_class] = parcel;
}

/// Most of the others have been read by now: memory for many short-lived communicators is that for few.
void Parcels::leave(std::uint64_t parcel) {
    const std::lock_guard guard(lock_);
    head(parcel).next = left_;
    left_ = parcel;
    free_left();
}

void Parcels::free_left() {
    for (std::uint64_t* link = &left_; *link != 0;) {
        const std::uint64_t parcel = *link;
        if (!is_read(head(parcel).read)) {
            link = &head(parcel).next;
        } else {
            *link = head(parcel).next;
            free(parcel);
        }
    }
}

}  // namespace rondo::shared_memory
