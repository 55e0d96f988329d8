// SPDX-License-Identifier: BSD-3-Clause
// Algorithms that use nodes deliver what they promise, wherever the ranks are: on 1 to 16 nodes of 1 to 8 ranks, on
// nodes that differ, and on nodes whose ranks interleave.
#include <iterator>
#include <set>

#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "tests/conformance/cases.hpp"

namespace rondo::conformance {
namespace {

std::vector<const AlgorithmInfo*> algorithms_with_nodes() {
    std::vector<const AlgorithmInfo*> all;
    for (const AlgorithmInfo* algorithm : all_algorithms()) {
        if (algorithm->uses_nodes) all.push_back(algorithm);
    }
    return all;
}

std::vector<Placement> regular_placements() {
    const Rank most_nodes = is_full() ? 16 : is_sanitized ? 5 : 8, most_ranks = is_sanitized ? 5 : 8;
    std::vector<Placement> all;
    for (Rank nodes = 1; nodes <= most_nodes; ++nodes) {
        for (Rank ranks = 1; ranks <= most_ranks; ++ranks) all.push_back(Placement::regular(nodes, ranks));
    }
    if (!is_full() && !is_sanitized) all.push_back(Placement::regular(16, 8));
    return all;
}

/// How many cases of a placement of up to 32 ranks are tried.
struct Cases {
    std::size_t everyday;
    std::size_t full;             ///< in `make soak`
    bool meet_all_roots = false;  ///< in `make soak`

    std::size_t of(const Placement& placement) const noexcept {
        if (is_sanitized) return everyday / 8 + 1;
        const bool is_small = placement.size() <= 32;
        return is_full() ? (is_small ? full : full / 10) : (is_small ? everyday : everyday / 4);
    }
};

/// Ranks dealt out to the nodes in turn.
Placement dealt_out(Rank nodes, Rank ranks_on_each) {
    std::vector<Rank> names(static_cast<std::size_t>(nodes * ranks_on_each));
    for (std::size_t rank = 0; rank < names.size(); ++rank) names[rank] = static_cast<Rank>(rank) % nodes;
    return Placement::of(names);
}

std::vector<Placement> odd_placements() {
    const Rank most_nodes = is_sanitized ? 4 : 16;
    std::vector<Rank> last_one_lacks_one(static_cast<std::size_t>(most_nodes), 8);
    last_one_lacks_one.back() = 7;
    std::vector<Placement> all = {nodes_of({4, 4, 3}),     nodes_of({1, 4}), nodes_of({1, 4, 4}),
                                  nodes_of({5, 1, 2, 7}),  nodes_of({2, 3}), dealt_out(3, 4),
                                  nodes_of({3, 5, 4}),     dealt_out(4, 8),  nodes_of(last_one_lacks_one),
                                  dealt_out(most_nodes, 8)};
    const Rank last_one_back[] = {0, 0, 1, 1, 2, 0}, uneven[] = {3, 1, 1, 3, 2, 3, 3};
    for (const std::span<const Rank> names : {std::span<const Rank>(last_one_back), std::span<const Rank>(uneven)}) {
        all.push_back(Placement::of(names));
    }
    return all;
}

class EveryAlgorithmWithNodes : public testing::TestWithParam<const AlgorithmInfo*> {
  protected:
    template <class Body>
    void for_each_placement(const std::vector<Placement>& placements, const Cases& cases, Body&& body) {
        for (const Placement& placement : placements) {
            SCOPED_TRACE(std::to_string(placement.nodes()) + " nodes, " + std::to_string(placement.lanes()) + " to " +
                         std::to_string(placement.most_on_node()) + " ranks");
            std::set<Rank> roots;
            const auto note_root = [&](const auto& problem) {
                roots.insert(problem.facts.root);
                body(problem);
            };
            for_each_case(*GetParam(), placement.size(), cases.of(placement), note_root, &placement);
            const bool has_root = find_collective(GetParam()->collective)->has.root;
            if (is_full() && cases.meet_all_roots && has_root && placement.size() <= 32) {
                EXPECT_EQ(static_cast<Rank>(roots.size()), placement.size()) << "roots";
            }
            if (HasFailure()) return;
        }
    }
};

constexpr auto in_lock_step = [](const auto& problem) { EXPECT_NO_THROW(virtual_machine::run_lock_step(problem)); };
constexpr auto in_random_order = [](const auto& problem) {
    for (const std::uint64_t seed : {1, 2}) {
        EXPECT_NO_THROW(virtual_machine::run_dataflow(problem, {.seed = seed}));
        EXPECT_NO_THROW(virtual_machine::run_dataflow(problem, {.synchronous = true, .seed = seed}));
    }
};

TEST_P(EveryAlgorithmWithNodes, is_right_on_regular_nodes) {
    for_each_placement(regular_placements(), {.everyday = 40, .full = 800, .meet_all_roots = true}, in_lock_step);
    for_each_placement(regular_placements(), {.everyday = 2, .full = 80}, in_random_order);
}

TEST_P(EveryAlgorithmWithNodes, is_right_on_nodes_that_differ_or_interleave) {
    for_each_placement(odd_placements(), {.everyday = 80, .full = 4000, .meet_all_roots = true}, in_lock_step);
    for_each_placement(odd_placements(), {.everyday = 6, .full = 240}, in_random_order);
}

/// A few calls of each: `make soak` tries every root on all nodes of up to 32 ranks.
TEST_P(EveryAlgorithmWithNodes, is_right_for_every_root) {
    if (!find_collective(GetParam()->collective)->has.root) return;
    for (const Placement& placement :
         {Placement::regular(4, 8), Placement::regular(8, 3), nodes_of({8, 8, 8, 7}), dealt_out(4, 8)}) {
        for (Rank root = 0; root < placement.size(); ++root) {
            for_each_case(*GetParam(), placement.size(), is_sanitized ? 2 : 8, in_lock_step, &placement, root);
            if (HasFailure()) return;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithmWithNodes, testing::ValuesIn(algorithms_with_nodes()), test_name);

/// What a lane carries to other nodes is the least possible: a part of the vector, as by an allreduce of its own.
TEST(full_lane_allreduce, sends_only_its_part_to_other_nodes) {
    const AlgorithmInfo& algorithm = *find_collective("allreduce")->algorithm("full_lane");
    const Placement placement = Placement::regular(4, 4);
    const SharedFacts facts{.size = 16, .count = 1600, .element_bytes = 8, .op = {true}, .placement = &placement};
    for (Rank rank = 0; rank < facts.size; ++rank) {
        const std::vector<Setting> settings = algorithm.standard_settings();
        const Call call(facts, {.rank = rank}, settings);
        const Plan plan = Plan::of(call, algorithm);
        Count to_others = 0;
        for (const Action& action : plan.actions()) {
            const bool leaves = action.kind == ActionKind::send && action.peer / 4 != rank / 4;
            if (leaves) EXPECT_EQ(action.peer % 4, rank % 4) << "another lane";
            if (leaves) to_others += action.block.count;
        }
        EXPECT_EQ(to_others, 2 * 3 * (1600 / 4 / 4));
    }
}

}  // namespace
}  // namespace rondo::conformance
