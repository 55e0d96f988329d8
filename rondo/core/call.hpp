// SPDX-License-Identifier: BSD-3-Clause
// The facts of one collective call on one rank: all that an algorithm may know. A schedule is a pure function of them.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "rondo/core/block.hpp"
#include "rondo/core/placement.hpp"
#include "rondo/core/rank_map.hpp"

namespace rondo {

/// A parameter of an algorithm with its value in this call. The name is borrowed from the algorithm's description.
struct Setting {
    std::string_view name;
    Count value;
};

/// A setting of a choice that is still to be made for the call and the machine: see Parameter::automatic. A Call has
/// none left.
inline constexpr Count automatic = 0;

/// What an algorithm may know of the reduction operator.
struct Operator {
    bool commutative = false;
};

/// What a rank's buffer holds of the vector that a call is about: all of it, or the part that is the rank's. The whole
/// at the root means nothing on other ranks, where its block is as long: nobody reads or writes it there. Or each rank
/// has a vector of its own, cut into a part for each rank (input) or from each (output): an all-to-all.
enum class Share : std::uint8_t { whole, part, whole_at_root, own };

/// What all ranks of a communicator know alike about a call. Only such facts may decide anything: who decides takes
/// them, and nothing else of a call.
struct SharedFacts {
    Rank size = 1;            ///< ranks of the communicator
    Count count = 0;          ///< elements of the whole vector; 0 if no rank, or the root alone, knows all of them
    Count element_bytes = 1;  ///< size of the data of one element; turns a segment in bytes into elements
    Rank root = 0;
    Operator op;
    Share input = Share::whole, output = Share::whole;  ///< see Traits of the collective
    /// Where the part of each rank starts, as Parts takes it. Empty: the parts are even.
    std::span<const Count> starts = {};
    /// Of these ranks on nodes; borrowed. nullptr: nobody knows, or the algorithm does not ask
    /// (AlgorithmInfo::uses_nodes). Then each rank counts as a node of its own.
    const Placement* placement = nullptr;

    [[nodiscard]] constexpr Count bytes() const { return count * element_bytes; }
    /// The whole vector, in some place, cut into the parts of the ranks.
    [[nodiscard]] constexpr Parts parts(Block whole) const { return {whole, size, starts}; }
};

/// What one rank knows of a call, and others need not know. It says where this rank's data are, and never decides
/// anything: ranks that decided by it would run different algorithms.
struct LocalFacts {
    Rank rank = 0;
    /// The input stands in the output buffer (MPI_IN_PLACE): a whole vector from its beginning, a part where it belongs
    /// in the whole; the part that a scatter leaves on its root stands there, too. Where there is a root, MPI lets only
    /// the root say so.
    bool in_place = false;
    /// Where nobody knows the lengths of all parts (MPI_Alltoallv), or the root alone does (MPI_Gatherv, MPI_Scatterv):
    /// where the part for each rank stands in the input, and where the part from each belongs in the output; borrowed.
    /// Where there is a root, it alone has such a vector; the part of each rank is a single block, from 0 on. Both
    /// empty: the parts are as the shared facts have them.
    std::span<const Block> outgoing = {}, incoming = {};
};

class Call {
  public:
    /// What a call on a group has besides its blocks. `starts`: see `on`; borrowed.
    struct Within {
        Rank root = 0;  ///< in the numbering of the group
        std::span<const Count> starts = {};
    };

    /// `settings` is borrowed.
    Call(const SharedFacts& facts, const LocalFacts& local, std::span<const Setting> settings = {})
        : facts_(facts), local_(local), group_(RankMap::everyone(facts.size)), settings_(settings),
          input_(held(facts.input, Buffer::input, local.outgoing)),
          output_(held(facts.output, Buffer::output, local.incoming)), scratch_(&own_scratch_) {
        if (facts.input == Share::own && facts.count % facts.size != 0) refuse_unequal_parts();
        if (!local.in_place) return;
        const Block own = parts(Block(0, facts.count, Buffer::output))[local.rank];
        input_ = facts.input == Share::part ? own : Block(0, input_.count, Buffer::output);
        if (facts.input == Share::whole_at_root && facts.output == Share::part) output_ = own;
    }

