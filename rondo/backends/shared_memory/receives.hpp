// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rondo/backends/shared_memory/channel.hpp"
#include "rondo/backends/shared_memory/consumer.hpp"
#include "rondo/backends/shared_memory/posts.hpp"

namespace rondo::shared_memory {

/// What one operation receives from its neighbours: the half of `Transfers` that reads.
///
/// The pieces of a message come one after another, in the queue or as references. Data that are referred to are copied,
/// or consumed where they lie; then the sender is told. What cannot be read in the sender comes again, in pieces.
class Receives {
  public:
    /// From neighbour i through `channels[i]`. Borrows both; without a consumer all data are copied.
    Receives(Channel* channels, Consumer* consumer) : channels_(channels), consumer_(consumer) {}

    /// To be moved by `poll`. Throws std::bad_alloc.
    void post(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index);
    /// At most `most_inline` bytes, by who has nothing else under way. False if they are not there, or if they fail.
    bool receive_now(int from, std::uint32_t tag, void* into, std::size_t bytes);

    /// Adds the indices of those that are complete now, for which there must be room. True if something has moved.
    bool poll(std::vector<std::uint32_t>& completed);
    /// A literal; nullptr if nothing has failed.
    [[nodiscard]] const char* failure() const { return failure_; }
    static constexpr const char too_long[] =
        "a message from a process of this node is longer than what was to be received";

    [[nodiscard]] std::size_t under_way() const { return posts_.size(); }
    [[nodiscard]] bool idle() const { return posts_.empty(); }
    /// One from which something is under way and whose process has ended; -1 if there is none.
    [[nodiscard]] int ended_neighbour() const;

    /// Senders have their memory again. Not in a child of fork, which does not see it.
    void let_go();
    /// Nothing is under way any more, and nothing has failed.
    void clear();

  private:
    struct Receive : Post {
        std::byte* into = nullptr;
        std::size_t bytes = 0;
        Consumer* consumer = nullptr;  // of this message; else it is copied
        bool is_begun = false;         // a piece has come
        bool is_last = false;          // of the pieces
        std::size_t filled = 0;        // bytes
        Reference source{};            // of what is being read now; no parcel: of nothing
        std::size_t source_read = 0;
        ParcelHead* shared = nullptr;  // with the sender, who may write the end of the source
        bool is_refused = false;       // by the system: some of the source cannot be read
    };

    [[nodiscard]] Channel& channel(int neighbour) const { return channels_[static_cast<std::size_t>(neighbour)]; }
    bool fail(const char* why);
    bool advance(Receive& receive);
    bool take(Receive& receive);
    void share(Receive& receive) const;
    bool read(Receive& receive);
    bool read_shares(Receive& receive);
    void take_back(const Receive& receive) const;
    std::size_t read_parcel(const Receive& receive, std::size_t bytes) const;
    std::size_t read_process(const Receive& receive, std::size_t bytes);
    void tell_sender(int neighbour, const Reference& reference, std::uint64_t bytes) const;

    Channel* channels_;
    Consumer* consumer_;
    Posts<Receive> posts_;
    std::unique_ptr<std::byte[]> piece_;  // of another process's memory, to be consumed; made when it is needed
    std::size_t budget_ = 0;              // bytes that this poll may still copy
    bool moved_ = false;                  // since the last poll began
    const char* failure_ = nullptr;
};

}  // namespace rondo::shared_memory
