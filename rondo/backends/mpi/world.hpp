// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of MPI_COMM_WORLD agree on while MPI is initialised, when all of them take part and no other thread
// can see it: whether they have the same instructions, a communicator for Rondo's messages, the node of each rank.
// Later no communicator has to ask for any of it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/node.hpp"
#include "rondo/backends/mpi/slot.hpp"
#include "rondo/core/block.hpp"
#include "rondo/core/placement.hpp"

namespace rondo::mpi {

/// Tells the messages of one user communicator from those of others: tags on the world's communicator.
class Context {
  public:
    Context() = default;
    Context(int number, int tags, int meeting_tag) : number_(number), tags_(tags), meeting_tag_(meeting_tag) {}

    [[nodiscard]] bool exists() const { return tags_ > 0; }
    [[nodiscard]] int number() const { return number_; }
    /// The tag of the call with this number. Calls that follow one another have different tags.
    [[nodiscard]] int tag(std::uint32_t call) const { return number_ * tags_ + tag_of_call(call, tags_); }
    /// The tag of a persistent call when it is started for the `starts`-th time. `call`: its number, less than
    /// `most_persistent`.
    [[nodiscard]] int tag(std::uint32_t call, std::uint32_t starts) const {
        return number_ * tags_ + tag_of_start(call, starts, tags_);
    }
    [[nodiscard]] std::uint32_t most_persistent() const { return most_persistent_of(tags_); }

    // The number of tags is a power of two. The lower half is for calls that follow one another. Persistent calls,
    // which ranks may start in any order, have some of the upper half each: what a start that failed has left is not
    // taken for the next one's.
    static int tag_of_call(std::uint32_t call, int tags) {
        return static_cast<int>(call & (static_cast<std::uint32_t>(tags) / 2 - 1));
    }
    static int tag_of_start(std::uint32_t call, std::uint32_t starts, int tags) {
        return tags / 2 + static_cast<int>(call * tags_of_persistent + starts % tags_of_persistent);
    }
    static std::uint32_t most_persistent_of(int tags) {
        return static_cast<std::uint32_t>(tags) / 2 / tags_of_persistent;
    }
    /// The tag of the barrier messages before a call. Those from one rank to another arrive in the order in which they
    /// were sent, and as many are sent as are received: a single tag will do.
    [[nodiscard]] int meeting_tag() const { return meeting_tag_; }

  private:
    static constexpr std::uint32_t tags_of_persistent = 8;

    int number_ = 0;
    int tags_ = 0;  // a power of two; 0: there is no context
    int meeting_tag_ = 0;
};

class World {
  public:
    World() = default;
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// Agrees with all ranks in MPI_Init. Called once; communicates. `instructions`: a hash of what decides on this
    /// rank, the other arguments included.
    void agree(std::uint64_t instructions, bool ask_for_nodes, MemorySharing sharing);

    /// Sets the node of each rank, whatever the library says; empty: nodes stay as that says. Called once, after
    /// `agree`, on all ranks. Ranks that can share memory do so all the same.
    void impose_nodes(const std::vector<Rank>& node_of);

    /// Sets the text to that of rank 0, in MPI_Init, on all ranks that have agreed. False if that failed on this rank,
    /// unless the text is empty on all.
    bool share_text(std::string& text);
    /// True if it is true on all ranks. Called in MPI_Init, on all ranks that have agreed.
    [[nodiscard]] bool all_say(bool true_here);

