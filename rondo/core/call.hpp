// SPDX-License-Identifier: BSD-3-Clause
// The facts of one collective call on one rank: all that an algorithm may know. A schedule is a pure function of them.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "rondo/core/block.hpp"
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

/// What all ranks of a communicator know alike about a call. Only such facts may decide anything.
struct CallFacts {
    Rank size = 1;            ///< ranks of the communicator
    Count count = 0;          ///< elements
    Count element_bytes = 1;  ///< size of the data of one element; turns a segment in bytes into elements
    Rank root = 0;
    Operator op;

    [[nodiscard]] constexpr Count bytes() const { return count * element_bytes; }
};

class Call {
  public:
    /// `settings` is borrowed. `in_place`: the input stands in the output buffer (MPI_IN_PLACE).
    Call(const CallFacts& facts, Rank rank, std::span<const Setting> settings = {}, bool in_place = false)
        : facts_(facts), rank_(rank), in_place_(in_place), group_(RankMap::everyone(facts.size)), settings_(settings),
          input_(0, facts.count, in_place ? Buffer::output : Buffer::input), output_(0, facts.count, Buffer::output),
          scratch_used_(&own_scratch_used_) {}

    Call(const Call&) = delete;  // schedules hold on to the address
    Call& operator=(const Call&) = delete;
    ~Call() = default;

    /// This rank's number and the number of ranks, in the group that this call is on: `const auto [r, p] = ...`.
    [[nodiscard]] std::pair<Rank, Rank> ranks() const { return {rank_, group_.size()}; }
    [[nodiscard]] const RankMap& group() const { return group_; }

    [[nodiscard]] const CallFacts& facts() const { return facts_; }
    [[nodiscard]] Count count() const { return facts_.count; }
    [[nodiscard]] bool in_place() const { return in_place_; }
    [[nodiscard]] bool commutative() const { return facts_.op.commutative; }

    /// This rank's contribution. The same block as `output()` in a call in place, unless the algorithm does not
    /// tolerate that (then it stands in scratch; see `schedule_of`).
    [[nodiscard]] Block input() const { return input_; }
    /// Where the result goes.
    [[nodiscard]] Block output() const { return output_; }
    /// A fresh block of scratch memory, disjoint from all others of this call; as long as the input unless said.
    [[nodiscard]] Block scratch(Count count) const {
        const Block block(*scratch_used_, count, Buffer::scratch);
        *scratch_used_ += count;
        return block;
    }
    [[nodiscard]] Block scratch() const { return scratch(facts_.count); }
    /// Elements of scratch handed out so far.
    [[nodiscard]] Count scratch_used() const { return *scratch_used_; }

    /// The value of one of the algorithm's declared parameters. Throws Error if it was not declared.
    [[nodiscard]] Count setting(std::string_view name) const;
    /// Cuts a block into segments of at most `setting("segment")` bytes.
    [[nodiscard]] Segments segments(Block block) const;

    /// The same call on a group of ranks, of which this rank is number `rank`. The group is a map into this call's
    /// numbering of the *communicator*, settings and scratch are shared. For composition.
    [[nodiscard]] Call on(const RankMap& group, Rank rank, Block input, Block output) const {
        return Call(*this, group, rank, input, output);
    }

  private:
    Call(const Call& whole, const RankMap& group, Rank rank, Block input, Block output)
        : facts_(whole.facts_), rank_(rank), in_place_(input == output), group_(group), settings_(whole.settings_),
          input_(input), output_(output), scratch_used_(whole.scratch_used_) {
        facts_.count = input.count;
        facts_.size = group.size();
    }

    CallFacts facts_;
    Rank rank_;
    bool in_place_;
    RankMap group_;
    std::span<const Setting> settings_;
    Block input_, output_;
    Count* scratch_used_;  // of the outermost call
    Count own_scratch_used_ = 0;
    friend const RankMap& group_of(const Call& call);
};

inline const RankMap& group_of(const Call& call) { return call.group_; }

}  // namespace rondo
