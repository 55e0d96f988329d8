// SPDX-License-Identifier: BSD-3-Clause
// What lies where in a region: one front, a notice for each neighbour, a queue to each neighbour, parcels. Addresses
// differ between processes, so places are offsets from the region's beginning.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rondo/backends/shared_memory/queue.hpp"
#include "rondo/backends/shared_memory/region.hpp"

namespace rondo::shared_memory {

inline constexpr std::size_t line_bytes = 64;

/// What a process has found out about a neighbour.
enum class Reach : std::uint32_t {
    unknown,
    refused,  ///< has not got its region
    granted,  ///< has
    reads,    ///< has, and can read memory that it does not share
};

struct alignas(line_bytes) Front {
    Key key;
};

/// What a process has to say to one neighbour. Nobody else writes here.
struct alignas(line_bytes) Notice {
    std::atomic<std::uint64_t> consumed;  ///< lines of the neighbour's queue
    std::atomic<Reach> reach;
};

struct alignas(line_bytes) Line {
    std::atomic<std::uint64_t> number;
    std::byte content[line_bytes - sizeof(std::uint64_t)];
};

inline constexpr std::uint64_t queue_lines = 64;
using Writer = QueueWriter<queue_lines>;
using Reader = QueueReader<queue_lines>;

/// A queue as its two ends see it: the lines in the writer's region, the count in the reader's.
struct Queue {
    Line* lines = nullptr;
    Notice* reader = nullptr;

    [[nodiscard]] std::atomic<std::uint64_t>& number(std::uint64_t slot) const { return lines[slot].number; }
    [[nodiscard]] std::atomic<std::uint64_t>& consumed() const { return reader->consumed; }
};

/// Before the data of a parcel.
struct alignas(line_bytes) ParcelHead {
    std::atomic<std::uint64_t> read;  ///< written by the reader, once for each time that a message refers to the parcel
    std::uint32_t size_class;
    std::uint64_t next;      ///< in the list that it is in: of those that are free, or that readers may still read
    std::int32_t neighbour;  ///< who reads this piece, and of which message
    std::uint32_t tag;
    // Of a message that is read in the sender's own memory; see shares.hpp.
    std::atomic<std::uint64_t> into;  ///< address in the reader's own memory, where the sender may write; 0: nowhere
    std::atomic<std::uint64_t> taken, written;
};

static_assert(sizeof(Line) == line_bytes && sizeof(Notice) == line_bytes && sizeof(ParcelHead) == line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<Reach>::is_always_lock_free);

class Layout {
  public:
    Layout(int neighbours, std::size_t parcel_bytes)
        : neighbours_(static_cast<std::size_t>(neighbours)), parcel_bytes_(parcel_bytes) {}

    [[nodiscard]] std::size_t notice(int neighbour) const {
        return sizeof(Front) + static_cast<std::size_t>(neighbour) * sizeof(Notice);
    }
    /// Front and notices.
    [[nodiscard]] std::size_t front_bytes() const { return sizeof(Front) + neighbours_ * sizeof(Notice); }
    [[nodiscard]] std::size_t queue(int neighbour) const {
        return queues() + static_cast<std::size_t>(neighbour) * queue_bytes;
    }
    [[nodiscard]] std::size_t parcels() const { return queues() + neighbours_ * queue_bytes; }
    [[nodiscard]] std::size_t bytes() const { return parcels() + parcel_bytes_; }

    static constexpr std::size_t queue_bytes = queue_lines * sizeof(Line);

  private:
    [[nodiscard]] std::size_t queues() const { return (front_bytes() + queue_bytes - 1) / queue_bytes * queue_bytes; }

    std::size_t neighbours_, parcel_bytes_;
};

/// Plain data at an offset; memory that a region starts with is zero, which is a valid state of all of them.
template <class T>
T* at(std::byte* region, std::size_t offset) {
    return reinterpret_cast<T*>(region + offset);
}

}  // namespace rondo::shared_memory
