// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/network.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "rondo/core/error.hpp"
#include "rondo/selection/machine.hpp"

namespace rondo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DescribedNetwork described(std::string_view text) {
    const auto found = parse_network(text);
    if (!found) throw Error("no network: " + std::string(text));
    return *found;
}

TEST(Network, is_read) {
    const auto tree = described("fat_tree:nodes=32,taper=2");
    EXPECT_EQ(std::get<virtual_machine::FatTree>(tree.shape.kind).nodes, 32);
    EXPECT_EQ(std::get<virtual_machine::FatTree>(tree.shape.kind).taper, 2);
    EXPECT_EQ(tree.shape.groups, 0);
    const auto dragonfly = described(" dragonfly: global=2.5, nodes=16, groups=9, hop=1e-7, first=1 ");
    EXPECT_EQ(std::get<virtual_machine::Dragonfly>(dragonfly.shape.kind).global, 2.5);
    EXPECT_EQ(dragonfly.shape.places(), 144);
    EXPECT_EQ(dragonfly.shape.hop, 1e-7);
    EXPECT_EQ(dragonfly.first, 1);
    const auto torus = described("torus:4x4x8,link=2");
    EXPECT_THAT(std::get<virtual_machine::Torus>(torus.shape.kind).lengths, ElementsAre(4, 4, 8));
    EXPECT_EQ(std::get<virtual_machine::Torus>(torus.shape.kind).link, 2);
    EXPECT_EQ(torus.shape.group(), 16);
    EXPECT_FALSE(parse_network("flat").has_value());
}

