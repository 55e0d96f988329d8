// SPDX-License-Identifier: BSD-3-Clause
// What the virtual backend runs: one algorithm, one call, all ranks; and what it counts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "rondo/backends/virtual/cost_model.hpp"
#include "rondo/backends/virtual/memory.hpp"
#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/plan.hpp"

namespace rondo::virtual_machine {

/// Where parts of any lengths stand, of an all-to-all, or of the root of a scatter or gather.
class PartTable {
  public:
    /// How parts follow one another: with so many elements in between, and in reverse order.
    struct Order {
        Count gap = 0;
        bool reverse = false;
    };

    /// Of an all-to-all, in which only parts that come may be in reverse order. `count(from, to)`: elements.
    PartTable(Rank size, const std::function<Count(Rank from, Rank to)>& count, Order order);
    /// `count(rank)`: elements of a rank's part. The root sends them, or they come there.
    PartTable(Rank size, Rank root, bool root_sends, const std::function<Count(Rank rank)>& count, Order order);

    [[nodiscard]] std::span<const Block> outgoing(Rank rank) const { return outgoing_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] std::span<const Block> incoming(Rank rank) const { return incoming_[static_cast<std::size_t>(rank)]; }

  private:
    std::vector<std::vector<Block>> outgoing_, incoming_;  // of each rank
};

struct Problem {
    const AlgorithmInfo& algorithm;
    SharedFacts facts;  ///< by whose placement messages are inside a node or between nodes, whatever the algorithm asks
    std::span<const Setting> settings;  ///< borrowed; see AlgorithmInfo::standard_settings
    bool in_place = false;              ///< on the ranks that can be (see promise.hpp)
    int ports = 1;  ///< how many sends, and how many receives, one exchange may hold, if the algorithm says nothing
    const PartTable* parts = nullptr;  ///< where not all ranks know the lengths of all parts

    [[nodiscard]] std::unique_ptr<Call> call(Rank rank) const;
    /// The slots of a rank's call.
    [[nodiscard]] Slots slots(const Call& call) const {
        return algorithm.slot == nullptr ? Slots() : slots_of(call, algorithm.slot(facts, settings));
    }
    /// What the buffers of a rank hold before the call.
    [[nodiscard]] Memory memory(Rank rank) const;
};

/// Where ranks are, as links and wires see it: whatever the algorithm asks. Borrows the placement.
class NodesOf {
  public:
    explicit NodesOf(const SharedFacts& facts) : ranks_(facts.size) {
        if (facts.placement != nullptr && facts.placement->most_on_node() > 1) placement_ = facts.placement;
    }
    [[nodiscard]] Rank size() const { return are_shared() ? placement_->nodes() : ranks_; }
    /// Has any of them several ranks?
    [[nodiscard]] bool are_shared() const { return placement_ != nullptr; }
    [[nodiscard]] Rank of(Rank rank) const { return are_shared() ? placement_->place(rank).node : rank; }
    /// Is another rank on the same node as this one?
    [[nodiscard]] auto beside(Rank rank) const {
        return [this, node = of(rank)](Rank other) { return of(other) == node; };
    }

  private:
    Rank ranks_;
    const Placement* placement_ = nullptr;  // nullptr: each rank is a node of its own
};

/// What one rank did.
struct RankCounts {
    std::int64_t sent = 0;        ///< messages
    std::int64_t received = 0;    ///< messages
    Count volume = 0;             ///< elements sent
    std::int64_t operations = 0;  ///< applications of the operator to a block
    Count combined = 0;           ///< elements that those produced
    double time = 0;              ///< when it was finished
};

struct Outcome {
    std::vector<RankCounts> ranks;
    double time = 0;  ///< of the slowest rank

    [[nodiscard]] std::int64_t most_operations() const;
    [[nodiscard]] std::int64_t most_volume() const;
};

/// What becomes of a block when it is sent: slots are of no use any more. Throws Error if they are not whole.
void leave(const Slots& slots, const Block& sent, Memory& memory);

/// Throws Error, naming the rank and the elements, unless every rank holds what the collective promises it, and holds
/// what it held before where it promises nothing. `memories` by rank.
void check_result(const Problem& problem, std::span<Memory> memories);

/// "rank 3, step 2 (exchange: send output[0, 7) to 4, receive scratch[0, 7) from 1): "
std::string where(Rank rank, std::int64_t step_number, const Step& step);
std::string where(Rank rank, const Plan& plan, const Action& action);

}  // namespace rondo::virtual_machine
