// SPDX-License-Identifier: BSD-3-Clause
#include "python/rondo/_core/described_call.hpp"

#include <nanobind/stl/string_view.h>
#include <string>

#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/quantity_text.hpp"
#include "rondo/selection/nodes.hpp"

namespace nb = nanobind;

namespace rondo {
namespace {

std::string_view name_of(Buffer buffer) {
    switch (buffer) {
        case Buffer::input: return "input";
        case Buffer::output: return "output";
        case Buffer::scratch: break;
    }
    return "scratch";
}

}  // namespace

SharedFacts checked_facts(const Collective& collective, Count processes, Count count, Count element_bytes, Count root,
                          bool commutative) {
    constexpr Count most_processes = 1 << 24, most_bytes = Count{1} << 50;
    if (processes < 1 || processes > most_processes) {
        throw Error(std::to_string(processes) + " processes: expected 1 to " + std::to_string(most_processes));
    }
    if (root < 0 || root >= processes) {
        throw Error("root " + std::to_string(root) + " of " + std::to_string(processes) + " processes: expected 0 to " +
                    std::to_string(processes - 1));
    }
    if (root != 0 && !collective.has.root) throw Error(std::string(collective.name) + " has no root");
    if (!collective.has.data) element_bytes = count = 1;  // `facts` knows
    if (element_bytes < 1 || count < 0 || count > most_bytes / element_bytes) {
        throw Error(std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                    " bytes: expected at least one byte each, and at most " + quantity_text(most_bytes) +
                    " bytes together");
    }
    if (collective.has.all_to_all() && count % processes != 0) {
        throw Error(std::to_string(count) + " elements for " + std::to_string(processes) +
                    " processes: expected as many for each");
    }
    return collective.facts({.size = static_cast<Rank>(processes),
                             .count = count,
                             .element_bytes = element_bytes,
                             .root = static_cast<Rank>(root),
                             .op = {commutative}});
}

Choice known_choice(const Collective& collective, std::string_view text) {
    Choice choice = parse_choice(collective, text);
    if (choice.is_predicted) throw Error("'predicted' names no algorithm; choose one of Rondo's");
    if (choice.algorithm == nullptr)
        throw Error("what the MPI library's own " + std::string(collective.name) +
                    " does is not known; choose one of Rondo's algorithms");
    return choice;
}

nb::tuple described(const Block& block) {
    return nb::make_tuple(name_of(block.buffer), block.first, static_cast<Count>(block.count));
}

EqualParts::EqualParts(const Collective& collective, const SharedFacts& facts, Count count) {
    using Order = virtual_machine::PartTable::Order;
    if (!collective.has.local_lengths) return;
    const Parts even(Block(0, count, Buffer::input), facts.size);
    const auto part = [&](Rank rank) { return Count{even[rank].count}; };
    if (collective.has.all_to_all()) table_.emplace(facts.size, [&](Rank, Rank to) { return part(to); }, Order());
    else table_.emplace(facts.size, facts.root, facts.input == Share::whole_at_root, part, Order());
}

DescribedCall::DescribedCall(std::string_view collective, std::string_view choice, Count processes, Count count,
                             Count element_bytes, Count root, std::string_view nodes, Count most_messages,
                             bool commutative)
    : collective_(require_collective(collective)), choice_(known_choice(collective_, choice)),
      facts_(checked_facts(collective_, processes, count, element_bytes, root, commutative)) {
    if (!nodes.empty()) facts_.placement = &placement_.emplace(parse_nodes(nodes, facts_.size));
    const bool has_tables = collective_.has.all_to_all() && collective_.has.local_lengths;
    if (has_tables && processes > most_messages / processes) throw too_many(most_messages);
    parts_ = EqualParts(collective_, facts_, count);
}

std::vector<Setting> DescribedCall::settings_on(const virtual_machine::CostModel& costs) const {
    return virtual_machine::closed_settings(*choice_.algorithm, facts_, choice_.settings, costs);
}

virtual_machine::Problem DescribedCall::problem(std::span<const Setting> settings, bool in_place) const {
    if (const auto reason = choice_.algorithm->refusal(facts_, settings)) throw Error(*reason);
    return {.algorithm = *choice_.algorithm,
            .facts = facts_,
            .settings = settings,
            .in_place = in_place,
            .parts = parts_.table()};
}

}  // namespace rondo
