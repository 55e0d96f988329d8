// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/nodes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"

namespace rondo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string complaint(std::string_view text, Rank ranks) {
    try {
        (void)parse_nodes(text, ranks);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(nodes, are_regular_or_listed) {
    EXPECT_THAT(parse_ranks_on_nodes("4x8"), ElementsAre(8, 8, 8, 8));
    EXPECT_THAT(parse_ranks_on_nodes("4,4,3"), ElementsAre(4, 4, 3));
    EXPECT_THAT(parse_ranks_on_nodes(" 4 , 1"), ElementsAre(4, 1));
    EXPECT_THAT(parse_ranks_on_nodes("5"), ElementsAre(5));
    EXPECT_EQ(parse_nodes("4x8", 32), Placement::regular(4, 8));
    EXPECT_EQ(parse_nodes("3,3", 6), Placement::regular(2, 3));
    const Rank names[] = {0, 0, 1, 2, 2, 2};
    EXPECT_EQ(parse_nodes("2,1,3", 6), Placement::of(names));
}

TEST(nodes, may_be_domains_of_one) {
    EXPECT_THAT(parse_ranks_on_nodes("domains:2x8"), ElementsAre(8, 8));
    EXPECT_EQ(parse_nodes("domains:2x8", 16), Placement::regular(2, 8).as_domains());
    EXPECT_TRUE(parse_nodes("domains:3,1", 4).is_of_domains());
    EXPECT_EQ(parse_nodes("domains:4x1", 4), Placement::regular(1, 4)) << "one rank each: there is nothing to gain";
    EXPECT_EQ(parse_nodes("domains:1x4", 4), Placement::regular(1, 4));
    EXPECT_EQ(complaint("domains:2x8", 15), "domains:2x8 have 16 ranks; expected 15");
    EXPECT_THAT(complaint("domains:", 15),
                HasSubstr("'domains:' says no domains; expected domains:DOMAINSxRANKS, as in domains:2x8"));
    EXPECT_THAT(complaint("domain:2x8", 15), HasSubstr("'domain:2x8' says no nodes"));
}

TEST(nodes, that_nobody_understands_are_refused) {
    for (const char* text : {"", "x", "4x", "x8", "4x8x2", "0x4", "4x0", "-1x4", "4,,3", "4,", "many", "4;3", "4.5"}) {
        EXPECT_EQ(complaint(text, 32), "'" + std::string(text) +
                                           "' says no nodes; expected NODESxRANKS, as in 4x8, or the ranks of each, "
                                           "as in 4,4,3");
    }
    EXPECT_THAT(complaint("1Mix1Mi", 32), HasSubstr("expected at most 16777216 ranks"));
}

TEST(nodes, that_contradict_the_ranks_are_refused) {
    EXPECT_EQ(complaint("4x8", 31), "nodes 4x8 have 32 ranks; expected 31");
    EXPECT_EQ(complaint("4,4,3", 12), "nodes 4,4,3 have 11 ranks; expected 12");
}

}  // namespace
}  // namespace rondo
