// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rondo/backends/shared_memory/neighbours.hpp"

namespace rondo::shared_memory {

/// Takes data where they lie, instead of having them copied.
class Consumer {
  public:
    /// When the first bytes of a message come: are they for `consume`?
    virtual bool wants(std::uint32_t index) = 0;
    /// The bytes of the message from byte `first` on. They come piece by piece, in order; all pieces but the last are
    /// of a multiple of `granule` bytes.
    virtual void consume(std::uint32_t index, const std::byte* data, std::size_t first, std::size_t bytes) = 0;

    static constexpr std::size_t granule = 1024;

  protected:
    ~Consumer() = default;
};

/// Messages between one operation and its neighbours. Nothing waits: what cannot be done now is done in a later `poll`.
/// Messages of one tag between two processes match in the order in which they are posted; those of different tags, or
/// of different `Transfers`, never hold each other up. For one thread at a time.
///
/// An index is the caller's name for a transfer. Both sides must know how many bytes come: more than fit are an error.
class Transfers {
  public:
    /// Borrows both. Without a consumer all data are copied.
    explicit Transfers(Neighbours& neighbours, Consumer* consumer = nullptr)
        : neighbours_(neighbours), consumer_(consumer) {}
    Transfers(const Transfers&) = delete;
    Transfers& operator=(const Transfers&) = delete;
    ~Transfers();

    /// True if it is complete already; else `poll` will tell. The data must stay as they are until then. They are read
    /// where they lie if they are in memory of `Neighbours::take`. Throws std::bad_alloc, before anything is sent.
    bool send(int to, std::uint32_t tag, const void* data, std::size_t bytes, std::uint32_t index);
    /// `poll` will tell when it is complete: an early look for the message would slow down whoever writes it. Throws
    /// std::bad_alloc.
    void receive(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index) {
        post(from, tag, into, bytes, index, false);
    }
    /// The same, but data in the sender's region are not copied: `lent` says where they lie.
    void borrow(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index) {
        post(from, tag, into, bytes, index, true);
    }

    /// At most `most_inline` bytes, by who has nothing else under way. False if not now, or if something has failed.
    bool send_now(int to, std::uint32_t tag, const void* data, std::size_t bytes);
    bool receive_now(int from, std::uint32_t tag, void* into, std::size_t bytes);

    struct Progress {
        std::span<const std::uint32_t> completed;  ///< indices; valid until the next call
        bool moved;                                ///< something did, though perhaps nothing is complete
    };
    Progress poll();

    /// One with which something is under way and whose process has ended; -1 if there is none. Some system calls each.
    [[nodiscard]] int ended_neighbour() const;
    /// Nothing is under way.
    [[nodiscard]] bool idle() const { return sends_.empty() && receives_.empty(); }
    static constexpr const char too_long[] =
        "a message from a process of this node is longer than what was to be received";
    static constexpr const char ended[] = "a process of this node has ended";
    /// What has failed, a literal, perhaps `too_long`; nullptr if nothing has. Then nothing moves before `abandon`.
    [[nodiscard]] const char* failure() const { return failure_; }

    /// Where data lie that were borrowed; nullptr if they have been copied to where they were asked for.
    [[nodiscard]] const void* lent(std::uint32_t index) const;
    /// They have been read: the sender may go on.
    void give_back(std::uint32_t index);

    /// Ends everything here and now. Nothing is written into memory of the caller any more. Neighbours may still read
    /// what was being sent, and then get whatever is there: memory of `Neighbours::take` that is used again, too.
    void abandon();

  private:
    struct Send {
        const std::byte* data = nullptr;
        std::size_t bytes = 0;
        int neighbour = 0;
        std::uint32_t tag = 0, index = 0;
        bool lets_pass = false;    // all is pushed: the next one of the tag may go
        bool is_lent = false;      // the reader reads
        bool again = false;        // it could not: now in pieces
        std::size_t pushed = 0;    // bytes
        std::uint64_t parcel = 0;  // of a reference to the data
        std::uint64_t piece = 0;   // a parcel with a copy of the next bytes, not yet pushed
        std::size_t piece_bytes = 0;
    };
    struct Receive {
        std::byte* into = nullptr;
        std::size_t bytes = 0;
        int neighbour = 0;
        std::uint32_t tag = 0, index = 0;
        bool may_be_lent = false;
        bool is_consumed = false;
        bool lets_pass = false;      // all is found: the next one of the tag may look
        bool is_last = false;        // of the pieces
        Place place = Place::lines;  // of what is being read now; `lines`: of nothing
        std::size_t filled = 0;      // bytes
        Reference source{};
        std::size_t source_read = 0;
        std::uint64_t refused = 0;  // the parcel that could not be read
    };
    struct Pieces {
        int of_this_tag, of_all_tags;
    };
    struct Loan {
        std::uint32_t index;
        const std::byte* data;
        int neighbour;
        std::uint64_t parcel;
    };

    [[nodiscard]] Channel& channel(int neighbour) const { return neighbours_.channel(neighbour); }
    [[nodiscard]] std::atomic<Verdict>& verdict_on(std::uint64_t parcel) const {
        return neighbours_.parcels_.head(parcel).verdict;
    }
    bool may_move();
    bool fail(const char* why);
    void make_room();

    bool advance(Send& send);
    bool push(Send& send);
    [[nodiscard]] bool refers(const Send& send) const;
    void push_reference(Send& send);
    bool push_piece(Send& send);
    void fill_piece(Send& send, std::size_t bytes);
    bool push_message(const Send& send, Place place, const void* bytes, std::size_t count, bool last);
    bool push_message(int to, const Header& header, const void* bytes);
    Pieces count_pieces(const Send& send);

    void post(int from, std::uint32_t tag, void* into, std::size_t bytes, std::uint32_t index, bool may_be_lent);
    bool advance(Receive& receive);
    bool take(Receive& receive);
    bool read(Receive& receive);
    void consume(const Receive& receive, const std::byte* data, std::size_t first, std::size_t bytes) const {
        consumer_->consume(receive.index, data, first, bytes);
    }
    void refuse(Receive& receive);
    bool finish(const Receive& receive);
    void tell_sender(int neighbour, std::uint64_t parcel, Verdict verdict) const;

    Neighbours& neighbours_;
    Consumer* consumer_;
    std::vector<Send> sends_;        // in the order of their posts
    std::vector<Receive> receives_;  // the same
    std::vector<Loan> loans_;
    std::vector<std::uint32_t> completed_;
    std::uint64_t lent_ = 0;  // the first of a list: pieces that readers may still read; their sends may be complete
    std::size_t room_ = 0;    // transfers for which there is memory
    std::size_t budget_ = 0;  // bytes that may still be copied now
    int alone_with_ = -1;     // the neighbour of the last `send_now` or `receive_now`
    bool moved_ = false;
    const char* failure_ = nullptr;
};

}  // namespace rondo::shared_memory
