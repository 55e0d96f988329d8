// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of MPI_COMM_WORLD agree on while MPI is initialised, when all of them take part and no other thread
// can see it: whether they have the same instructions, a communicator for Rondo's messages, the node of each rank.
// Later no communicator has to ask for any of it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rondo/backends/mpi/contexts.hpp"
#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/node.hpp"
#include "rondo/backends/mpi/slot.hpp"
#include "rondo/core/block.hpp"
#include "rondo/core/host.hpp"
#include "rondo/core/placement.hpp"

namespace rondo::mpi {

class World {
  public:
    World() = default;
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// Agrees with all ranks in MPI_Init. Called once; communicates. `instructions`: a hash of what decides on this
    /// rank, the next two arguments included. `machine`: a name that is equal on all ranks of one.
    void agree(std::uint64_t instructions, bool ask_for_nodes, MemorySharing sharing,
               const std::string& machine = machine_identity());

    /// Says where each rank is, whatever the library says. Called once, after `agree`, on all ranks. Ranks that can
    /// share memory do so all the same. False, and nothing changes, if domains are those of one node, and the ranks are
    /// not known to be on one.
    [[nodiscard]] bool impose(const Placement& placement);

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
    /// Where its node has domains, one on its node is one in its domain.
    [[nodiscard]] Rank first_rank_after_0(bool on_its_node) const;
    /// Where these ranks of the world are: on which node, or, where all are on one, in which of its domains. Nothing if
    /// the nodes are unknown, which they are on all ranks or on none.
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
    /// True if some node has fewer processors for ranks than ranks, or the machine on which all nodes are. Equal on all
    /// ranks; false if nodes are unknown.
    [[nodiscard]] bool is_oversubscribed() const { return is_oversubscribed_; }
    /// Why memory is not shared though somebody asked for it, on one of the ranks concerned; empty elsewhere.
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    /// Tags of the messages' communicator; there are none before `agree` and after `end`.
    [[nodiscard]] Contexts& contexts() { return contexts_; }

    /// Frees in MPI_Finalize what the library has made for the world. Nothing else is asked for from then on.
    void end();

  private:
    struct Votes;
    std::optional<Votes> vote(std::uint64_t instructions, MemorySharing sharing, const std::string& machine);
    bool make_communicator(int tags);
    void find_nodes(MemorySharing sharing, bool are_on_one_machine);
    void take_nodes(std::vector<Rank> node_of, std::vector<Rank> domain_of);
    /// Groups of ranks: nodes, or domains.
    struct Groups {
        Rank number, fewest, most;
        bool in_rank_order;
    };
    [[nodiscard]] Groups groups(std::span<const Rank> ranks, const std::vector<Rank>& group_of) const;

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
    std::vector<Rank> node_of_;    // node of each rank, by numbers below `size_`; empty if unknown
    std::vector<Rank> domain_of_;  // domain of each rank, in the same way; empty if no node has several
    Spread spread_;                // how all ranks are spread over the nodes
    mutable std::mutex counting_;
    mutable std::vector<Rank> ranks_in_;  // ranks in each group, of those that are being counted; else 0
    std::unique_ptr<Node> node_;
    bool shares_memory_ = false;
    bool is_oversubscribed_ = false;
    std::string complaint_;
    Contexts contexts_;
};

/// The world of this process, which is never destroyed.
World& world();

/// True if MPI_Comm_spawn started this process. The processes that spawned it compute on the same processors.
bool was_spawned();

}  // namespace rondo::mpi