    Call(const Call&) = delete;  // schedules hold on to the address
    Call& operator=(const Call&) = delete;
    ~Call() = default;

    /// This rank's number and the number of ranks, in the group that this call is on: `const auto [r, p] = ...`.
    [[nodiscard]] std::pair<Rank, Rank> ranks() const { return {local_.rank, group_.size()}; }
    [[nodiscard]] const RankMap& group() const { return group_; }

    [[nodiscard]] const SharedFacts& facts() const { return facts_; }
    [[nodiscard]] const LocalFacts& local() const { return local_; }
    [[nodiscard]] Count count() const { return facts_.count; }
    /// A place for the whole vector, cut into the parts of the ranks of the group.
    [[nodiscard]] Parts parts(Block whole) const { return facts_.parts(whole); }
    [[nodiscard]] bool in_place() const { return local_.in_place; }
    [[nodiscard]] bool commutative() const { return facts_.op.commutative; }

    /// This rank's contribution. In a call in place it stands in the output buffer: it is the same block as `output()`,
    /// or, where one of them is a part of the vector, begins with it or contains it; unless the algorithm does not
    /// tolerate that (then it stands in scratch; see `schedule_of`).
    [[nodiscard]] Block input() const { return input_; }
    /// Where the result goes.
    [[nodiscard]] Block output() const { return output_; }
    /// Where each rank has a part for each, or the root has (scatter): the part of the input for a rank. And where the
    /// part from a rank goes, in an all-to-all or on the root of a gather.
    [[nodiscard]] Block outgoing(Rank to) const { return part(input_, local_.outgoing, to); }
    [[nodiscard]] Block incoming(Rank from) const { return part(output_, local_.incoming, from); }
    /// True if all ranks know how long these are.
    [[nodiscard]] bool has_shared_lengths() const { return local_.outgoing.empty() && local_.incoming.empty(); }
    /// A fresh block of scratch memory, disjoint from all others of this call; as long as the whole vector unless said.
    [[nodiscard]] Block scratch(Count count) const {
        const Block block(scratch_->next, count, Buffer::scratch);
        scratch_->next += count;
        scratch_->most = std::max(scratch_->most, scratch_->next);
        return block;
    }
    [[nodiscard]] Block scratch() const { return scratch(facts_.count); }
    /// How many elements a buffer has: of scratch, what was handed out so far.
    [[nodiscard]] Count size_of(Buffer buffer) const;
    /// Elements of scratch handed out so far.
    [[nodiscard]] Count scratch_used() const { return scratch_->most; }
    /// Where the next block of scratch begins. What was handed out from there on is handed out once more after
    /// `reuse_scratch`: nothing in it may be of use any more.
    [[nodiscard]] Count scratch_mark() const { return scratch_->next; }
    void reuse_scratch(Count mark) const { scratch_->next = mark; }

    /// The value of one of the algorithm's declared parameters. Throws Error if it was not declared.
    [[nodiscard]] Count setting(std::string_view name) const;
    [[nodiscard]] std::span<const Setting> settings() const { return settings_; }
    /// Elements in `setting("segment")` bytes, at least one.
    [[nodiscard]] Count segment_count() const;
    /// Cuts a block into segments of at most so many elements.
    [[nodiscard]] Segments segments(Block block) const { return {block, segment_count()}; }

