// SPDX-License-Identifier: BSD-3-Clause
// The ranks of the world that this process reaches through memory of its node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/shared_memory/neighbours.hpp"
#include "rondo/core/placement.hpp"

namespace rondo::mpi {

/// Whether ranks of a node pass messages through memory that they share.
enum class MemorySharing : std::uint8_t {
    off,
    on,         ///< wherever the system allows it
    automatic,  ///< in a world on one node, of few ranks, with a processor for each; no message if it fails
};

struct NodeCard;

class Node {
  public:
    /// Maps the memory of ranks on this node. Called once, collective over `comm`: the ranks of one node, of a world of
    /// so many. nullptr if this rank reaches nobody, or not every rank has a processor and `needs_processors`.
    /// `is_oversubscribed`: there are fewer processors than ranks. `complaint`: why it does not reach some rank; empty
    /// if it reaches all.
    static std::unique_ptr<Node> meet(MPI_Comm comm, Rank world_rank, Rank world_size, bool needs_processors,
                                      bool is_oversubscribed, std::string& complaint);

    [[nodiscard]] shared_memory::Neighbours& neighbours() { return neighbours_; }
    /// The number of a rank of the world among the neighbours; -1 if the library carries messages to it, and from it.
    /// Both ends have the same answer.
    [[nodiscard]] int neighbour(Rank world_rank) const { return neighbour_of_[static_cast<std::size_t>(world_rank)]; }
    /// True if all are this rank, or ranks that it reaches through memory.
    [[nodiscard]] bool reaches_all(std::span<const Rank> world_ranks) const;
    /// The ranks of the world that are reached through memory.
    [[nodiscard]] std::vector<Rank> reached() const;
    /// True if the node, or the machine that it is on, is oversubscribed: another process may need the core of a rank
    /// that waits.
    [[nodiscard]] bool is_oversubscribed() const { return is_oversubscribed_; }

  private:
    Node(int self, int count, Rank world_rank, Rank world_size)
        : neighbours_(self, count), world_rank_(world_rank), neighbour_of_(static_cast<std::size_t>(world_size), -1) {}
    bool find_neighbours(std::span<const NodeCard> cards, std::string& complaint);

    shared_memory::Neighbours neighbours_;
    Rank world_rank_;
    std::vector<int> neighbour_of_;
    bool is_oversubscribed_ = false;
};

}  // namespace rondo::mpi
