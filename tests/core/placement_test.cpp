// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/call.hpp"
#include "rondo/core/error.hpp"

namespace rondo {
namespace {

using testing::ElementsAre;

std::vector<Rank> ranks_of(const RankMap& group) {
    std::vector<Rank> ranks(static_cast<std::size_t>(group.size()));
    for (Rank rank = 0; rank < group.size(); ++rank) ranks[static_cast<std::size_t>(rank)] = group(rank);
    return ranks;
}

TEST(placement, is_regular_where_every_node_has_as_many_consecutive_ranks) {
    const Rank names[] = {7, 7, 7, 3, 3, 3, 5, 5, 5, 0, 0, 0};
    const Placement placement = Placement::of(names);
    EXPECT_TRUE(placement.is_regular());
    EXPECT_EQ(placement, Placement::regular(4, 3));
    EXPECT_EQ(placement.nodes(), 4);
    EXPECT_EQ(placement.lanes(), 3);
    EXPECT_EQ(placement.place(7), (Placement::Place{2, 1}));
    EXPECT_THAT(ranks_of(placement.on_node(2)), ElementsAre(6, 7, 8));
    EXPECT_THAT(ranks_of(placement.on_lane(1)), ElementsAre(1, 4, 7, 10));
}

TEST(placement, gives_lanes_to_as_many_ranks_as_the_smallest_node_has) {
    const Rank names[] = {0, 0, 0, 1, 1, 2, 2, 2, 2};
    const Placement placement = Placement::of(names);
    EXPECT_FALSE(placement.is_regular());
    EXPECT_TRUE(placement.in_rank_order());
    EXPECT_EQ(placement.lanes(), 2);
    EXPECT_EQ(placement.most_on_node(), 4);
    EXPECT_THAT(ranks_of(placement.on_node(1)), ElementsAre(3, 4));
    EXPECT_THAT(ranks_of(placement.on_node(2)), ElementsAre(5, 6, 7, 8));
    EXPECT_THAT(ranks_of(placement.on_lane(0)), ElementsAre(0, 3, 5));
    EXPECT_THAT(ranks_of(placement.on_lane(1)), ElementsAre(1, 4, 6));
}

TEST(placement, numbers_nodes_by_their_first_ranks_also_where_they_interleave) {
    const Rank names[] = {9, 4, 9, 4, 1, 1};
    const Placement placement = Placement::of(names);
    EXPECT_FALSE(placement.is_regular());
    EXPECT_FALSE(placement.in_rank_order());
    EXPECT_EQ(placement.lanes(), 2);
    EXPECT_THAT(ranks_of(placement.on_node(0)), ElementsAre(0, 2));
    EXPECT_THAT(ranks_of(placement.on_node(1)), ElementsAre(1, 3));
    EXPECT_THAT(ranks_of(placement.on_lane(1)), ElementsAre(2, 3, 5));
    const Rank other_names[] = {0, 1, 0, 1, 2, 2}, others[] = {0, 1, 1, 0, 2, 2};
    EXPECT_EQ(placement, Placement::of(other_names));
    EXPECT_FALSE(placement == Placement::of(others));
}

TEST(placement, of_domains_is_on_one_node) {
    const Placement placement = Placement::regular(2, 8), domains = placement.as_domains();
    EXPECT_FALSE(placement.is_of_domains());
    EXPECT_TRUE(domains.is_of_domains());
    EXPECT_FALSE(placement == domains);
    EXPECT_THAT(ranks_of(domains.on_node(1)), ElementsAre(8, 9, 10, 11, 12, 13, 14, 15));
    const Spread spread = Spread::of(domains);
    EXPECT_EQ(spread.nodes.most, 1);
    EXPECT_EQ(spread.fewest_on_node.most, 16);
    EXPECT_EQ(spread.domains.least, 2);
    EXPECT_EQ(Spread::of(placement).domains.most, 1);
    EXPECT_EQ(Placement::regular(4, 1).as_domains(), Placement::regular(1, 4));
    EXPECT_EQ(Placement::regular(1, 4).as_domains(), Placement::regular(1, 4));
}

TEST(call, is_on_nodes_lanes_and_leaders) {
    const Rank names[] = {0, 0, 0, 1, 1};
    const Placement placement = Placement::of(names);
    const SharedFacts facts{.size = 5, .count = 10, .placement = &placement};
    const Call fourth(facts, {.rank = 3}), third(facts, {.rank = 2});
    const Call node = fourth.on_node(fourth.input(), fourth.output(), {});
    EXPECT_EQ(node.ranks(), std::pair(0, 2));
    EXPECT_THAT(ranks_of(node.group()), ElementsAre(3, 4));
    const Call lane = fourth.on_lane(fourth.input(), fourth.output(), {.root = 1});
    EXPECT_EQ(lane.ranks(), std::pair(1, 2));
    EXPECT_EQ(lane.facts().root, 1);
    EXPECT_THAT(ranks_of(lane.group()), ElementsAre(0, 3));
    EXPECT_EQ(lane.lanes(), 1);  // of ranks that are nodes of their own
    EXPECT_THAT(ranks_of(fourth.on_leaders(fourth.input(), fourth.output(), {}).group()), ElementsAre(0, 3));
    EXPECT_THROW((void)third.on_lane(third.input(), third.output(), {}), Error);
    EXPECT_EQ(third.on(third.input(), third.output()).lanes(), 2);  // on the same ranks
}

TEST(placement, has_runs_of_consecutive_ranks_as_nodes) {
    const Rank names[] = {0, 0, 1, 0, 1, 1}, runs[] = {0, 0, 1, 2, 3, 3};
    EXPECT_EQ(Placement::of(names).runs(), Placement::of(runs));
    EXPECT_EQ(Placement::regular(3, 2).runs(), Placement::regular(3, 2));
}

TEST(call, finds_ranks_by_their_places) {
    const Rank names[] = {0, 1, 0, 0, 1};
    const Placement placement = Placement::of(names);
    const SharedFacts facts{.size = 5, .count = 10, .placement = &placement};
    const Call call(facts, {.rank = 1});
    EXPECT_EQ(call.nodes(), 2);
    EXPECT_EQ(call.ranks_on_node(), 2);
    EXPECT_FALSE(call.nodes_in_rank_order());
    for (Rank rank = 0; rank < 5; ++rank) {
        const auto [node, number] = call.place(rank);
        EXPECT_LT(number, call.ranks_on_node(node));
        EXPECT_EQ(call.rank_at(node, number), rank);
    }
    const Placement runs = placement.runs();
    EXPECT_EQ(call.on(call.input(), call.output(), &runs).nodes(), 4);
}

TEST(call, takes_each_rank_for_a_node_where_nobody_knows) {
    const SharedFacts facts{.size = 4, .count = 10};
    const Call call(facts, {.rank = 2});
    EXPECT_THAT(ranks_of(call.on_node(call.input(), call.output(), {}).group()), ElementsAre(2));
    EXPECT_THAT(ranks_of(call.on_lane(call.input(), call.output(), {}).group()), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(call.on_lane(call.input(), call.output(), {}).ranks().first, 2);
}

TEST(spread, of_any_ranks_is_bounded_by_their_number) {
    const Spread row = Spread::possible(16, 4, 16);
    EXPECT_EQ(row.nodes.least, 1);
    EXPECT_EQ(row.nodes.most, 4);
    EXPECT_EQ(row.fewest_on_node.least, 1);
    EXPECT_EQ(row.fewest_on_node.most, 16);
    EXPECT_EQ(row.most_on_node.least, 4);
    EXPECT_EQ(row.most_on_node.most, 16);
    EXPECT_FALSE(row.is_even());
    const Spread alone = Spread::possible(3, 1, 8);
    EXPECT_TRUE(alone.nodes.is_certain() && alone.is_even());
    EXPECT_EQ(alone.most_on_node.most, 3);
    const Spread one_each = Spread::possible(5, 8, 1);
    EXPECT_TRUE(one_each.nodes.is_certain() && one_each.is_even());
    EXPECT_EQ(one_each.nodes.most, 5);
}

}  // namespace
}  // namespace rondo
