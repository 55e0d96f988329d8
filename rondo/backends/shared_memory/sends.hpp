// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rondo/backends/shared_memory/channel.hpp"
#include "rondo/backends/shared_memory/posts.hpp"
#include "rondo/backends/shared_memory/unread_pieces.hpp"

namespace rondo::shared_memory {

/// What one operation sends to its neighbours: the half of `Transfers` that writes.
///
/// Up to `most_inline` bytes go into the queue. More are copied into parcels, piece by piece, and the queue gets
/// references; a message is complete when its last piece is on its way. Of a long message, where the reader can read in
/// this process, the queue gets its address; both sides copy, and it is complete when the reader says so. What the
/// reader could not read goes in pieces. Where there is no memory for parcels, all bytes go through the queue.
class Sends {
  public:
    /// To neighbour i through `channels[i]`. Borrows both.
    Sends(Channel* channels, Parcels& parcels) : channels_(channels), parcels_(parcels), unread_(parcels) {}

    /// To be moved by `poll`. Throws std::bad_alloc.
    void post(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index);
    /// Posts, and moves as much as it can. True if the message is complete: then it is not under way, and `poll` will
    /// not tell.
    bool send(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index);
    /// At most `most_inline` bytes, by who has nothing else under way. False if there is no room now.
    bool send_now(int to, std::uint32_t tag, const void* data, std::size_t bytes);

    /// Adds the indices of those that are complete now, for which there must be room. True if something has moved.
    bool poll(std::vector<std::uint32_t>& completed);

    [[nodiscard]] std::size_t under_way() const { return posts_.size(); }
    [[nodiscard]] bool idle() const { return posts_.empty(); }
    /// One to which something is under way and whose process has ended; -1 if there is none.
    [[nodiscard]] int ended_neighbour() const;

    /// Memory goes back, or is left to who may still read it. Not in a child of fork, which does not have it.
    void let_go();
    /// Nothing is under way any more.
    void clear() { posts_.clear(); }
    /// At the end; see `UnreadPieces`.
    void leave_unread() { unread_.leave(); }

  private:
    struct Send : Post {
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
        std::size_t pushed = 0;   // bytes
        std::uint64_t piece = 0;  // a parcel with a copy of the next bytes, not yet pushed
        std::size_t piece_bytes = 0;
        std::uint64_t word = 0;      // a parcel, without data, in which the reader says how much it has read
        bool awaits_reader = false;  // who has been told the address
        bool is_refused = false;     // the reader could not read all of it
    };

    [[nodiscard]] Channel& channel(int neighbour) const { return channels_[static_cast<std::size_t>(neighbour)]; }
    bool advance(Send& send);
    void copy_share(const Send& send, ParcelHead& head);
    bool push(Send& send);
    bool push_address(Send& send);
    bool push_piece(Send& send);
    bool push_lines(Send& send);
    bool push_parcel(Send& send);
    void fill_piece(Send& send, std::size_t bytes);
    bool push_message(const Send& send, Place place, const void* bytes, std::size_t count, bool last);

    Channel* channels_;
    Parcels& parcels_;
    Posts<Send> posts_;
    UnreadPieces unread_;
    bool moved_ = false;  // since the last poll began
};

}  // namespace rondo::shared_memory
