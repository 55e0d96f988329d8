// SPDX-License-Identifier: BSD-3-Clause
// The state of a rank in virtual time, and the scoreboard of its plan: the rules of all executors, on memory that all
// ranks share, so that a million of them cost little.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "rondo/backends/virtual/plan_shape.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo::virtual_machine {

/// An action of a rank.
struct Site {
    Rank rank;
    std::uint32_t own;  ///< among the rank's actions
};

/// When it is idle again, in each direction.
struct Wire {
    double egress_free = 0, ingress_free = 0;
    double ingress_from = 0;  ///< since when it has been busy, when it was last
};

/// What changes of an action while plans run.
struct Progress {
    double ready = 0;                          ///< of a transfer, as is what follows but `waits`: see VirtualTime
    double left = 0;                           ///< with shared wires: when the last byte of a send did
    std::uint32_t waits = 0;                   ///< for so many conditions
    std::uint32_t counterpart = Action::none;  ///< the action of the peer, as far as it is known
    std::uint32_t behind = Action::none;       ///< with shared wires: what waits behind a send
    std::uint32_t legs = 0;                    ///< with shared wires: how many of its wires a send has to get through
};
static_assert(sizeof(Progress) == 32);

struct ReadyState {
    std::uint32_t low = 0;  ///< no word of the summary before this one has a bit
    std::uint32_t under_way = 0;
    Rank peer = no_rank;
};

struct alignas(64) VirtualRank {
    const PlanShape* shape = nullptr;
    std::uint32_t first = 0;       ///< action of the rank, in the numbering of all actions
    std::uint32_t first_peer = 0;  ///< in that of the peers of all ranks
    std::uint32_t first_word = 0;  ///< in that of the bits of what is ready
    Rank node = 0;
    double processor_free = 0;
    Wire wire = {};  ///< its own
    std::uint32_t incomplete = 0;
    std::uint32_t earliest = 0;
    std::array<ReadyState, ready_kinds> ready;

    void start() {
        incomplete = shape->size();
        earliest = 0;
        ready = {};
    }
};

/// The actions of a kind that wait for nothing: a bit for each action of the rank, and a bit for each word of those
/// that has any (ReadyLayout).
class ReadyBits {
  public:
    ReadyBits(ReadyState& state, std::uint64_t* words, std::uint32_t size)
        : under_way(state.under_way), peer(state.peer), low_(state.low), words_(words), summary_(words + size),
          summary_size_(ReadyLayout::words(size)) {}

    [[nodiscard]] std::uint32_t first() const {
        while (low_ < summary_size_ && summary_[low_] == 0) ++low_;
        if (low_ == summary_size_) return Action::none;
        const std::uint32_t word = ReadyLayout::first_of(low_, summary_[low_]);
        return ReadyLayout::first_of(word, words_[word]);
    }
    void insert(std::uint32_t index) {
        const std::uint32_t word = index / ReadyLayout::bits;
        words_[word] |= ReadyLayout::bit(index);
        summary_[word / ReadyLayout::bits] |= ReadyLayout::bit(word);
        low_ = std::min(low_, word / ReadyLayout::bits);
    }
    void take(std::uint32_t index) {
        const std::uint32_t word = index / ReadyLayout::bits;
        words_[word] &= ~ReadyLayout::bit(index);
        if (words_[word] == 0) summary_[word / ReadyLayout::bits] &= ~ReadyLayout::bit(word);
    }

    std::uint32_t& under_way;
    Rank& peer;

  private:
    std::uint32_t& low_;
    std::uint64_t *words_, *summary_;
    std::uint32_t summary_size_;
};

/// Borrows all that it is given.
class RankBoard : public ScoreboardRules<RankBoard> {
  public:
    RankBoard(VirtualRank& state, Progress* progress, std::uint64_t* ready, const FlightLimits& limits,
              std::uint64_t element_bytes)
        : state_(state), progress_(progress), ready_(ready), limits_(limits),
          plan_{state.shape->actions.data(), state.shape->dependents.data(), element_bytes} {}

    struct ShapeInBytes {
        const ShapedAction* actions;
        const std::uint32_t* dependents_of_all;
        std::uint64_t element_bytes;

        [[nodiscard]] ActionKind kind_of(std::uint32_t index) const { return actions[index].kind; }
        [[nodiscard]] std::uint32_t step_of(std::uint32_t index) const { return actions[index].step; }
        [[nodiscard]] Rank peer_of(std::uint32_t index) const { return static_cast<Rank>(actions[index].peer); }
        [[nodiscard]] bool is_inside(std::uint32_t index) const { return actions[index].inside; }
        [[nodiscard]] std::uint64_t bytes_of(std::uint32_t index) const {
            return static_cast<std::uint64_t>(actions[index].count) * element_bytes;
        }
        [[nodiscard]] std::uint32_t next_to_peer(std::uint32_t index) const { return actions[index].next_to_peer; }
        [[nodiscard]] std::span<const std::uint32_t> dependents(std::uint32_t index) const {
            return {dependents_of_all + actions[index].first_dependent,
                    dependents_of_all + actions[index + 1].first_dependent};
        }
    };

    // For the rules.
    [[nodiscard]] const FlightLimits& limits() const { return limits_; }
    [[nodiscard]] const ShapeInBytes& plan() const { return plan_; }
    std::uint32_t& waits(std::uint32_t index) { return progress_[index].waits; }
    std::uint32_t& left() { return state_.incomplete; }
    std::uint32_t& earliest() { return state_.earliest; }
    ReadyBits ready(ActionKind kind) {
        const std::size_t number = ready_kind(kind);
        const std::uint32_t words = ReadyLayout::words(state_.shape->size());
        return {state_.ready[number], ready_ + number * ReadyLayout::words_in_all(state_.shape->size()), words};
    }

  private:
    VirtualRank& state_;
    Progress* progress_;
    std::uint64_t* ready_;
    const FlightLimits& limits_;
    ShapeInBytes plan_;
};

}  // namespace rondo::virtual_machine