    /// Another call on a group of ranks, of which this rank is number `rank`. The group is a map into this call's
    /// numbering of the *communicator*, settings and scratch are shared. The longer one of the blocks holds the whole
    /// vector, whose parts are even unless `starts` says otherwise. For composition.
    [[nodiscard]] Call on(const RankMap& group, Rank rank, Block input, Block output,
                          std::span<const Count> starts = {}) const {
        return Call(*this, group, rank, input, output, {.root = facts_.root, .starts = starts});
    }
    [[nodiscard]] Call on(const RankMap& group, Rank rank, Block input, Block output, const Within& within) const {
        return Call(*this, group, rank, input, output, within);
    }
    /// Where a rank of this call is: see Placement. In a call on a group, each rank is a node of its own.
    [[nodiscard]] Placement::Place place(Rank rank) const {
        return facts_.placement == nullptr ? Placement::Place{rank, 0} : facts_.placement->place(rank);
    }
    [[nodiscard]] Rank lanes() const { return facts_.placement == nullptr ? 1 : facts_.placement->lanes(); }
    [[nodiscard]] Rank nodes() const { return facts_.placement == nullptr ? facts_.size : facts_.placement->nodes(); }
    [[nodiscard]] Rank ranks_on_node(Rank node) const {
        return facts_.placement == nullptr ? 1 : facts_.placement->on_node(node).size();
    }
    /// Of this rank's node.
    [[nodiscard]] Rank ranks_on_node() const { return ranks_on_node(place(local_.rank).node); }
    /// The rank of this call with a number on a node: the reverse of `place`.
    [[nodiscard]] Rank rank_at(Rank node, Rank number) const {
        return facts_.placement == nullptr ? node : facts_.placement->on_node(node)(number);
    }
    /// True if the ranks of each node come before those of the next.
    [[nodiscard]] bool nodes_in_rank_order() const {
        return facts_.placement == nullptr || facts_.placement->in_rank_order();
    }
    /// Another call on the ranks of this rank's node, in which ranks have their numbers there.
    [[nodiscard]] Call on_node(Block input, Block output, const Within& within) const;
    /// Another call on the ranks with this rank's number on their nodes, one of each node, numbered as the nodes are.
    /// Only on ranks whose number is below `lanes()`: beyond, some nodes have no such rank.
    [[nodiscard]] Call on_lane(Block input, Block output, const Within& within) const;
    /// `on_lane`, but only on the first ranks of the nodes.
    [[nodiscard]] Call on_leaders(Block input, Block output, const Within& within) const;

    /// Another call on the same ranks.
    [[nodiscard]] Call on(Block input, Block output) const { return on(input, output, facts_.placement); }
    /// As if the ranks were elsewhere; the placement is borrowed.
    [[nodiscard]] Call on(Block input, Block output, const Placement* placement) const {
        return Call(*this, group_, local_.rank, input, output, {.root = facts_.root, .starts = facts_.starts},
                    placement);
    }

  private:
    Call(const Call& whole, const RankMap& group, Rank rank, Block input, Block output, const Within& within,
         const Placement* placement = nullptr)
        : facts_(whole.facts_), local_{.rank = rank, .in_place = overlap(input, output)}, group_(group),
          settings_(whole.settings_), input_(input), output_(output), scratch_(whole.scratch_) {
        facts_.count = std::max(input.count, output.count);
        facts_.size = group.size();
        facts_.root = within.root;
        facts_.starts = within.starts;
        facts_.placement = placement;
    }

    [[nodiscard]] Block held(Share share, Buffer buffer, std::span<const Block> placed) const {
        Count end = facts_.count;
        for (const Block& part : placed) end = std::max(end, part.last());
        const Block whole(0, end, buffer);
        const bool is_shared = share == Share::part && placed.empty();
        return is_shared ? Block(0, parts(whole)[local_.rank].count, buffer) : whole;
    }
    [[nodiscard]] Block part(Block whole, std::span<const Block> placed, Rank of) const {
        if (placed.empty()) return parts(whole)[of];
        const Block& place = placed[static_cast<std::size_t>(of)];
        return whole.part(place.first, place.count);
    }
    [[noreturn]] static void refuse_unequal_parts();

    SharedFacts facts_;
    LocalFacts local_;
    RankMap group_;
    std::span<const Setting> settings_;
    Block input_, output_;
    struct Scratch {
        Count next = 0, most = 0;
    };
    Scratch* scratch_;  // of the outermost call
    Scratch own_scratch_;
    friend const RankMap& group_of(const Call& call);
};

inline const RankMap& group_of(const Call& call) { return call.group_; }

}  // namespace rondo
