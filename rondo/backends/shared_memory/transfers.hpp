// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rondo/backends/shared_memory/neighbours.hpp"
#include "rondo/backends/shared_memory/receives.hpp"
#include "rondo/backends/shared_memory/sends.hpp"

namespace rondo::shared_memory {

/// Messages between one operation and its neighbours. Nothing waits: what cannot be done now is done in a later `poll`.
/// Messages of one tag between two processes match in the order in which they are posted; those of different tags, or
/// of different `Transfers`, never hold each other up. For one thread at a time.
///
/// An index is the caller's name for a transfer. Both sides must know how many bytes come: more than fit are an error.
class Transfers {
  public:
    /// Borrows both. Without a consumer all data are copied.
    explicit Transfers(Neighbours& neighbours, Consumer* consumer = nullptr)
        : neighbours_(neighbours), sends_(neighbours.channels_.get(), neighbours.parcels_),
          receives_(neighbours.channels_.get(), consumer) {}
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;
    ~Transfers();

    /// True if it is complete already; else `poll` will tell. The data must stay as they are until then. Throws
    /// std::bad_alloc, before anything is sent.
    bool send(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index) {
        make_room();
        if (failure() == nullptr) return sends_.send(to, tag, data, bytes, index);
        sends_.post(to, tag, data, bytes, index);
        return false;
    }
    /// `poll` will tell when it is complete: an early look for the message would slow down whoever writes it. Throws
    /// std::bad_alloc.
    void receive(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index) {
        make_room();
        receives_.post(from, tag, into, bytes, index);
    }

    /// At most `most_inline` bytes, by who has nothing else under way. False if not now, or if something has failed.
    bool send_now(int to, std::uint32_t tag, const void* data, std::size_t bytes) {
        alone_with_ = to;
        return failure() == nullptr && sends_.send_now(to, tag, data, bytes);
    }
    bool receive_now(int from, std::uint32_t tag, void* into, std::size_t bytes) {
        alone_with_ = from;
        return failure() == nullptr && receives_.receive_now(from, tag, into, bytes);
    }

    struct Progress {
        std::span<const std::uint32_t> completed;  ///< indices; valid until the next call
        bool moved;                                ///< something did, though perhaps nothing is complete
    };
    Progress poll();

    /// One with which something is under way and whose process has ended; -1 if there is none. Some system calls each.
    [[nodiscard]] int ended_neighbour() const;
    /// Nothing is under way.
    [[nodiscard]] bool idle() const { return sends_.idle() && receives_.idle(); }
    /// What has failed, a literal, perhaps `too_long`; nullptr if nothing has. Then nothing moves before `abandon`, and
    /// never in a child of fork.
    [[nodiscard]] const char* failure() const {
        return neighbours_.sign_.is_same_process() ? receives_.failure() : in_a_child;
    }
    static constexpr const char* too_long = Receives::too_long;

    /// Ends everything here and now. Nothing is written into memory of the caller any more. Neighbours may still read
    /// what was being sent, and then get whatever is there.
    void abandon();

  private:
    static constexpr const char in_a_child[] = "a child of fork has no part in its parent's messages";

    /// For one more: nothing that follows a post can fail for want of memory.
    void make_room() {
        const std::size_t needed = sends_.under_way() + receives_.under_way() + 1;
        if (needed > completed_.capacity()) completed_.reserve(2 * needed + 16);
    }

    Neighbours& neighbours_;
    Sends sends_;
    Receives receives_;
    std::vector<std::uint32_t> completed_;
    int alone_with_ = -1;  // the neighbour of the last `send_now` or `receive_now`
};

}  // namespace rondo::shared_memory
