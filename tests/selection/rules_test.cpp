// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/rules.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "rondo/core/error.hpp"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// The name of what the rules choose; "" if no rule matches.
std::string choice(const Rules& rules, const Situation& situation) {
    const Choice* found = rules.match(situation);
    return found == nullptr ? "" : to_string(*found);
}

bool matches(std::string_view conditions, const Situation& situation) {
    return choice(Rules::parse("exscan " + std::string(conditions) + " -> native", "test"), situation) == "native";
}

std::string complaint(std::string_view text) {
    try {
        Rules::parse(text, "my.rules");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

constexpr Situation short_exscan = {
    .collective = "exscan", .bytes = 8, .processes = 16, .ranks_per_node = 4, .commutative = true};

TEST(Rules, without_any_nothing_matches) {
    EXPECT_EQ(Rules().match(short_exscan), nullptr);
    EXPECT_EQ(Rules::parse("", "test").match(short_exscan), nullptr);
    EXPECT_EQ(Rules::parse("\n  # only a comment\n\r\n", "test").match(short_exscan), nullptr);
    EXPECT_EQ(Rules().fingerprint(), Rules::parse("# nothing\n", "test").fingerprint());
}

/// What the rules choose wherever 6 ranks are on 3 nodes of 4: "?" if it depends on that.
std::string choice_wherever(std::string_view text, Interval& lengths) {
    const Rules rules = Rules::parse(text, "test");
    const auto found =
        rules.match({.collective = "exscan", .bytes = 100, .processes = 6}, Spread::possible(6, 3, 4), lengths);
    if (!found) return "?";
    return *found == nullptr ? "" : to_string(**found);
}

TEST(Rules, can_be_asked_before_it_is_known_where_ranks_are) {
    Interval lengths;
    // Three nodes: two ranks or more on some of them.
    EXPECT_EQ(choice_wherever("exscan ranks_per_node = 1 -> doubling_123", lengths), "");
    EXPECT_EQ(choice_wherever("exscan nodes > 3 -> doubling_123\n exscan -> native", lengths), "native");
    EXPECT_EQ(choice_wherever("exscan nodes in 2..3 -> doubling_123", lengths), "doubling_123");
    EXPECT_EQ(choice_wherever("exscan nodes = 2 -> doubling_123", lengths), "?");
    EXPECT_EQ(choice_wherever("exscan ranks_per_node = 3 -> native", lengths), "?");
    // They may differ.
    EXPECT_EQ(choice_wherever("exscan ranks_per_node in 1..4 -> doubling_123", lengths), "doubling_123");
    EXPECT_EQ(choice_wherever("exscan ranks_per_node in 2..4 -> doubling_123", lengths), "?");
    // What is in doubt does not matter for this length, but bounds those for which that is so.
    EXPECT_EQ(choice_wherever("exscan nodes = 2, bytes > 300 -> doubling_123\n exscan bytes > 50 -> native", lengths),
              "native");
    EXPECT_EQ(lengths.lowest, 51);
    EXPECT_EQ(lengths.highest, 300);
}

TEST(Rules, the_first_that_matches_wins) {
    const Rules rules = Rules::parse(
        "scan              -> doubling\n"
        "exscan bytes > 64 -> native           # long\n"
        "exscan            -> doubling_123\n"
        "exscan            -> one_doubling\n",
        "test");
    EXPECT_EQ(choice(rules, short_exscan), "doubling_123");
    EXPECT_EQ(choice(rules, {.collective = "exscan", .bytes = 65}), "native");
    EXPECT_EQ(choice(rules, {.collective = "scan", .bytes = 65}), "doubling");
    EXPECT_EQ(choice(rules, {.collective = "bcast"}), "");
}

TEST(Rules, compare_with_every_sign) {
    const auto bytes = [](Count n) { return Situation{.collective = "exscan", .bytes = n}; };
    EXPECT_TRUE(matches("bytes < 64Ki", bytes(65535)));
    EXPECT_FALSE(matches("bytes < 64Ki", bytes(65536)));
    EXPECT_TRUE(matches("bytes <= 64Ki", bytes(65536)));
    EXPECT_FALSE(matches("bytes <= 64Ki", bytes(65537)));
    EXPECT_TRUE(matches("bytes>64Ki", bytes(65537)));
    EXPECT_FALSE(matches("bytes>64Ki", bytes(65536)));
    EXPECT_TRUE(matches("bytes >=64Ki", bytes(65536)));
    EXPECT_FALSE(matches("bytes >=64Ki", bytes(65535)));
    EXPECT_TRUE(matches("bytes = 1k", bytes(1000)));
    EXPECT_FALSE(matches("bytes = 1k", bytes(1001)));
    EXPECT_TRUE(matches("bytes in 1Ki..64Ki", bytes(1024)));
    EXPECT_TRUE(matches("bytes in 1Ki .. 64Ki", bytes(65536)));
    EXPECT_FALSE(matches("bytes in 1Ki..64Ki", bytes(1023)));
    EXPECT_FALSE(matches("bytes in 1Ki..64Ki", bytes(65537)));
    EXPECT_TRUE(matches("bytes >= 0", bytes(0)));
    EXPECT_TRUE(matches("bytes <= 9223372036854775807", bytes(std::numeric_limits<Count>::max())));
}

TEST(Rules, all_conditions_of_a_rule_must_hold) {
    const std::string_view conditions = "bytes < 64, processes >= 3, ranks_per_node = 4, commutative = yes";
    EXPECT_TRUE(matches(conditions, short_exscan));
    Situation other = short_exscan;
    other.bytes = 64;
    EXPECT_FALSE(matches(conditions, other));
    other = short_exscan;
    other.processes = 2;
    EXPECT_FALSE(matches(conditions, other));
    other = short_exscan;
    other.ranks_per_node = 1;
    EXPECT_FALSE(matches(conditions, other));
    other = short_exscan;
    other.commutative = false;
    EXPECT_FALSE(matches(conditions, other));
    EXPECT_TRUE(matches("commutative = no", other));
    EXPECT_TRUE(matches("shared_memory = no", other));
    other.shared_memory = true;
    EXPECT_TRUE(matches("shared_memory = yes", other));
    EXPECT_FALSE(matches("shared_memory = no", other));
    EXPECT_TRUE(matches("oversubscribed = no", other));
    other.oversubscribed = true;
    EXPECT_TRUE(matches("oversubscribed = yes", other));
    EXPECT_FALSE(matches("oversubscribed = no", other));
}

TEST(Rules, know_the_library_by_its_version) {
    Situation situation = short_exscan;
    EXPECT_FALSE(matches("library = mpich", situation));
    situation.library = library_of("MPICH Version: 5.0.2");
    EXPECT_TRUE(matches("library = mpich", situation));
    EXPECT_FALSE(matches("library = impi", situation));
    situation.library = library_of("Intel(R) MPI Library 2021.19.0 for Linux* OS");
    EXPECT_TRUE(matches("library=impi", situation));
    situation.library = library_of("Open MPI v5.0.11, package: Open MPI");
    EXPECT_TRUE(matches("library = openmpi", situation));
    EXPECT_EQ(library_of("Some MPI 1.0"), MpiLibrary::other);
}

TEST(Rules, know_how_long_messages_leave_at_once) {
    Situation situation = short_exscan;
    EXPECT_FALSE(matches("eager < 32Ki", situation));  // nothing waits
    situation.eager = 16 << 10;
    EXPECT_TRUE(matches("eager < 32Ki", situation));
    EXPECT_TRUE(matches("eager >= 16Ki", situation));
    EXPECT_FALSE(matches("eager > 16Ki", situation));
}

TEST(Rules, a_condition_on_ranks_per_node_is_not_met_where_that_is_unknown) {
    Situation unknown = short_exscan;
    unknown.ranks_per_node = 0;
    EXPECT_FALSE(matches("ranks_per_node <= 64", unknown));
    EXPECT_TRUE(matches("bytes = 8", unknown));
}

TEST(Rules, ask_for_ranks_on_every_node_where_nodes_differ) {
    const auto holds = [](const char* condition) {
        const Spread four_four_three = {
            .nodes = {3, 3}, .fewest_on_node = {3, 3}, .most_on_node = {4, 4}, .in_rank_order = true};
        Interval lengths;
        const Rules rules = Rules::parse(std::string("exscan ") + condition + " -> doubling_123", "test");
        return *rules.match({.collective = "exscan", .processes = 11}, four_four_three, lengths) != nullptr;
    };
    EXPECT_TRUE(holds("ranks_per_node in 3..4"));
    EXPECT_TRUE(holds("ranks_per_node > 1, ranks_per_node < 8"));
    for (const char* condition :
         {"ranks_per_node = 4", "ranks_per_node = 3", "ranks_per_node > 3", "ranks_per_node < 4"}) {
        EXPECT_FALSE(holds(condition)) << condition;
    }
}

TEST(Rules, ask_for_a_range_of_nodes) {
    Situation situation = short_exscan;
    EXPECT_FALSE(matches("nodes <= 64", situation));  // nobody knows
    for (const Rank nodes : {2, 5, 8, 9}) {
        situation.nodes = nodes;
        EXPECT_EQ(matches("nodes in 3..8", situation), nodes == 5 || nodes == 8);
        EXPECT_EQ(matches("nodes > 2, ranks_per_node = 4", situation), nodes > 2);
    }
}

TEST(Rules, ask_for_domains_of_the_only_node) {
    Situation situation = short_exscan;
    EXPECT_TRUE(matches("domains = 1", situation));
    EXPECT_FALSE(matches("domains > 1", situation));
    situation.domains = 2;
    EXPECT_TRUE(matches("domains in 2..8", situation));
    Interval lengths;
    const Rules rules = Rules::parse("exscan domains = 2 -> doubling_123", "test");
    const Spread spread = Spread::of(Placement::regular(2, 8).as_domains());
    EXPECT_NE(rules.match({.collective = "exscan", .processes = 16}, spread, lengths), nullptr);
    const Spread unknown = {.nodes = {1, 1}, .fewest_on_node = {3, 3}, .most_on_node = {3, 3}, .domains = {1, 3}};
    EXPECT_EQ(rules.match({.collective = "exscan", .processes = 3}, unknown, lengths), std::nullopt);
}

TEST(Rules, ask_for_nodes_only_where_some_rule_does) {
    EXPECT_TRUE(Rules::parse("scan domains = 1 -> doubling", "test").ask_nodes());
    EXPECT_TRUE(Rules::parse("exscan -> native\nscan ranks_per_node >= 1 -> doubling", "test").ask_nodes());
    EXPECT_TRUE(Rules::parse("scan nodes <= 4 -> doubling", "test").ask_nodes());
    EXPECT_TRUE(Rules::parse("scan oversubscribed = no -> doubling", "test").ask_processors());
    EXPECT_FALSE(Rules::parse("scan nodes <= 4 -> doubling", "test").ask_processors());
    EXPECT_TRUE(Rules::parse("allreduce -> full_lane", "test").ask_nodes());
    EXPECT_FALSE(Rules::parse("exscan bytes < 8 -> native", "test").ask_nodes());
}

TEST(Rules, say_for_which_lengths_the_answer_is_the_same) {
    const Rules rules = Rules::parse(
        "exscan bytes in 100..200 -> native\nexscan bytes < 150, processes = 2 -> doubling_123\n"
        "exscan bytes <= 1000 -> one_doubling",
        "test");
    const auto lengths = [&](Count bytes, Rank processes) {
        Interval same;
        (void)rules.match({.collective = "exscan", .bytes = bytes, .processes = processes}, Spread(), same);
        return std::pair(same.lowest, same.highest);
    };
    constexpr Count unbounded = std::numeric_limits<Count>::max();
    EXPECT_EQ(lengths(150, 9), std::pair(Count{100}, Count{200}));
    EXPECT_EQ(lengths(99, 9), std::pair(Count{0}, Count{99}));
    EXPECT_EQ(lengths(201, 9), std::pair(Count{201}, Count{1000}));
    EXPECT_EQ(lengths(201, 2), std::pair(Count{201}, Count{1000}));
    EXPECT_EQ(lengths(99, 2), std::pair(Count{0}, Count{99}));
    EXPECT_EQ(lengths(1001, 2), std::pair(Count{1001}, unbounded));
}

TEST(Rules, a_fingerprint_ignores_layout_and_nothing_else) {
    const auto print = [](std::string_view text) { return Rules::parse(text, "test").fingerprint(); };
    const auto reference = print("exscan bytes < 64Ki -> linear_pipeline");
    EXPECT_EQ(print("# note\n\nexscan   bytes<65536 ->linear_pipeline:segment=auto # same\r\n"), reference);
    for (const char* other :
         {"scan bytes < 64Ki -> linear_pipeline", "exscan bytes <= 64Ki -> linear_pipeline",
          "exscan bytes < 64Ki -> linear_pipeline:segment=1Ki", "exscan bytes < 64Ki -> native",
          "exscan bytes < 64Ki -> linear_pipeline\nscan -> native", "exscan processes < 64Ki -> linear_pipeline", ""}) {
        EXPECT_NE(print(other), reference) << other;
    }
}

TEST(Rules, errors_name_file_and_line) {
    EXPECT_EQ(complaint("# first\nexscan -> native\n\nexscan -> quick"),
              "my.rules:4: exscan has no algorithm 'quick'; expected one of: broadcast, cyclic_doubling, doubling_123, "
              "doubly_pipelined_tree, full_lane, leaders, linear_pipeline, one_doubling, pipelined_binary_tree, "
              "prefix_family, "
              "two_op_doubling, two_tree, native, predicted");
}

TEST(Rules, unknown_words_come_with_the_nearest) {
    EXPECT_THAT(complaint("exscn -> native"), AllOf(StartsWith("my.rules:1: "), HasSubstr("did you mean 'exscan'")));
    EXPECT_THAT(complaint("alltoallv bytes < 3 -> native"),
                HasSubstr("a condition on the bytes of alltoallv, of which ranks know only their own"));
    EXPECT_EQ(complaint("alltoallv processes < 3 -> native"), "accepted");
    EXPECT_THAT(complaint("exscan byte < 3 -> native"), HasSubstr("unknown condition 'byte'; did you mean 'bytes'?"));
    EXPECT_THAT(complaint("exscan size < 3 -> native"), HasSubstr("expected one of: bytes, processes, "));
    EXPECT_THAT(complaint("exscan -> linear_pipeline:segmnt=3"), HasSubstr("did you mean 'segment'?"));
}

TEST(Rules, a_line_that_is_no_rule_says_what_one_looks_like) {
    for (const char* line :
         {"exscan native", "exscan bytes < 3", "-> native", "exscan ->", "exscan bytes < 3, -> native",
          "exscan , bytes < 3 -> native", "exscan bytes < 3,, processes > 3 -> native"}) {
        EXPECT_THAT(complaint(line), HasSubstr("expected <collective> [<condition>, ...] -> <choice>")) << line;
    }
}

TEST(Rules, a_malformed_condition_says_what_was_expected) {
    EXPECT_THAT(complaint("exscan bytes -> native"), HasSubstr("no comparison in 'bytes'; expected one of: <, <=, "));
    EXPECT_THAT(complaint("exscan bytes == 3 -> native"), HasSubstr("'==' compares nothing in 'bytes == 3'"));
    EXPECT_THAT(complaint("exscan bytes 3 -> native"), HasSubstr("'3' compares nothing"));
    EXPECT_THAT(complaint("exscan bytes < -> native"), HasSubstr("'' in 'bytes <' is not a number"));
    EXPECT_THAT(complaint("exscan bytes < 64K -> native"),
                HasSubstr("'64K' in 'bytes < 64K' is not a number; expected"));
    EXPECT_EQ(complaint("exscan bytes < 64 Ki -> native"),
              "my.rules:1: '64 Ki' in 'bytes < 64 Ki' is not a number; write 64Ki, without the blank");
    EXPECT_THAT(complaint("exscan bytes < 3 processes > 2 -> native"), HasSubstr("'3 processes > 2'"));
    EXPECT_THAT(complaint("exscan bytes in 3 -> native"), HasSubstr("expected <lowest>..<highest>"));
    EXPECT_THAT(complaint("exscan bytes in 3...5 -> native"), HasSubstr("'.5' in 'bytes in 3...5' is not a number"));
    EXPECT_THAT(complaint("exscan commutative = maybe -> native"), HasSubstr("expected 'commutative = yes' or"));
    EXPECT_THAT(complaint("exscan shared_memory = 1 -> native"), HasSubstr("expected 'shared_memory = yes' or"));
    EXPECT_THAT(complaint("exscan commutative -> native"), HasSubstr("expected 'commutative = yes' or"));
    EXPECT_THAT(complaint("exscan library = mpitch -> native"), HasSubstr("did you mean 'mpich'?"));
    EXPECT_THAT(complaint("exscan library mpich -> native"), HasSubstr("expected 'library = mpich'"));
    EXPECT_THAT(complaint("exscan library = mpich, library = impi -> native"), HasSubstr("no call can meet"));
    EXPECT_THAT(complaint("exscan commutative < yes -> native"), HasSubstr("expected 'commutative = yes' or"));
}

TEST(Rules, a_rule_that_nothing_can_meet_is_refused) {
    for (const char* conditions :
         {"bytes < 0", "bytes in 5..4", "bytes > 9223372036854775807", "bytes < 10, bytes > 20", "processes < 1",
          "ranks_per_node = 0", "commutative = yes, commutative = no"}) {
        EXPECT_THAT(complaint("exscan " + std::string(conditions) + " -> native"), HasSubstr("no call can meet '"))
            << conditions;
    }
}

/// As "2: bytes < 8, has 100; 5 decides".
std::string explanation(std::string_view text, const Situation& situation, const Spread& spread = {}) {
    const Rules rules = Rules::parse(text, "test");
    const Rules::Explanation found = rules.explain(situation, spread);
    std::string lines;
    for (const Rules::PassedOver& each : found.passed_over) {
        lines += std::to_string(each.line) + ": " + each.condition + ", has " + each.value + "; ";
    }
    return lines + (found.choice == nullptr ? "none" : std::to_string(found.line)) + " decides";
}

TEST(Rules, say_which_condition_a_call_does_not_meet) {
    const Situation situation = {.collective = "exscan", .bytes = 100, .processes = 6, .library = MpiLibrary::openmpi};
    EXPECT_EQ(explanation("exscan bytes < 8 -> native\nscan -> native\n\nexscan -> one_doubling", situation),
              "1: bytes < 8, has 100; 4 decides");
    EXPECT_EQ(explanation("exscan processes in 7..9 -> native", situation),
              "1: processes in 7..9, has 6; none decides");
    EXPECT_EQ(explanation("exscan library = mpich -> native", situation),
              "1: library = mpich, has openmpi; none decides");
    EXPECT_EQ(explanation("exscan commutative=yes -> native\nexscan shared_memory = yes -> native", situation),
              "1: commutative = yes, has no; 2: shared_memory = yes, has no; none decides");
    EXPECT_EQ(explanation("exscan eager < 32Ki -> native", situation), "1: eager < 32Ki, has no limit; none decides");
    EXPECT_EQ(explanation("exscan nodes > 3 -> native", situation), "1: nodes >= 4, has unknown; none decides");
    EXPECT_EQ(explanation("", situation), "none decides");
}

TEST(Rules, explain_nodes_that_differ) {
    const Spread spread = {.nodes = {3, 3}, .fewest_on_node = {3, 3}, .most_on_node = {4, 4}};
    EXPECT_EQ(explanation("exscan ranks_per_node = 4 -> native\nexscan ranks_per_node >= 3 -> native",
                          {.collective = "exscan", .processes = 11}, spread),
              "1: ranks_per_node = 4, has 3 to 4; 2 decides");
    EXPECT_THROW((void)Rules::parse("exscan nodes = 2 -> native", "test")
                     .explain({.collective = "exscan", .processes = 6}, Spread::possible(6, 3, 4)),
                 Error);
}

TEST(Rules, explain_what_they_decide) {
    const Rules rules = Rules::read("tuning/default.rules");
    for (const Collective& collective : collectives()) {
        for (const Rank nodes : {1, 2, 8, 30}) {
            for (const Rank ranks_per_node : {1, 2, 16}) {
                for (const Count bytes : {0, 100, 65536, 1 << 20}) {
                    const Situation situation = {.collective = collective.name,
                                                 .bytes = bytes,
                                                 .processes = nodes * ranks_per_node,
                                                 .ranks_per_node = ranks_per_node,
                                                 .nodes = nodes,
                                                 .commutative = bytes > 100,
                                                 .library = MpiLibrary::mpich,
                                                 .eager = 16 << 10};
                    const Spread spread = Spread::of(Placement::regular(nodes, ranks_per_node));
                    const Rules::Explanation found = rules.explain(situation, spread);
                    EXPECT_EQ(found.choice, rules.match(situation));
                    for (const Rules::PassedOver& each : found.passed_over) {
                        const std::string text = std::string(collective.name) + " " + each.condition + " -> native";
                        EXPECT_EQ(Rules::parse(text, "test").match(situation), nullptr) << text;
                        EXPECT_TRUE(found.line == 0 || each.line < found.line);
                    }
                }
            }
        }
    }
}

/// As "4: 2, 3": line 4 never decides because of lines 2 and 3.
std::vector<std::string> unreachable(std::string_view text) {
    std::vector<std::string> found;
    for (const Rules::Unreachable& each : Rules::parse(text, "test").unreachable()) {
        std::string lines;
        for (const int line : each.covered_by) lines += (lines.empty() ? "" : ", ") + std::to_string(line);
        found.push_back(std::to_string(each.line) + ": " + lines);
    }
    return found;
}

TEST(Rules, a_rule_behind_one_that_takes_all_its_calls_never_decides) {
    EXPECT_THAT(unreachable("exscan -> native\n# note\nexscan bytes < 8 -> doubling_123\nscan -> native"),
                ElementsAre("3: 1"));
    EXPECT_THAT(unreachable("exscan bytes < 64 -> native\nexscan bytes in 8..63, processes > 2 -> doubling_123"),
                ElementsAre("2: 1"));
    EXPECT_THAT(unreachable("exscan processes >= 1 -> native\nexscan -> doubling_123"), ElementsAre("2: 1"));
    EXPECT_THAT(unreachable("exscan bytes < 4 -> native\nexscan processes < 3 -> native\n"
                            "exscan bytes = 3, processes = 9 -> doubling_123"),
                ElementsAre("3: 1"));
}

TEST(Rules, several_rules_may_take_all_calls_of_another_together) {
    EXPECT_THAT(unreachable("exscan bytes < 8 -> native\nscan -> native\nexscan bytes >= 8 -> one_doubling\n"
                            "exscan processes = 3 -> doubling_123"),
                ElementsAre("4: 1, 3"));
    EXPECT_THAT(unreachable("exscan ranks_per_node in 2..8 -> native\nexscan ranks_per_node in 3..5 -> doubling_123"),
                ElementsAre("2: 1"));
    EXPECT_THAT(unreachable("exscan commutative = yes -> native\nexscan commutative = no, bytes < 8 -> native\n"
                            "exscan bytes >= 8 -> native\nexscan -> native"),
                ElementsAre("4: 1, 2, 3"));
}

TEST(Rules, a_rule_with_any_call_of_its_own_decides) {
    for (const char* text :
         {"exscan bytes < 8 -> native\nexscan bytes <= 8 -> native", "scan -> native\nexscan -> native",
          "exscan ranks_per_node >= 1 -> native\nexscan -> native",  // of 0: nobody knows
          ("exscan library = mpich -> native\nexscan library = impi -> native\nexscan library = openmpi -> native\n"
           "exscan -> native"),
          // Of nodes that differ, on both sides.
          "exscan ranks_per_node <= 4 -> native\nexscan ranks_per_node > 4 -> native\nexscan nodes >= 1 -> native",
          "exscan eager <= 16Ki -> native\nexscan -> native", "exscan eager > 16Ki -> native\nexscan -> native",
          "exscan bytes < 8 -> native\nexscan bytes > 8 -> native\nexscan -> native"}) {
        EXPECT_THAT(unreachable(text), IsEmpty()) << text;
    }
}

TEST(Rules, say_which_rules_above_take_some_of_their_calls) {
    const Rules rules = Rules::parse(
        "exscan bytes < 8 -> native\nexscan processes = 2 -> native\nscan -> doubling\n"
        "exscan bytes >= 8 -> one_doubling\nexscan bytes = 9 -> native\nexscan bytes < 9 -> native\n",
        "test");
    std::vector<std::pair<int, std::vector<int>>> found;
    for (const Rules::Overlap& each : rules.overlaps()) found.emplace_back(each.line, each.with);
    EXPECT_THAT(found, ElementsAre(std::pair(2, std::vector{1}), std::pair(4, std::vector{2})));
    EXPECT_EQ(rules.unreachable().size(), 2u);
}

TEST(Rules, of_which_some_are_malformed_can_be_looked_at) {
    std::vector<Rules::Complaint> complaints;
    const Rules rules =
        Rules::parse_what_is_right("exscan -> gone\n# note\nexscan bytes < 4 -> native\nnonsense\n", complaints);
    ASSERT_EQ(complaints.size(), 2u);
    EXPECT_EQ(complaints[0].line, 1);
    EXPECT_THAT(complaints[0].what, StartsWith("exscan has no algorithm 'gone'"));
    EXPECT_EQ(complaints[1].line, 4);
    EXPECT_EQ(choice(rules, {.collective = "exscan", .bytes = 3}), "native");
    EXPECT_EQ(choice(rules, {.collective = "exscan", .bytes = 4}), "");
}

/// As "3 always: a commutative operator".
std::vector<std::string> refusing(std::string_view text) {
    std::vector<std::string> found;
    const Rules rules = Rules::parse(text, "test");
    for (const Rules::Refusing& each : rules.refusing()) {
        std::string line = std::to_string(each.line) + (each.always ? " always" : " sometimes");
        for (const std::string_view need : each.needs) line += ": " + std::string(need);
        found.push_back(line);
    }
    return found;
}

TEST(Rules, know_which_calls_their_algorithms_refuse) {
    EXPECT_THAT(
        refusing("allreduce commutative = no -> ring\nallreduce commutative = yes -> ring\nallreduce -> ring\n"),
        ElementsAre("1 always: a commutative operator", "3 sometimes: a commutative operator"));
    const std::string segments = "at most 131072 segments";
    EXPECT_THAT(refusing("exscan bytes < 64Ki -> linear_pipeline:segment=64Ki\n"
                         "exscan bytes in 64Ki..1Mi -> linear_pipeline:segment=64Ki\n"
                         "exscan bytes >= 1Mi -> linear_pipeline:segment=1\nexscan -> linear_pipeline\n"
                         "scan bytes = 0 -> linear_pipeline:segment=64Ki\n"),
                ElementsAre("3 always: " + segments));
    EXPECT_THAT(refusing("reduce commutative = no, processes <= 2 -> two_tree\nreduce commutative = no -> two_tree\n"),
                ElementsAre("2 sometimes: the first or the last rank as root, or a commutative operator"));
}

TEST(Rules, fill_the_plane_of_ranks_and_bytes) {
    const Rules rules = Rules::parse(
        "exscan processes <= 4, bytes < 100 -> doubling_123\nexscan nodes > 8 -> one_doubling\n"
        "exscan ranks_per_node = 2, bytes in 50..60 -> native\nexscan bytes > 1000 -> two_op_doubling\n",
        "test");
    const auto shown = [&](Rank ranks_per_node) {
        std::string text;
        for (const Rules::Row& row : rules.regions({.collective = "exscan"}, ranks_per_node)) {
            text += std::to_string(row.processes.lowest) + ":";
            for (const Rules::Region& each : row.regions) {
                text += " " + std::to_string(each.bytes.lowest) + "=" +
                        (each.choice == nullptr ? "" : to_string(*each.choice));
            }
            text += "; ";
        }
        return text;
    };
    EXPECT_EQ(shown(1), "2: 0=doubling_123 100= 1001=two_op_doubling; 5: 0= 1001=two_op_doubling; 9: 0=one_doubling; ");
    EXPECT_EQ(shown(2),
              "2: 0=doubling_123 100= 1001=two_op_doubling; 6: 0= 1001=two_op_doubling; 18: 0=one_doubling; ");
    EXPECT_EQ(rules.regions({.collective = "scan"}, 3).size(), 1u);
}

TEST(DefaultRules, decide_what_their_regions_say) {
    const Rules rules = Rules::read("tuning/default.rules");
    for (const Rank ranks_per_node : {1, 4}) {
        Situation situation = {.collective = "allreduce", .commutative = true, .library = MpiLibrary::mpich};
        for (const Rules::Row& row : rules.regions(situation, ranks_per_node)) {
            for (const Count processes : {row.processes.lowest, row.processes.highest}) {
                Count next = 0;
                for (const Rules::Region& region : row.regions) {
                    EXPECT_EQ(region.bytes.lowest, next);
                    next = region.bytes.highest == std::numeric_limits<Count>::max() ? 0 : region.bytes.highest + 1;
                    situation.processes = static_cast<Rank>(processes);
                    situation.ranks_per_node = ranks_per_node;
                    situation.nodes = static_cast<Rank>(processes / ranks_per_node);
                    for (const Count bytes : {region.bytes.lowest, region.bytes.highest}) {
                        situation.bytes = bytes;
                        const std::string said = region.choice == nullptr ? "native" : to_string(*region.choice);
                        const std::string decided = choice(rules, situation);
                        EXPECT_EQ(decided.empty() ? "native" : decided, said) << processes << ", " << bytes;
                    }
                }
            }
        }
    }
}

TEST(Rules, a_file_that_cannot_be_read_is_an_error) {
    EXPECT_THROW(
        {
            try {
                Rules::read("no/such.rules");
            } catch (const Error& error) {
                EXPECT_STREQ(error.what(), "no/such.rules: cannot read the rules: No such file or directory");
                throw;
            }
        },
        Error);
    EXPECT_THROW(Rules::read("/"), Error);
}

TEST(Rules, a_long_file_is_read_whole) {
    const auto path = testing::TempDir() + "rules_test-" + std::to_string(::getpid()) + ".rules";
    std::ofstream file(path);
    for (int i = 0; i < 2000; ++i) file << "exscan bytes = " << i << " -> doubling_123\n";
    file << "exscan -> one_doubling";
    file.close();
    const Rules rules = Rules::read(path);
    std::filesystem::remove(path);
    EXPECT_EQ(choice(rules, {.collective = "exscan", .bytes = 1999}), "doubling_123");
    EXPECT_EQ(choice(rules, {.collective = "exscan", .bytes = 2000}), "one_doubling");
    EXPECT_THAT(rules.unreachable().size(), 0);
}

TEST(DefaultRules, all_decide) { EXPECT_THAT(Rules::read("tuning/default.rules").unreachable().size(), 0); }

TEST(DefaultRules, leave_several_nodes_to_the_model) {
    const Rules rules = Rules::read("tuning/default.rules");
    EXPECT_TRUE(rules.ask_nodes());
    for (const Collective& collective : collectives()) {
        if (collective.has.local_lengths) continue;
        for (const MpiLibrary library : {MpiLibrary::mpich, MpiLibrary::openmpi, MpiLibrary::other}) {
            for (const Rank on_node : {1, 4, 64}) {
                const Situation situation{.collective = collective.name,
                                          .bytes = 1 << 20,
                                          .processes = 16 * on_node,
                                          .ranks_per_node = on_node,
                                          .nodes = 16,
                                          .commutative = true,
                                          .library = library};
                EXPECT_EQ(choice(rules, situation), "predicted") << collective.name;
            }
        }
    }
}

TEST(DefaultRules, leave_to_the_library_what_it_was_measured_to_do_well) {
    const Rules rules = Rules::read("tuning/default.rules");
    EXPECT_EQ(choice(rules, {.collective = "exscan", .bytes = 8, .processes = 2, .nodes = 2}), "native");
    Situation situation{.collective = "bcast",
                        .bytes = 1 << 10,
                        .processes = 16,
                        .ranks_per_node = 1,
                        .nodes = 16,
                        .library = MpiLibrary::impi};
    EXPECT_EQ(choice(rules, situation), "native");
    situation.bytes = 1 << 20;
    EXPECT_EQ(choice(rules, situation), "predicted");
    situation.collective = "alltoall";
    EXPECT_EQ(choice(rules, situation), "predicted");
    situation.oversubscribed = true;
    EXPECT_EQ(choice(rules, situation), "predicted");
    situation.ranks_per_node = 2;  // as where it was measured
    EXPECT_EQ(choice(rules, situation), "native");
    situation.library = MpiLibrary::openmpi;
    EXPECT_EQ(choice(rules, situation), "predicted");
    situation.ranks_per_node = 16;
    EXPECT_EQ(choice(rules, situation), "native");
}

}  // namespace
}  // namespace rondo