    /// True if the ranks have agreed. False if MPI was initialised in a way that Rondo does not see, or not all ranks
    /// have taken part; then nothing else is known.
    [[nodiscard]] bool agreed() const { return agreed_; }
    /// True if that is because some rank has no Rondo, or came to MPI_Init long after the others.
    [[nodiscard]] bool misses_ranks() const { return misses_ranks_; }
    /// True if some rank before this one has Rondo. Where ranks are missed, it may be a guess.
    [[nodiscard]] bool hears_lower_ranks() const { return hears_lower_ranks_; }
    [[nodiscard]] bool ranks_disagree() const { return ranks_disagree_; }
    /// True if on every rank one thread at a time calls MPI.
    [[nodiscard]] bool is_serial() const { return is_serial_; }
    /// Room for the guard's trials that all communicators share.
    [[nodiscard]] Slot<30976>& slot() { return slot_; }
    /// The communicator of Rondo's messages, with the ranks of MPI_COMM_WORLD; MPI_COMM_NULL if there is none.
    [[nodiscard]] MPI_Comm messages() const { return messages_; }
    [[nodiscard]] MPI_Group group() const { return group_; }
    [[nodiscard]] Rank size() const { return size_; }
    [[nodiscard]] Rank rank() const { return rank_; }
    /// How all ranks are spread over the nodes, as far as is known.
    [[nodiscard]] const Spread& whole_spread() const { return spread_; }
    /// The ranks of MPI_COMM_WORLD: 0, 1, and so on.
    [[nodiscard]] std::span<const Rank> ranks() const { return ranks_; }
    /// True if the node of each rank is known; equal on all ranks.
    [[nodiscard]] bool knows_nodes() const { return !node_of_.empty(); }
    /// The first rank after rank 0 on its node, or on another node; no_rank if there is none, or if nodes are unknown.
    [[nodiscard]] Rank first_rank_after_0(bool on_its_node) const;
    /// Where these ranks of the world are; nothing if the nodes are unknown, which they are on all ranks or on none.
    [[nodiscard]] std::optional<Placement> placement(std::span<const Rank> ranks) const;
    /// How these ranks are spread over the nodes. Needs no memory: a rank that had none would know less than the
    /// others.
    [[nodiscard]] Spread spread(std::span<const Rank> ranks) const;
    /// How that many ranks can be spread over the nodes, whichever they are.
    [[nodiscard]] Spread possible_spread(Rank ranks) const;

    /// The ranks that are reached through shared memory; nullptr if there are none.
    [[nodiscard]] Node* node() const { return node_.get(); }
    /// True if every rank reaches all others of its node through shared memory. Equal on all ranks.
    [[nodiscard]] bool shares_memory() const { return shares_memory_; }
    /// True if some node has fewer processors for ranks than ranks. Equal on all ranks; false if nodes are unknown.
    [[nodiscard]] bool is_oversubscribed() const { return is_oversubscribed_; }
    /// Why memory is not shared though somebody asked for it, on one of the ranks concerned; empty elsewhere.
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    /// A context that no communicator with a rank in common has; none if all are taken. Collective over `comm`, where
    /// ranks wait for each other unless it is MPI_COMM_WORLD.
    Context meet(MPI_Comm comm);
    /// Adds an owner to a context, which has messages under way there. Nobody else gets it before all have given it
    /// back.
    void share(Context context);
    void give_back(Context context);

    /// Frees in MPI_Finalize what the library has made for the world. Nothing else is asked for from then on.
    void end();

  private:
    static constexpr int words = 8, contexts = words * 64;
    /// What a rank offers to the others: the contexts that are free here, a bit each; none while another
    /// thread takes one, so that two cannot take the same.
    struct Offer {
        std::uint64_t is_made = 0;
        std::uint64_t free[words] = {};
        std::uint64_t padding[1024 - words - 1] = {};
    };

    [[nodiscard]] Context context(int number) const { return {number, tags_, contexts * tags_ + number}; }
    struct Votes;
    std::optional<Votes> vote(std::uint64_t instructions, MemorySharing sharing);
    bool make_communicator();
    void find_nodes(MemorySharing sharing);
    void take_nodes(std::vector<Rank> node_of);
    Offer offer();
    Context settle(const Offer& common, bool is_mine, bool success);

    Slot<30976> slot_;
    bool agreed_ = false;
    bool misses_ranks_ = false;
    bool hears_lower_ranks_ = false;
    bool is_serial_ = false;
    bool ranks_disagree_ = false;
    MPI_Comm messages_{};
    MPI_Group group_{};
    Rank rank_ = 0, size_ = 1;
    std::vector<Rank> ranks_;
    std::vector<Rank> node_of_;  // node of each rank, by numbers below `size_`; empty if unknown
    Spread spread_;              // how all ranks are spread over the nodes
    Rank most_on_node_ = 0;
    mutable std::mutex counting_;
    mutable std::vector<Rank> ranks_on_;  // ranks on each node, of those that are being counted; else 0
    std::unique_ptr<Node> node_;
    bool shares_memory_ = false;
    bool is_oversubscribed_ = false;
    std::string complaint_;
    bool needs_padding_ = false;  // offers are made at their full length
    int tags_ = 0;                // tags of a context
    std::mutex mutex_;            // guards the members below
    std::uint64_t free_[words] = {};
    std::array<std::uint16_t, contexts> owners_{};  // owners of each context, on this rank
    bool offering_ = false;
};

/// The world of this process, which is never destroyed.
World& world();

/// True if MPI_Comm_spawn started this process. The processes that spawned it compute on the same processors.
bool was_spawned();

}  // namespace rondo::mpi
