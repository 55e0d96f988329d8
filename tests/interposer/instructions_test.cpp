// SPDX-License-Identifier: BSD-3-Clause
// What the environment tells Rondo, and what is wrong with it.
#include "rondo/interposer/instructions.hpp"

#include <set>

#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

Instructions read(const Variables& variables) {
    for (const auto& [name, value] : variables) ::setenv(name, value.c_str(), 1);
    Instructions instructions = Instructions::from_environment();
    for (const auto& [name, value] : variables) ::unsetenv(name);
    return instructions;
}

std::string complaint(const Variables& variables) {
    const Instructions instructions = read(variables);
    return instructions.complaints().empty() ? "" : instructions.complaints().front();
}

TEST(Instructions, are_none_of_an_empty_environment) {
    const Instructions none = read({});
    EXPECT_FALSE(none.off());
    EXPECT_TRUE(none.complaints().empty());
    EXPECT_FALSE(none.ask_nodes());
    EXPECT_EQ(none.memory_sharing(), mpi::MemorySharing::automatic);
    EXPECT_EQ(none.guard(0), Guard::off);
    EXPECT_EQ(none.plan_memory(), Count{64} << 20);
    EXPECT_EQ(none.report_directory(), "");
}

TEST(Instructions, people_write_off_in_several_ways) {
    for (const char* const word : {"off", "OFF", "0", "no", "False"})
        EXPECT_TRUE(read({{"RONDO", word}}).off()) << word;
    for (const char* const word : {"on", "1", ""}) EXPECT_FALSE(read({{"RONDO", word}}).off()) << word;
}

TEST(Instructions, people_write_disable_in_several_ways) {
    for (const char* const word : {"1", "yes", "TRUE", "please"})
        EXPECT_TRUE(read({{"RONDO_DISABLE", word}}).off()) << word;
    for (const char* const word : {"0", "no", "off", "False", ""})
        EXPECT_FALSE(read({{"RONDO_DISABLE", word}}).off()) << word;
}

TEST(Instructions, people_write_yes_and_no_in_several_ways) {
    EXPECT_EQ(read({{"RONDO_GUARD", "0"}}).guard(0), Guard::off);
    EXPECT_EQ(read({{"RONDO_GUARD", "On"}}).guard(0), Guard::exact);
    EXPECT_EQ(read({{"RONDO_SHARED_MEMORY", "1"}}).memory_sharing(), mpi::MemorySharing::on);
    EXPECT_EQ(read({{"RONDO_SHARED_MEMORY", "false"}}).memory_sharing(), mpi::MemorySharing::off);
    EXPECT_EQ(complaint({{"RONDO_GUARD", "no"}, {"RONDO_SHARED_MEMORY", "yes"}}), "");
}

TEST(Instructions, of_a_configuration_that_cannot_be_read_are_none) {
    const Instructions none = read({{"RONDO_CONFIG", "/nowhere"}, {"RONDO_GUARD", "exact"}});
    EXPECT_FALSE(none.off()) << "other ranks may be able to read theirs, and will ask";
    EXPECT_EQ(none.guard(0), Guard::off);
    EXPECT_NE(none.complaints().front().find("/nowhere"), std::string::npos);
    EXPECT_NE(none.fingerprint(), read({}).fingerprint());
}

TEST(Instructions, what_cannot_be_read_is_complained_of_and_left_to_the_library) {
    EXPECT_NE(complaint({{"RONDO_BCAST", "binomal"}}).find("RONDO_BCAST: "), std::string::npos);
    EXPECT_NE(complaint({{"RONDO_RULES", "/nowhere.rules"}}).find("RONDO_RULES: "), std::string::npos);
    EXPECT_NE(complaint({{"RONDO_GUARD", "exactly"}}).find("it is off"), std::string::npos);
    EXPECT_NE(complaint({{"RONDO_PLAN_MEMORY", "much"}}).find("64Mi"), std::string::npos);
    EXPECT_NE(complaint({{"RONDO_SHARED_MEMORY", "perhaps"}}).find("it is off"), std::string::npos);
    EXPECT_EQ(read({{"RONDO_SHARED_MEMORY", "perhaps"}}).memory_sharing(), mpi::MemorySharing::off);
    const RulesFile rules("bcast -> binomial\n");
    run(2, {{"RONDO_RULES", rules.path()}, {"RONDO_BCAST", "binomal"}}, [] {
        int number = 0;
        MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
        EXPECT_EQ(left("bcast"), 1) << "not by the rules, either";
    });
}

