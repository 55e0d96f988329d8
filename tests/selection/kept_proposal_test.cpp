// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/kept_proposal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"
#include "rondo/selection/verdicts.hpp"

namespace rondo {
namespace {

KeptProposal proposal_of(std::string_view text) {
    auto found = read_proposal(text);
    EXPECT_TRUE(found.has_value());
    return found.value_or(KeptProposal{});
}

std::string complaint_about(const std::string& text) {
    try {
        read_proposal(text);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

KeptProposal example() {
    return {.calls = {.collective = &require_collective("bcast"),
                      .length = length_class(5000),
                      .element_bytes = 1,
                      .commutative = false,
                      .shape = Shape::of(12, Spread::of(Placement::regular(4, 3)), false)},
            .choice = parse_choice(require_collective("bcast"), "full_lane"),
            .seconds = 0.25,
            .day = "2026-11-23"};
}

TEST(KeptProposals, are_read_as_they_were_written) {
    const KeptProposal written = example(), read = proposal_of(to_string(written));
    EXPECT_EQ(read.calls, written.calls);
    EXPECT_EQ(to_string(read.choice), to_string(written.choice));
    EXPECT_EQ(read.seconds, written.seconds);
    EXPECT_EQ(to_string(read), to_string(written));
}

TEST(KeptProposals, of_short_calls_are_of_all_short_calls) {
    KeptProposal written = example();
    written.calls.length = length_class(0);
    EXPECT_EQ(proposal_of(to_string(written)).calls.length, length_class(8));
}

TEST(KeptProposals, malformed_ones_are_refused) {
    EXPECT_EQ(read_proposal("bcast bytes=8"), std::nullopt) << "a line of another sort";
    const std::string good = to_string(example());
    const auto with = [&](const std::string& before, const std::string& after) {
        std::string text = good;
        return text.replace(text.find(before), before.size(), after);
    };
    EXPECT_EQ(complaint_about(good), "");
    EXPECT_THAT(complaint_about(with("bcast", "boast")), testing::HasSubstr("boast"));
    EXPECT_THAT(complaint_about(with("nodes=4", "nodes=0")), testing::HasSubstr("one node"));
    EXPECT_THAT(complaint_about(with("ranks_per_node=3", "ranks_per_node=2G")), testing::HasSubstr("expected"));
    EXPECT_THAT(complaint_about(with("ranks_per_node=3", "ranks_per_node=16000000")), testing::HasSubstr("one node"));
    EXPECT_THAT(complaint_about(with(to_string(example().choice), "native")), testing::HasSubstr("an algorithm"));
    EXPECT_THAT(complaint_about(with("full_lane", "full_lone")), testing::HasSubstr("full_lone"));
    EXPECT_THAT(complaint_about(with("seconds=0.25", "seconds=-1")), testing::HasSubstr("-1"));
    EXPECT_THAT(complaint_about(with("element=1 ", "")), testing::HasSubstr("element="));
    EXPECT_THAT(complaint_about(good + " more=1"), testing::HasSubstr("more=1"));
}

TEST(KeptProposals, stand_beside_verdicts) {
    std::vector<Verdicts::Complaint> complaints;
    const std::string text = to_string(example()) + "\n" + to_string(example()) + "\n";
    Verdicts known = Verdicts::parse(text, complaints);
    EXPECT_TRUE(complaints.empty());
    EXPECT_TRUE(known.all().empty());
    ASSERT_EQ(known.proposals().size(), 1U) << "one of two about the same calls";
    EXPECT_FALSE(known.empty());
    ProposedCalls calls = example().calls;
    ASSERT_NE(known.find(calls), nullptr);
    calls.shape = Shape::of(12, Spread::of(Placement::regular(3, 4)), false);
    EXPECT_EQ(known.find(calls), nullptr);
    EXPECT_EQ(Verdicts::parse(known.text(), complaints).proposals().size(), 1U);
    known.remove_proposals_if([](const KeptProposal& each) { return each.day < "2027"; });
    EXPECT_TRUE(known.empty());
}

}  // namespace
}  // namespace rondo
