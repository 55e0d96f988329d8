// SPDX-License-Identifier: BSD-3-Clause
// Both ways between this process and one neighbour, for all threads and communicators.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <vector>

#include "rondo/backends/shared_memory/layout.hpp"
#include "rondo/backends/shared_memory/spin_lock.hpp"

namespace rondo::shared_memory {

/// Where the data of a message are: behind its header, or where a reference says.
enum class Place : std::uint8_t { lines, elsewhere };

struct Header {
    std::uint32_t tag;
    std::uint16_t bytes;  ///< behind the header
    Place place;
    bool last;  ///< piece of what was sent
};
static_assert(sizeof(Header) == 8);

/// Stands behind the header of a message whose data lie elsewhere.
struct Reference {
    std::uint64_t parcel;  ///< offset in the sender's region; there the reader says what it has read
    std::uint64_t bytes;
    std::uint64_t address;  ///< of the data, in memory that the sender does not share; 0: they are in the parcel
};

/// The most bytes behind a header: less than a third of the queue.
inline constexpr std::size_t most_inline = 1024;

/// Messages, and their bytes.
struct Traffic {
    std::uint64_t messages = 0, bytes = 0;
};

class Channel {
  public:
    static constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

    /// `region`, with its address, and `notice` (what the neighbour says to us) are the neighbour's, the others are
    /// this process's. Both queues have been committed.
    struct Ends {
        const Region* own = nullptr;
        std::size_t own_queue = 0;  ///< offset
        Notice* own_notice = nullptr;
        Mapping region;
        Line* queue = nullptr;
        Notice* notice = nullptr;
        RegionAddress address{};
        std::size_t read_from = never;  ///< bytes from which on the neighbour reads in this process
        /// This process writes in the neighbour: it has read there, so the neighbour's number means it here, too.
        bool may_write = false;
    };
    void open(Ends ends);
    [[nodiscard]] bool is_open() const { return ends_.notice != nullptr; }

    /// Sends one message of at most `most_inline` bytes behind the header. False if there is no room now.
    bool push(const Header& header, const void* bytes);

    struct Arrival {
        Header header;
        Reference reference;  ///< if the data are elsewhere
    };
    /// Takes the oldest message with this tag. Data behind its header go to `into`, up to `room` bytes. False if there
    /// is none now. Those in front of it are kept for others to take.
    bool take(std::uint32_t tag, Arrival& arrival, void* into, std::size_t room);

    /// The neighbour reads messages of that length in memory that this process does not share.
    [[nodiscard]] bool is_read_by_neighbour(std::size_t bytes) const { return ends_.read_from <= bytes; }
    /// It has read so much there, perhaps a whole message.
    void note_read(std::uint64_t bytes, bool is_message);
    /// Reads there itself; see `read_process`.
    [[nodiscard]] std::size_t read(std::uint64_t from, void* into, std::size_t bytes) const {
        return read_process(ends_.address.process, from, into, bytes);
    }
    /// Writes into memory of the neighbour's that it does not share. False if the system refuses: then always.
    [[nodiscard]] bool write(std::uint64_t into, const void* from, std::size_t bytes);
    [[nodiscard]] bool may_write() const { return may_write_.load(std::memory_order_relaxed); }

    /// What has been sent. By any thread.
    [[nodiscard]] Traffic sent() const {
        return {messages_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
    }

    [[nodiscard]] bool neighbour_has_ended() const { return has_ended(ends_.address); }
    /// So many bytes at an offset of the neighbour's region; nullptr if they are not there.
    [[nodiscard]] std::byte* memory(std::uint64_t offset, std::uint64_t bytes);

  private:
    struct Kept {
        Header header;
        std::vector<std::byte> bytes;
    };

    [[nodiscard]] bool looks_empty();
    void copy_behind_header(const Header& header, std::byte* into, std::size_t room) const;
    bool take_kept(std::uint32_t tag, Arrival& arrival, void* into, std::size_t room);
    bool keep(const Header& header);
    void consume(const Header& header);
    void note_sent(const Header& header, const void* bytes);
    void count(std::uint64_t bytes, bool is_message);

    Ends ends_;

    alignas(line_bytes) SpinLock sending_;
    Writer writer_;
    Queue out_;
    std::atomic<std::uint64_t> messages_{0}, bytes_{0};  // written with the lock held
    std::atomic<bool> may_write_{false};

    alignas(line_bytes) SpinLock receiving_;
    Reader reader_;
    Queue in_;
    std::list<Kept> kept_;
    // May be looked at without the lock: whoever sees an old value looks again at the next poll.
    std::atomic<std::uint64_t> next_{0};  // line to read
    std::atomic<std::size_t> are_kept_{0};
};

}  // namespace rondo::shared_memory