TEST(Instructions, have_a_fingerprint_of_all_that_decides) {
    const RulesFile rules("bcast -> binomial\n");
    std::set<std::uint64_t> fingerprints;
    const std::vector<Variables> all{{},
                                     {{"RONDO_BCAST", "binomial"}},
                                     {{"RONDO_BCAST", "linear_pipeline"}},
                                     {{"RONDO_REDUCE", "binomial"}},
                                     {{"RONDO_RULES", rules.path()}},
                                     {{"RONDO_NODES", "2x2"}},
                                     {{"RONDO_GUARD", "exact"}},
                                     {{"RONDO_GUARD", "free"}},
                                     {{"RONDO_SHARED_MEMORY", "on"}},
                                     {{"RONDO_SHARED_MEMORY", "off"}}};
    for (const Variables& each : all) {
        fingerprints.insert(read(each).fingerprint());
        EXPECT_EQ(read(each).fingerprint(), read(each).fingerprint());
    }
    EXPECT_EQ(fingerprints.size(), all.size());
    EXPECT_EQ(read({{"RONDO_REPORT", "/somewhere"}}).fingerprint(), read({}).fingerprint()) << "which decides nothing";
}

TEST(Instructions, ranks_that_read_other_files_have_other_fingerprints) {
    const std::string head = "<algo name='a' coll='allreduce' ngpus='1' nchunksperloop='1'><gpu id='0' s_chunks='";
    const auto fingerprint = [](const std::string& text) {
        const RulesFile file(text);
        return read({{"RONDO_ALLREDUCE", "file:" + file.path()}}).fingerprint();
    };
    const std::uint64_t first = fingerprint(head + "0'/></algo>");
    EXPECT_EQ(fingerprint(head + "0'/></algo>"), first);
    EXPECT_NE(fingerprint(head + "1'/></algo>"), first);
    EXPECT_NE(fingerprint(head), first) << "it cannot be read";
}

TEST(Instructions, nodes_are_asked_for_where_a_choice_may_use_them) {
    EXPECT_TRUE(read({{"RONDO_ALLREDUCE", "leaders"}}).ask_nodes());
    EXPECT_FALSE(read({{"RONDO_ALLREDUCE", "ring"}}).ask_nodes());
    Instructions imposed = read({{"RONDO_ALLREDUCE", "leaders"}, {"RONDO_NODES", "2x2"}});
    imposed.know_ranks(4);
    EXPECT_FALSE(imposed.ask_nodes());
    EXPECT_EQ(imposed.imposed_placement(), Placement::regular(2, 2));
    EXPECT_EQ(imposed.memory_sharing(), mpi::MemorySharing::off) << "they are to be taken for other machines";
    Instructions domains = read({{"RONDO_NODES", "domains:2x2"}});
    domains.know_ranks(4);
    EXPECT_EQ(domains.imposed_placement(), Placement::regular(2, 2).as_domains());
    EXPECT_TRUE(domains.ask_nodes()) << "there has to be one";
    EXPECT_EQ(domains.memory_sharing(), mpi::MemorySharing::automatic) << "they are of one machine";
    const RulesFile rules("scan oversubscribed = yes -> native\n");
    imposed = read({{"RONDO_RULES", rules.path()}, {"RONDO_NODES", "2x2"}});
    imposed.know_ranks(4);
    EXPECT_TRUE(imposed.ask_nodes()) << "for their processors";
    Instructions others = read({{"RONDO_NODES", "2x2"}});
    others.know_ranks(5);
    EXPECT_FALSE(others.complaints().empty());
    EXPECT_FALSE(others.imposed_placement().has_value());
}

TEST(Instructions, the_guard_leaves_what_somebody_has_named) {
    const std::size_t bcast = index_of(*find_collective("bcast")), reduce = index_of(*find_collective("reduce"));
    Instructions instructions = read({{"RONDO_GUARD", "exact"}, {"RONDO_BCAST", "binomial"}});
    EXPECT_EQ(instructions.guard(bcast), Guard::off);
    EXPECT_EQ(instructions.guard(reduce), Guard::exact);
    instructions.override_choice(reduce, parse_choice(*find_collective("reduce"), "binomial"));
    EXPECT_EQ(instructions.guard(reduce), Guard::off);
}

TEST(Instructions, choices_of_the_program_have_numbers_that_come_again) {
    Instructions instructions = read({});
    const Collective& subject = *find_collective("bcast");
    const std::size_t bcast = index_of(subject);
    const auto choose = [&](const char* choice) {
        instructions.override_choice(bcast, parse_choice(subject, choice));
        return instructions.choice_number(bcast);
    };
    EXPECT_EQ(instructions.choice_number(bcast), 0);
    const auto first = choose("binomial"), second = choose("linear_pipeline"),
               third = choose("linear_pipeline:segment=4Ki");
    EXPECT_NE(first, 0);
    EXPECT_NE(first, second);
    EXPECT_NE(second, third);
    EXPECT_EQ(choose("binomial"), first);
    instructions.override_choice(bcast, std::nullopt);
    EXPECT_EQ(instructions.choice_number(bcast), 0);
}

}  // namespace
}  // namespace rondo::interposer
