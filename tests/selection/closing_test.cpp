// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/closing.hpp"

#include <gtest/gtest.h>

namespace rondo {
namespace {

const Collective& exscan() { return require_collective("exscan"); }

SharedFacts call_of(Count bytes, Rank processes = 8) {
    return exscan().facts({.size = processes, .count = bytes / 8, .element_bytes = 8, .op = {true}});
}

/// As a choice with every setting.
std::string closed(std::string_view text, const SharedFacts& facts, const Machine& machine = {}) {
    const Choice choice = parse_choice(exscan(), text);
    return to_string(Choice{choice.algorithm, settings_for(choice, facts, machine)});
}

TEST(Closing, leaves_what_is_closed) {
    EXPECT_EQ(closed("doubling_123", call_of(1 << 20)), "doubling_123");
    EXPECT_EQ(closed("linear_pipeline:segment=8Ki", call_of(1 << 20)), "linear_pipeline:segment=8Ki");
    EXPECT_FALSE(has_open_segment(parse_choice(exscan(), "linear_pipeline:segment=8Ki").settings));
    EXPECT_TRUE(has_open_segment(parse_choice(exscan(), "linear_pipeline").settings));
}

TEST(Closing, takes_the_segment_that_the_machine_file_names) {
    const Machine machine =
        Machine::parse("alpha = 2e-6\nbeta = 8e-11\nsegment exscan/linear_pipeline 8 1Mi = 5000\n", "test");
    EXPECT_EQ(closed("linear_pipeline", call_of(1 << 20), machine), "linear_pipeline:segment=5000");
}

TEST(Closing, does_not_cut_what_is_short) {
    EXPECT_EQ(closed("linear_pipeline", call_of(1024)), "linear_pipeline:segment=1Ki");
    EXPECT_EQ(closed("linear_pipeline", call_of(1200)), "linear_pipeline:segment=1200");
}

TEST(Closing, asks_once_for_a_class_of_lengths) {
    const Choice choice = parse_choice(exscan(), "linear_pipeline");
    std::vector<Count> asked;
    const auto note = [&](const Choice& open, const SharedFacts& usual, const Machine& machine) {
        asked.push_back(usual.count);
        EXPECT_EQ(usual.root, 0);
        return closed_for_class(open, usual, machine);
    };
    const Machine machine;
    for (const Count bytes : {1 << 20, (1 << 20) + 8, (5 << 18) - 8, 5 << 18}) {
        (void)settings_for(choice, call_of(bytes), machine, note);
    }
    EXPECT_EQ(asked, (std::vector<Count>{1 << 17, 1 << 17, 1 << 17, 5 << 15}));
}

}  // namespace
}  // namespace rondo
