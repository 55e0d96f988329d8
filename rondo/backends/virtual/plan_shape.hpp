// SPDX-License-Identifier: BSD-3-Clause
// What the plans of different ranks have in common, written down once: all but who the peers are, and where blocks lie.
// On regular patterns a million ranks share a few shapes, which stay in the processor's caches.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "rondo/core/plan.hpp"

namespace rondo::virtual_machine {

struct ShapedAction {
    Count count = 0;                            ///< elements of Action::block
    std::uint32_t first_dependent = 0;          ///< up to that of the next action
    std::uint32_t next_to_peer = Action::none;  ///< as in the plan
    std::uint32_t waits_for = 0;                ///< conditions
    std::uint32_t peer = 0;                     ///< of a transfer: its number among the rank's peers
    std::uint32_t step : step_bits = 0;         ///< as in the plan, as are the next two
    ActionKind kind : 2 = ActionKind::copy;
    bool inside : 1 = false;
    bool near = false;  ///< of a transfer: with a rank of the same node, whether the algorithm asks for nodes or not

    [[nodiscard]] bool is_transfer() const { return kind == ActionKind::send || kind == ActionKind::receive; }
    friend bool operator==(const ShapedAction&, const ShapedAction&) = default;
};

static_assert(sizeof(ShapedAction) == 32);

/// Of the bits of what is ready, one for each action: words of them, and behind those a summary, one bit for each word.
struct ReadyLayout {
    static constexpr std::uint32_t bits = 64;
    [[nodiscard]] static constexpr std::uint64_t bit(std::uint32_t index) { return std::uint64_t{1} << index % bits; }
    [[nodiscard]] static constexpr std::uint32_t first_of(std::uint32_t word, std::uint64_t content) {
        return word * bits + static_cast<std::uint32_t>(std::countr_zero(content));
    }
    [[nodiscard]] static constexpr std::uint32_t words(std::uint32_t number) { return (number + bits - 1) / bits; }
    [[nodiscard]] static constexpr std::uint32_t words_in_all(std::uint32_t actions) {
        return words(actions) + words(words(actions));
    }
};

struct PlanShape {
    std::vector<ShapedAction> actions;  ///< and one more, which ends the dependents of the last
    std::vector<std::uint32_t> dependents;
    // By the number of a peer: the first message to and from it, or none.
    std::vector<std::uint32_t> first_send, first_receive;
    std::vector<std::uint64_t> ready_at_once;  ///< of what waits for nothing: a ReadyLayout for each kind

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(actions.size() - 1); }
    [[nodiscard]] std::size_t peers() const { return first_send.size(); }
};

/// Receives, sends, local work.
inline constexpr std::size_t ready_kinds = 3;
[[nodiscard]] constexpr std::size_t ready_kind(ActionKind kind) {
    return kind == ActionKind::receive ? 0 : kind == ActionKind::send ? 1 : 2;
}

/// All that there are, each once.
class PlanShapes {
  public:
    /// Of the plan of a rank among `ranks`; stays where it is. `near(peer)`: is it on the same node?
    template <class Near>
    const PlanShape& of(const Plan& plan, Rank ranks, Near&& near) {
        begin(plan, ranks);
        for (std::uint32_t index = 0; index < plan.actions().size(); ++index) {
            const Action& action = plan.actions()[index];
            ShapedAction& shaped = add(plan, index);
            if (!action.is_transfer()) continue;
            shaped.peer = number_of(action.peer);
            shaped.near = near(action.peer);
        }
        return end(plan);
    }

    /// Of that plan, in the order in which they come first.
    [[nodiscard]] std::span<const Rank> peers() const { return peers_; }

  private:
    void begin(const Plan& plan, Rank ranks);
    ShapedAction& add(const Plan& plan, std::uint32_t index);
    std::uint32_t number_of(Rank peer);
    const PlanShape& end(const Plan& plan);
    const PlanShape& keep(std::uint64_t hash, const Plan& plan);

    std::unordered_multimap<std::uint64_t, std::unique_ptr<const PlanShape>> shapes_;
    PlanShape next_;                     // what is being written down
    std::vector<std::uint32_t> number_;  // of each rank among the peers; none of most
    std::vector<Rank> peers_;
};

}  // namespace rondo::virtual_machine
