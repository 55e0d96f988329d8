// SPDX-License-Identifier: BSD-3-Clause
// Programs on several nodes whose users have named no machine file.
#include "rondo/interposer/measured_machine.hpp"

#include <array>
#include <span>

#include "rondo/interposer/runtime.hpp"
#include "rondo/selection/verdict_file.hpp"
#include "tests/interposer/directory.hpp"
#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

std::string machine_file(const Directory& directory) {
    return directory.path() + "/" + measured_machine_file_name(host_name(), "MPICH Version 5.0.2");
}

Variables told(const RulesFile& rules, const Directory& directory) {
    return {{"RONDO_RULES", rules.path()}, {"RONDO_GUARD", "exact"}, {"RONDO_LEARNED", directory.path()}};
}

/// Runs a program of four ranks on nodes, which looks at the machine's figures.
void look(const Variables& variables, std::span<const int> node_of, const std::function<void(const Machine&)>& at) {
    made_up::play(4, [&] {
        made_up::behaviour().node_of.assign(node_of.begin(), node_of.end());
        start(variables);
        const Runtime* const here = runtime(nullptr);
        ASSERT_NE(here, nullptr);
        MPI_Barrier(MPI_COMM_WORLD);  // rank 0 has written what it wanted to
        at(here->instructions.machine());
        MPI_Barrier(MPI_COMM_WORLD);
        made_up::finalize();
    });
}

constexpr std::array two_nodes = {0, 0, 1, 1}, one_node = {0, 0, 0, 0};

TEST(MeasuredMachine, is_that_of_the_file_on_all_ranks) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    look(told(rules, directory), two_nodes, [&](const Machine& machine) {
        Machine kept = Machine::parse(Directory::text_of(machine_file(directory)), "kept");
        kept.eager = machine.eager;  // by the library
        EXPECT_EQ(kept.fingerprint(), machine.fingerprint());
    });
    const std::string first = Directory::text_of(machine_file(directory));
    EXPECT_NE(first, "");
    look(told(rules, directory), two_nodes, [&](const Machine& machine) {
        EXPECT_EQ(machine.alpha, Machine::parse(first, "first").alpha);
        EXPECT_EQ(made_up::calls("Recv"), 0) << "nothing is measured twice";
    });
    EXPECT_EQ(Directory::text_of(machine_file(directory)), first);
}

TEST(MeasuredMachine, is_measured_anew_if_the_file_cannot_be_read) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    Directory::write(machine_file(directory), "alpha = \n");
    look(told(rules, directory), two_nodes, [&](const Machine& machine) {
        EXPECT_EQ(machine.alpha, Machine::parse(Directory::text_of(machine_file(directory)), "kept").alpha);
    });
}

const auto is_standard = [](const Machine& machine) { EXPECT_EQ(machine.alpha, Machine().alpha); };

TEST(MeasuredMachine, is_the_standard_one_where_nobody_may_or_can_measure) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    Variables variables = told(rules, directory);
    look(variables, one_node, is_standard);
    variables.emplace_back("RONDO_NODES", "2x2");
    look(variables, two_nodes, is_standard);
    variables.back() = {"RONDO_MACHINE", "standard"};
    look(variables, two_nodes, is_standard);
    variables.back() = {"RONDO_GUARD", "off"};
    look(variables, two_nodes, is_standard);
    EXPECT_FALSE(std::filesystem::exists(machine_file(directory)));
}

TEST(MeasuredMachine, holds_where_nothing_could_be_measured) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    Directory::write(machine_file(directory), "alpha = 3\nbeta = 4\n");
    const auto is_kept = [](const Machine& machine) { EXPECT_EQ(machine.alpha, 3); };
    Variables variables = told(rules, directory);
    look(variables, one_node, is_kept);
    variables.emplace_back("RONDO_NODES", "2x2");
    look(variables, one_node, is_kept);
}

TEST(MeasuredMachine, is_the_standard_one_if_it_cannot_be_written) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    std::filesystem::create_directories(machine_file(directory) + "/full");  // no file can take its place
    look(told(rules, directory), two_nodes, is_standard);
}

TEST(MeasuredMachine, is_not_measured_again_and_again_where_it_cannot_be_kept) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    Directory::write(directory.path(), "a file\n");
    look(told(rules, directory), two_nodes, [](const Machine& machine) {
        EXPECT_EQ(machine.alpha, Machine().alpha);
        EXPECT_EQ(made_up::calls("Recv"), 0);
    });
}

TEST(MeasuredMachine, is_the_standard_one_after_messages_that_have_failed) {
    const RulesFile rules("exscan -> doubling_123\n");
    const Directory directory;
    made_up::play(4, [&] {
        made_up::behaviour().node_of = {0, 0, 1, 1};
        if (made_up::rank() == 2) made_up::fail("Send", MPI_ERR_OTHER, 1, 0);  // its first word to rank 0
        if (made_up::rank() == 0) made_up::fail("Recv", MPI_ERR_OTHER, 1, 0);
        start(told(rules, directory));
        EXPECT_EQ(runtime(nullptr)->instructions.machine().alpha, Machine().alpha);
        made_up::finalize();
    });
    EXPECT_FALSE(std::filesystem::exists(machine_file(directory)));
}

}  // namespace
}  // namespace rondo::interposer
