// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/plan_shape.hpp"

#include <bit>

namespace rondo::virtual_machine {
namespace {

/// Equal shapes have equal ones. A multiply and a rotation for each word [appleby2008murmur].
///
/// [appleby2008murmur] A. Appleby, MurmurHash 2.0, 2008.
std::uint64_t hash_of(const PlanShape& shape) {
    static_assert(sizeof(ShapedAction) % sizeof(std::uint64_t) == 0);
    constexpr std::uint64_t factor = 0xC6A4A7935BD1E995;
    std::uint64_t hash = shape.actions.size();
    const auto mix = [&](std::uint64_t word) { hash = std::rotl((hash ^ word) * factor, 27); };
    for (const ShapedAction& action : shape.actions) {
        mix(static_cast<std::uint64_t>(action.count));
        mix(std::uint64_t{action.first_dependent} << 32 | action.next_to_peer);
        mix(std::uint64_t{action.waits_for} << 32 | action.peer);
        mix(std::uint64_t{action.step} << 4 | std::uint64_t(action.kind) << 2 | (action.inside ? 2U : 0U) |
            (action.near ? 1U : 0U));
    }
    for (const std::uint32_t dependent : shape.dependents) mix(dependent);
    return hash;
}

}  // namespace

void PlanShapes::begin(const Plan& plan, Rank ranks) {
    next_.actions.clear();
    next_.actions.reserve(plan.actions().size() + 1);
    next_.dependents.clear();
    peers_.clear();
    number_.resize(static_cast<std::size_t>(ranks), Action::none);
}

ShapedAction& PlanShapes::add(const Plan& plan, std::uint32_t index) {
    const Action& action = plan.actions()[index];
    ShapedAction& shaped = next_.actions.emplace_back();
    shaped.count = action.block.count;
    shaped.first_dependent = action.first_dependent;
    shaped.waits_for = plan.waits_for()[index];
    shaped.step = action.step;
    shaped.kind = action.kind;
    shaped.inside = action.inside;
    if (action.is_transfer()) shaped.next_to_peer = plan.next_to_peer(index);
    const auto dependents = plan.dependents(index);
    next_.dependents.insert(next_.dependents.end(), dependents.begin(), dependents.end());
    return shaped;
}

std::uint32_t PlanShapes::number_of(Rank peer) {
    std::uint32_t& number = number_[static_cast<std::size_t>(peer)];
    if (number == Action::none) {
        number = static_cast<std::uint32_t>(peers_.size());
        peers_.push_back(peer);
    }
    return number;
}

const PlanShape& PlanShapes::end(const Plan& plan) {
    next_.actions.emplace_back().first_dependent = static_cast<std::uint32_t>(next_.dependents.size());
    next_.first_send.assign(peers_.size(), Action::none);
    next_.first_receive.assign(peers_.size(), Action::none);
    for (const Rank peer : peers_) number_[static_cast<std::size_t>(peer)] = Action::none;
    const std::uint64_t hash = hash_of(next_);
    const auto [first, last] = shapes_.equal_range(hash);
    for (auto each = first; each != last; ++each) {
        const PlanShape& known = *each->second;
        if (known.actions == next_.actions && known.dependents == next_.dependents) return known;
    }
    return keep(hash, plan);
}

const PlanShape& PlanShapes::keep(std::uint64_t hash, const Plan& plan) {
    auto shape = std::make_unique<PlanShape>(next_);
    const std::uint32_t words = ReadyLayout::words_in_all(shape->size());
    shape->ready_at_once.resize(ready_kinds * words);
    for (const std::uint32_t index : plan.ready_at_once()) {
        std::uint64_t* of_kind = shape->ready_at_once.data() + ready_kind(shape->actions[index].kind) * words;
        const std::uint32_t word = index / ReadyLayout::bits;
        of_kind[word] |= ReadyLayout::bit(index);
        of_kind[ReadyLayout::words(shape->size()) + word / ReadyLayout::bits] |= ReadyLayout::bit(word);
    }
    for (std::uint32_t index = shape->size(); index-- > 0;) {
        const ShapedAction& action = shape->actions[index];
        if (!action.is_transfer()) continue;
        auto& first = action.kind == ActionKind::send ? shape->first_send : shape->first_receive;
        first[action.peer] = index;
    }
    return *shapes_.emplace(hash, std::move(shape))->second;
}

}  // namespace rondo::virtual_machine
