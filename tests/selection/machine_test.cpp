// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view right = "alpha = 2e-3\nbeta=4e-8  # 200 Mbit/s\n\noverhead = 0\n";

std::string complaint(std::string_view text) {
    try {
        Machine::parse(text, "my.machine");
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

const AlgorithmInfo& pipeline() { return *find_collective("exscan")->algorithm("linear_pipeline"); }

TEST(Machine, is_read_line_by_line) {
    const Machine machine = Machine::parse(right, "my.machine");
    EXPECT_EQ(machine.alpha, 2e-3);
    EXPECT_EQ(machine.beta, 4e-8);
    EXPECT_EQ(machine.overhead, 0);
    EXPECT_EQ(machine.gamma, Machine().gamma);
    EXPECT_EQ(machine.eager, std::nullopt);
    EXPECT_EQ(Machine::parse("alpha = 1\nbeta = 1\neager = 16Ki # bytes", "my.machine").eager, 16 << 10);
}

TEST(Machine, has_two_classes_of_links) {
    const Machine machine = Machine::parse(
        "alpha = 2\nbeta = 1\nalpha_inside = 0.25\nbeta_inside = 0.5\noverhead_inside = 0.125\nlanes = 4\n"
        "eager = 1Ki\nrendezvous = 7\n",
        "my.machine");
    const virtual_machine::CostModel costs = machine.costs();
    EXPECT_EQ(costs.alpha, 2);
    EXPECT_EQ(costs.overhead, Machine().overhead);
    ASSERT_TRUE(costs.inside.has_value());
    EXPECT_EQ(costs.inside->alpha, 0.25);
    EXPECT_EQ(costs.inside->beta, 0.5);
    EXPECT_EQ(costs.inside->overhead, 0.125);
    EXPECT_EQ(costs.lanes, 4);
    EXPECT_EQ(costs.eager, 1024);
    EXPECT_EQ(costs.rendezvous, 7);
}

TEST(Machine, has_links_between_domains_of_a_node) {
    const std::string base =
        "alpha = 2\nbeta = 1\nalpha_inside = 0.25\noverhead_inside = 0.125\nlanes = 4\neager = 1Ki\n";
    const Placement nodes = Placement::regular(2, 8), domains = nodes.as_domains();
    const Machine machine = Machine::parse(base + "alpha_across = 0.5\n", "my.machine");
    EXPECT_EQ(machine.costs(&nodes).alpha, 2);
    const virtual_machine::CostModel costs = machine.costs(&domains);
    EXPECT_EQ(costs.alpha, 0.5);
    EXPECT_EQ(costs.beta, Machine().beta_inside);
    EXPECT_EQ(costs.overhead, 0.125) << "as inside a domain, unless the file says otherwise";
    ASSERT_TRUE(costs.inside.has_value());
    EXPECT_EQ(costs.inside->alpha, 0.25);
    EXPECT_TRUE(costs.own_wires);
    EXPECT_FALSE(machine.costs(&nodes).own_wires);
    EXPECT_EQ(costs.eager, virtual_machine::no_eager_limit);
}

TEST(Machine, takes_two_latencies_for_a_rendezvous_unless_it_says_more) {
    const virtual_machine::CostModel costs = Machine::parse("alpha = 3\nbeta = 1", "my.machine").costs();
    EXPECT_EQ(costs.rendezvous, 6);
    EXPECT_EQ(costs.eager, virtual_machine::no_eager_limit);
    EXPECT_EQ(costs.lanes, 1);
    EXPECT_TRUE(costs.inside && costs.inside->alpha < Machine().alpha);
}

TEST(Machine, lanes_and_rendezvous_that_cannot_be_are_refused) {
    for (const char* value : {"", "0", "-1", "1.5", "two", "1Mi"}) {
        EXPECT_EQ(complaint("lanes = " + std::string(value)),
                  "my.machine:1: 'lanes = " + std::string(value) + "': expected 1 to 1024, the links of a node");
    }
    EXPECT_THAT(complaint("rendezvous = -1"), HasSubstr("'rendezvous = -1' is negative; expected seconds"));
    EXPECT_THAT(complaint("rendezvous = long"), HasSubstr("is not a number; expected seconds"));
    for (const std::string key : {"lanes", "rendezvous", "alpha_inside"}) {
        std::string twice = key + " = 1\n";
        twice += twice;
        EXPECT_EQ(complaint(twice), "my.machine:2: '" + key + "' is set twice; expected one line for it");
    }
}

TEST(Machine, an_eager_limit_is_a_number_of_bytes) {
    for (const char* value : {"", "short", "-1", "1.5", "16KiB", "2e3"}) {
        EXPECT_EQ(complaint("eager = " + std::string(value)),
                  "my.machine:1: 'eager = " + std::string(value) + "' is not a number; expected bytes, as in 16Ki");
    }
    EXPECT_EQ(complaint("eager = 1\neager = 1"), "my.machine:2: 'eager' is set twice; expected one line for it");
    EXPECT_THAT(complaint("eager 8 = 1"), HasSubstr("unknown key 'eager 8'"));
}

TEST(Machine, a_figure_that_is_no_number_is_refused) {
    for (const char* value : {"", "fast", "2e-3s", "2,5", "nan", "inf", "1e999", "0x1p3", "- 1"}) {
        EXPECT_THAT(complaint("beta = 1\nalpha = " + std::string(value)),
                    AllOf(HasSubstr("my.machine:2: 'alpha = "), HasSubstr("is not a number; expected seconds")))
            << value;
    }
}

TEST(Machine, a_negative_figure_is_refused) {
    EXPECT_EQ(complaint("alpha = 1\nbeta = -1e-9\n"),
              "my.machine:2: 'beta = -1e-9' is negative; expected seconds per byte");
}

TEST(Machine, an_unknown_key_comes_with_the_nearest) {
    EXPECT_EQ(complaint("alhpa = 1"), "my.machine:1: unknown key 'alhpa'; did you mean 'alpha'?");
    EXPECT_THAT(complaint("alpha beta = 1"), HasSubstr("unknown key 'alpha beta'"));
    EXPECT_THAT(complaint("bandwidth = 1"),
                HasSubstr("expected one of: alpha, beta, overhead, gamma, alpha_inside, beta_inside, overhead_inside, "
                          "alpha_across, beta_across, overhead_across, first_pass, second_pass, lanes, eager, "
                          "rendezvous, network, segment"));
}

TEST(Machine, a_line_without_value_is_refused) {
    EXPECT_EQ(complaint("# nothing\nalpha"),
              "my.machine:2: no '=' in 'alpha'; expected <key> = <value>, as in 'alpha = 2e-6'");
}

TEST(Machine, a_figure_is_set_once) {
    EXPECT_EQ(complaint("alpha = 1\nalpha = 1"), "my.machine:2: 'alpha' is set twice; expected one line for it");
}

TEST(Machine, latency_and_rate_must_be_there) {
    EXPECT_EQ(complaint("alpha = 1\ngamma = 1\n"),
              "my.machine:2: beta is missing; expected a line 'beta = <seconds per byte>'");
    EXPECT_THAT(complaint(""), HasSubstr("my.machine:1: alpha is missing"));
}

TEST(Machine, a_file_that_is_not_there_is_named) {
    EXPECT_THROW(
        {
            try {
                Machine::read("/no/such/machine");
            } catch (const Error& error) {
                EXPECT_STREQ(error.what(),
                             "/no/such/machine: cannot read the machine's figures: No such file or directory");
                throw;
            }
        },
        Error);
}

TEST(Machine, a_segment_serves_for_up_to_twice_as_much) {
    const Machine machine = Machine::parse(
        "alpha = 1\nbeta = 1\nsegment exscan/linear_pipeline 1024 1Mi = 16Ki\n"
        "segment exscan/linear_pipeline 1024 2Mi = 32Ki\n",
        "my.machine");
    constexpr Count mebi = 1 << 20;
    EXPECT_EQ(machine.segment(pipeline(), 1024, mebi), 16 << 10);
    EXPECT_EQ(machine.segment(pipeline(), 2047, 2 * mebi - 1), 16 << 10);
    EXPECT_EQ(machine.segment(pipeline(), 1500, 3 * mebi), 32 << 10);
    EXPECT_EQ(machine.segment(pipeline(), 1023, mebi), std::nullopt);
    EXPECT_EQ(machine.segment(pipeline(), 2048, mebi), std::nullopt);
    EXPECT_EQ(machine.segment(pipeline(), 1024, mebi - 1), std::nullopt);
    EXPECT_EQ(machine.segment(pipeline(), 1024, 4 * mebi), std::nullopt);
    EXPECT_EQ(machine.segment(*find_collective("scan")->algorithm("linear_pipeline"), 1024, mebi), std::nullopt);
}

TEST(Machine, a_segment_that_cannot_be_is_refused) {
    const auto line = [](const std::string& text) { return complaint("segment " + text); };
    EXPECT_THAT(line("exscan/linear_pipeline 1024 1Mi = 2Mi"),
                HasSubstr("expected at least one rank, and 1 to 1Mi bytes"));
    EXPECT_THAT(line("exscan/linear_pipeline 0 1Mi = 1"), HasSubstr("expected at least one rank"));
    EXPECT_THAT(line("exscan/linear_pipeline 8 1Mi = 0"), HasSubstr("expected at least one rank"));
    for (const char* text : {"exscan 8 1Mi = 1", "exscan/linear_pipeline 8 = 1", "exscan/linear_pipeline 8 1Mi x = 1",
                             "exscan/linear_pipeline 8 1Mi = much", "= 1"}) {
        EXPECT_THAT(line(text), HasSubstr("cannot read the segment; expected 'segment <collective>/<algorithm>"))
            << text;
    }
    EXPECT_THAT(line("exscan/linear_pipelin 8 1Mi = 1"), HasSubstr("did you mean 'linear_pipeline'?"));
    EXPECT_THAT(line("exscan/doubling_123 8 1Mi = 1"), HasSubstr("has no segments"));
    EXPECT_THAT(line("exscan/native 8 1Mi = 1"), HasSubstr("has no segments"));
}

TEST(Machine, its_fingerprint_tells_machines_apart_and_not_layouts) {
    const auto print = [](std::string_view text) { return Machine::parse(text, "my.machine").fingerprint(); };
    const std::string base = "alpha = 1\nbeta = 2\n";
    EXPECT_EQ(print(base), print("# other\n\nbeta   =2\nalpha=1.0"));
    EXPECT_NE(print(base), print("alpha = 2\nbeta = 1\n"));
    EXPECT_NE(print(base), print(base + "gamma = 0\n"));
    EXPECT_NE(print(base), print(base + "segment exscan/linear_pipeline 8 1Mi = 4Ki\n"));
    EXPECT_NE(print(base + "segment exscan/linear_pipeline 8 1Mi = 4Ki\n"),
              print(base + "segment scan/linear_pipeline 8 1Mi = 4Ki\n"));
    EXPECT_NE(print(base), print(base + "eager = 0\n"));
    EXPECT_NE(print(base + "eager = 1\n"), print(base + "eager = 0\n"));
    for (const char* line : {"alpha_inside = 1", "beta_inside = 1", "overhead_inside = 1", "alpha_across = 1",
                             "lanes = 2", "rendezvous = 0"}) {
        EXPECT_NE(print(base), print(base + line)) << line;
    }
    EXPECT_EQ(print(base), print(base + "alpha_across = 3e-7")) << "as inside";
    EXPECT_EQ(Machine().fingerprint(), Machine().fingerprint());
}

}  // namespace
}  // namespace rondo