std::string complaint(std::string_view text) {
    try {
        parse_network(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(Network, that_cannot_be_is_refused) {
    EXPECT_THAT(complaint("hypercube:6"), HasSubstr("'hypercube:6' is no network; expected something like fat_tree"));
    EXPECT_THAT(complaint(""), HasSubstr("is no network"));
    EXPECT_THAT(complaint("fat_tree"), HasSubstr("nodes is missing"));
    EXPECT_THAT(complaint("fat_tree:32"), HasSubstr("no '=' in '32'"));
    EXPECT_THAT(complaint("fat_tree:nodes=0"), HasSubstr("nodes=0; expected 1 to"));
    EXPECT_THAT(complaint("fat_tree:nodes=4,nodes=5"), HasSubstr("nodes is said twice"));
    EXPECT_THAT(complaint("fat_tree:nodes=4,tapper=2"), HasSubstr("has no 'tapper'; did you mean 'taper'?"));
    EXPECT_THAT(complaint("fat_tree:nodes=4,taper=0"), HasSubstr("taper=0; expected a number above 0"));
    EXPECT_THAT(complaint("fat_tree:nodes=4,taper=nan"), HasSubstr("expected a number above 0"));
    EXPECT_THAT(complaint("fat_tree:nodes=4,hop=-1"), HasSubstr("expected a number from 0 on"));
    EXPECT_THAT(complaint("fat_tree:nodes=1Mi,groups=1Mi"), HasSubstr("groups=1Mi; expected 1 to 16"));
    EXPECT_THAT(complaint("dragonfly:nodes=4"), HasSubstr("global is missing"));
    EXPECT_THAT(complaint("torus"), HasSubstr("has no size"));
    EXPECT_THAT(complaint("torus:4x0"), HasSubstr("has no size"));
    EXPECT_THAT(complaint("torus:4xx4"), HasSubstr("has no size"));
    EXPECT_THAT(complaint("torus:4096x4096x4096"), HasSubstr("16777216 nodes"));
    EXPECT_THAT(complaint("torus:4x4,groups=4"), HasSubstr("has no 'groups'"));
}

std::vector<Rank> places(std::string_view text, std::string_view network, Rank nodes) {
    return parse_places(text, described(network), nodes);
}

TEST(Places, follow_one_another_or_go_from_group_to_group) {
    EXPECT_THAT(places("block", "fat_tree:nodes=2", 5), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(places("cyclic", "fat_tree:nodes=2", 5), ElementsAre(0, 2, 4, 1, 3));  // three groups
    EXPECT_THAT(places("cyclic", "fat_tree:nodes=2,groups=5", 5), ElementsAre(0, 2, 4, 6, 8));
    EXPECT_THAT(places("cyclic", "torus:2x3", 4), ElementsAre(0, 2, 4, 1));
}

TEST(Places, are_random_by_the_seed) {
    const auto one = places("random", "fat_tree:nodes=8,groups=8", 20);
    EXPECT_EQ(one, places("random:1", "fat_tree:nodes=8,groups=8", 20));
    EXPECT_NE(one, places("random:2", "fat_tree:nodes=8,groups=8", 20));
    auto sorted = one;
    std::ranges::sort(sorted);
    EXPECT_TRUE(std::ranges::adjacent_find(sorted) == sorted.end());
    EXPECT_GE(sorted.front(), 0);
    EXPECT_LT(sorted.back(), 64);
    EXPECT_GT(sorted.back(), 32);  // from anywhere in the network
    auto all = places("random:7", "torus:4x4", 16);
    std::ranges::sort(all);
    for (Rank place = 0; place < 16; ++place) EXPECT_EQ(all[static_cast<std::size_t>(place)], place);
}

TEST(Places, are_those_of_nodes_by_their_names) {
    EXPECT_THAT(places("node[001-004,010]", "fat_tree:nodes=4", 5), ElementsAre(1, 2, 3, 4, 10));
    EXPECT_THAT(places("node[001-004,010]", "fat_tree:nodes=4,first=1", 3), ElementsAre(0, 1, 2));
    EXPECT_THAT(parse_node_numbers("rack1n[3,1-2],gpu7,12"), ElementsAre(3, 1, 2, 7, 12));
}

std::string refusal(std::string_view text, std::string_view network, Rank nodes) {
    try {
        places(text, network, nodes);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(Places, that_cannot_be_are_refused) {
    EXPECT_THAT(refusal("block", "torus:2x2", 5), HasSubstr("a network of 4 nodes; the job has 5"));
    EXPECT_THAT(refusal("random:x", "torus:2x2", 4), HasSubstr("as in random:7"));
    EXPECT_THAT(refusal("node[1-3]", "torus:2x2", 4), HasSubstr("names 3 nodes; the job has 4"));
    EXPECT_THAT(refusal("node0", "torus:2x2,first=1", 1), HasSubstr("has node 0; the network's first one is 1"));
    for (const char* text : {"", "login", "node[1-", "node[2-1]", "node[a]", "node[1]x", "node[]", "n1,,n2", "n[1-2",
                             "node[0-99999999]", "n99999999999"}) {
        EXPECT_THAT(refusal(text, "fat_tree:nodes=4", 1), HasSubstr("is no placement; expected block, cyclic")) << text;
    }
}

TEST(Machine, has_a_network) {
    const Machine machine =
        Machine::parse("alpha = 1\nbeta = 1\nnetwork = fat_tree:nodes=4,taper=2  # two to one\n", "m");
    EXPECT_EQ(machine.network, "fat_tree:nodes=4,taper=2");
    // Ranks choose alike wherever a job lies.
    EXPECT_EQ(machine.fingerprint(), Machine::parse("alpha = 1\nbeta = 1\n", "m").fingerprint());
    EXPECT_EQ(machine.costs().network, nullptr);
    const auto refused = [](std::string_view text) -> std::string {
        try {
            Machine::parse(text, "m");
        } catch (const Error& error) {
            return error.what();
        }
        return "none";
    };
    EXPECT_THAT(refused("alpha = 1\nbeta = 1\nnetwork = ring\n"), HasSubstr("m:3: 'ring' is no network"));
    EXPECT_THAT(refused("network = flat\nnetwork = flat\n"), HasSubstr("m:2: 'network' is set twice"));
}

}  // namespace
}  // namespace rondo
