// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/slots.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "rondo/algorithms/patterns/direct_exchange.hpp"
#include "rondo/core/slots.hpp"

namespace rondo {
namespace {

Count elements_in(const SharedFacts& facts, Count bytes) { return std::max<Count>(1, bytes / facts.element_bytes); }

Slots wanted_slots(const Call& call) {
    return slots_of(call, elements_in(call.facts(), call.setting(slot_parameter.name)));
}

/// Puts the parts that this rank sends where they leave from.
Schedule fill(const Call& call, const Outgoing& kept, Slots slots, Block leaving) {
    const auto [r, p] = call.ranks();
    for (Rank to = 0; to < p; ++to) {
        const Block part = call.outgoing(to);
        if (part.count <= slots.longest()) co_yield copy(part).into(slots.part(leaving, to, part.count));
        else if (!call.in_place() && to == r) co_yield copy(part).into(call.incoming(r));
        else if (call.in_place() && to != r) co_yield copy(part).into(kept[to]);
    }
}

/// Puts the parts that came in slots where they belong.
Schedule empty(const Call& call, Slots slots, Block arrived) {
    for (Rank from = 0; from < call.ranks().second; ++from) {
        const Block part = call.incoming(from);
        if (part.count <= slots.longest()) co_yield copy(slots.part(arrived, from, part.count)).into(part);
    }
}

/// A leader sends another what all ranks of its node have for all of the other's; or a rank what all have.
std::optional<std::string> too_much_in_slots(const SharedFacts& facts, std::span<const Setting> settings) {
    const Count on_node = facts.placement == nullptr ? 1 : facts.placement->most_on_node();
    const Count slots = std::max<Count>(facts.size, on_node * on_node);
    const Count bytes = Slots::header_bytes + longest_in_slot(facts, settings) * facts.element_bytes;
    if (slots <= std::numeric_limits<int>::max() / bytes) return std::nullopt;
    return std::to_string(slots) + " slots of " + std::to_string(bytes) + " bytes are too many for a message";
}

}  // namespace

const Requirement slots_requirement = {"messages of slots whose bytes an int counts", too_much_in_slots};

Count longest_in_slot(const SharedFacts& facts, std::span<const Setting> settings) {
    const auto slot = std::ranges::find(settings, slot_parameter.name, &Setting::name);
    return elements_in(facts, slot->value);
}

Schedule exchanged_in_slots(const Call& call, Schedule (*alltoall)(const Call& call)) {
    const Rank p = call.ranks().second;
    const Outgoing kept(call);
    const Slots slots = wanted_slots(call);
    const Block leaving = call.scratch(p * slots.stride), arrived = call.scratch(p * slots.stride);
    Schedule filling = fill(call, kept, slots, leaving);
    co_yield steps_of(filling);
    const Call of_slots = call.on(leaving, arrived);
    Schedule passing_on = alltoall(of_slots);  // first: behind long parts, slots would wait in every round
    co_yield steps_of(passing_on);
    Schedule long_parts = straight(call, kept, most_at_once, slots.longest());
    co_yield steps_of(long_parts);
    Schedule emptying = empty(call, slots, arrived);
    co_yield steps_of(emptying);
}

Schedule gathered_in_slots(const Call& call, Schedule (*gather)(const Call& call)) {
    const auto [r, p] = call.ranks();
    const Slots slots = wanted_slots(call);
    const Block part = call.input(), leaving = call.scratch(slots.stride);
    const Block elsewhere(0, p * slots.stride, Buffer::output);  // means nothing, but has the length
    const Block arrived = r == call.facts().root ? call.scratch(elsewhere.count) : elsewhere;
    if (part.count <= slots.longest()) co_yield copy(part).into(slots.part(leaving, 0, part.count));
    Schedule long_parts = with_root(call, Direction::receive, root_ports.standard, slots.longest());
    co_yield steps_of(long_parts);
    const Call of_slots = call.on(leaving, arrived);
    Schedule passing_on = gather(of_slots);
    co_yield steps_of(passing_on);
    if (r != call.facts().root) co_return;
    Schedule emptying = empty(call, slots, arrived);
    co_yield steps_of(emptying);
}

Schedule scattered_in_slots(const Call& call, Schedule (*scatter)(const Call& call)) {
    const auto [r, p] = call.ranks();
    const Slots slots = wanted_slots(call);
    const Block part = call.output();
    const Block elsewhere(0, p * slots.stride, Buffer::input);  // means nothing, but has the length
    const Block leaving = r == call.facts().root ? call.scratch(elsewhere.count) : elsewhere;
    const Block arrived = call.scratch(slots.stride);
    for (Rank to = 0; r == call.facts().root && to < p; ++to) {
        const Block leaves = call.outgoing(to);
        if (leaves.count <= slots.longest()) co_yield copy(leaves).into(slots.part(leaving, to, leaves.count));
    }
    Schedule long_parts = with_root(call, Direction::send, root_ports.standard, slots.longest());
    co_yield steps_of(long_parts);
    const Call of_slots = call.on(leaving, arrived);
    Schedule passing_on = scatter(of_slots);
    co_yield steps_of(passing_on);
    if (part.count <= slots.longest()) co_yield copy(slots.part(arrived, 0, part.count)).into(part);
}

}  // namespace rondo
