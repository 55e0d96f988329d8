// SPDX-License-Identifier: BSD-3-Clause
// How many messages parts in slots take, and parts that are too long for them. That the parts arrive is held for every
// algorithm (results_test.cpp, nodes_test.cpp); here also that an algorithm must not cut slots.
#include <algorithm>

#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

using virtual_machine::Outcome;
using virtual_machine::PartTable;

constexpr Count in_a_slot = 5;  // elements
constexpr Count slot_bytes = in_a_slot * element_bytes;

struct Shape {
    Rank nodes, ranks;
    [[nodiscard]] Rank size() const { return nodes * ranks; }
};

constexpr Shape shapes[] = {{1, 5}, {2, 1}, {2, 3}, {4, 4}, {5, 2}, {8, 1}};

Outcome outcome_of(std::string_view collective, std::string_view name, const Shape& shape, Rank root,
                   const PartTable& parts) {
    const Placement placement = Placement::regular(shape.nodes, shape.ranks);
    const Collective& of = *find_collective(collective);
    const SharedFacts facts =
        of.facts({.size = shape.size(), .element_bytes = element_bytes, .root = root, .placement = &placement});
    std::vector<Setting> settings = of.algorithm(name)->standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == "slot") setting.value = slot_bytes;
    }
    return virtual_machine::run_lock_step({*of.algorithm(name), facts, settings, false, 1, &parts});
}

/// Parts of all lengths up to the longest in a slot; but one rank has long ones for all.
PartTable between(Rank size, Rank with_long_ones) {
    const auto count = [=](Rank from, Rank to) {
        return from == with_long_ones ? in_a_slot + 1 : (from * 3 + to * 5) % (in_a_slot + 1);
    };
    return {size, count, {}};
}

TEST(alltoallv_full_lane, sends_parts_in_slots_to_other_nodes_and_inside_the_node) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(testing::Message() << shape.nodes << " nodes of " << shape.ranks);
        const Outcome outcome = outcome_of("alltoallv", "full_lane", shape, 0, between(shape.size(), no_rank));
        const Count slots = (shape.nodes - 1) * shape.ranks + (shape.ranks - 1) * shape.nodes;
        for (const auto& rank : outcome.ranks) {
            EXPECT_EQ(rank.sent, shape.nodes - 1 + shape.ranks - 1);
            EXPECT_EQ(rank.volume, slots * (in_a_slot + 1));  // and a length
        }
    }
}

TEST(alltoallv_bruck, sends_parts_in_slots_in_ceil_log_p_messages) {
    for (Rank p = 2; p <= 33; ++p) {
        const Outcome outcome = outcome_of("alltoallv", "bruck", {p, 1}, 0, between(p, no_rank));
        for (const auto& rank : outcome.ranks) EXPECT_EQ(rank.sent, ceil_log2(p)) << p << " ranks";
    }
}

TEST(alltoallv_full_lane, sends_long_parts_straight_to_their_ranks) {
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(testing::Message() << shape.nodes << " nodes of " << shape.ranks);
        const Outcome outcome = outcome_of("alltoallv", "full_lane", shape, 0, between(shape.size(), 1));
        for (Rank rank = 0; rank < shape.size(); ++rank) {
            const Count straight = rank == 1 ? shape.size() - 1 : 0;
            EXPECT_EQ(outcome.ranks[static_cast<std::size_t>(rank)].sent, straight + shape.nodes - 1 + shape.ranks - 1);
        }
    }
}

TEST(gatherv_and_scatterv, take_a_message_for_each_rank_and_one_more_for_a_long_part) {
    for (const Shape& shape : shapes) {
        const Rank size = shape.size(), root = size / 3, with_long_part = size - 1;
        const auto count = [=](Rank rank) { return rank == with_long_part ? in_a_slot + 1 : rank % (in_a_slot + 1); };
        const Outcome gather = outcome_of("gatherv", "binomial", shape, root, PartTable(size, root, false, count, {}));
        const Outcome scatter = outcome_of("scatterv", "binomial", shape, root, PartTable(size, root, true, count, {}));
        for (Rank rank = 0; rank < size; ++rank) {
            const Count messages = (rank == root ? 0 : 1) + (rank == with_long_part && rank != root ? 1 : 0);
            EXPECT_EQ(gather.ranks[static_cast<std::size_t>(rank)].sent, messages) << size << " ranks";
            EXPECT_EQ(scatter.ranks[static_cast<std::size_t>(rank)].received, messages) << size << " ranks";
        }
    }
}

TEST(slots, are_refused_where_an_int_does_not_count_the_bytes_of_a_message) {
    const AlgorithmInfo& bruck = *find_collective("alltoallv")->algorithm("bruck");
    const std::vector<Setting> settings = {{"slot", Count{1} << 20}, {"radix", 2}};
    const auto refusal = [&](Rank size) {
        return bruck.refusal(find_collective("alltoallv")->facts({.size = size, .element_bytes = 1}), settings);
    };
    EXPECT_FALSE(refusal(2047));
    EXPECT_TRUE(refusal(2048));
}

TEST(slots, must_be_sent_whole) {
    AlgorithmInfo cuts = *find_collective("alltoallv")->algorithm("bruck");
    cuts.slot = [](const SharedFacts&, std::span<const Setting>) -> Count {
        return in_a_slot + 1;
    };  // not what it does
    const PartTable parts = between(4, no_rank);
    const SharedFacts facts = find_collective("alltoallv")->facts({.size = 4, .element_bytes = element_bytes});
    const std::vector<Setting> settings = {{"slot", slot_bytes}, {"radix", 2}};
    EXPECT_THROW(virtual_machine::run_lock_step({cuts, facts, settings, false, 1, &parts}), Error);
}

}  // namespace
}  // namespace rondo::conformance
