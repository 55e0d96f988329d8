// SPDX-License-Identifier: BSD-3-Clause
// Who carries out a call, and why.
#include <array>

#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

Variables forced() { return {{"RONDO_ALLREDUCE", "recursive_doubling"}, {"RONDO_BCAST", "binomial"}}; }

TEST(Decisions, a_call_of_which_nobody_said_anything_is_the_librarys) {
    run(2, {}, [] {
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3);
        EXPECT_EQ(left("allreduce"), 1);
        EXPECT_EQ(reason("allreduce"), "no rule");
    });
}

TEST(Decisions, what_is_named_for_a_collective_carries_out_its_calls) {
    run(4, forced(), [] {
        const int native = made_up::calls("Allreduce");
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 10);
        EXPECT_EQ(allreduce(MPI_COMM_WORLD, 100, MPI_MAX), 4);
        EXPECT_EQ(left("allreduce"), 0);
        EXPECT_EQ(made_up::calls("Allreduce"), native);
        EXPECT_EQ(made_up::calls("Isend"), 4) << "two rounds of two calls";
    });
}

TEST(Decisions, rules_decide_by_length_up_to_their_bounds) {
    const RulesFile rules("allreduce bytes in 9..64 -> recursive_doubling\nallreduce bytes > 400 -> native\n");
    run(2, {{"RONDO_RULES", rules.path()}}, [] {
        allreduce(MPI_COMM_WORLD, 3);
        allreduce(MPI_COMM_WORLD, 16);
        EXPECT_EQ(left("allreduce"), 0);
        allreduce(MPI_COMM_WORLD, 2);
        EXPECT_EQ(left("allreduce"), 1);
        EXPECT_EQ(reason("allreduce"), "no rule");
        allreduce(MPI_COMM_WORLD, 17);
        EXPECT_EQ(left("allreduce"), 2);
        allreduce(MPI_COMM_WORLD, 101);
        EXPECT_EQ(reason("allreduce"), "chosen");
        allreduce(MPI_COMM_WORLD, 3);
        EXPECT_EQ(left("allreduce"), 3);
    });
}

TEST(Decisions, ranks_of_a_node_share_memory_where_they_are_told_to) {
    const RulesFile rules("allreduce shared_memory = yes -> ring\n");
    run(3, {{"RONDO_RULES", rules.path()}, {"RONDO_SHARED_MEMORY", "on"}}, [] {
        EXPECT_EQ(rondo_shares_memory(), 1);
        for (int call = 0; call < 3; ++call) EXPECT_EQ(allreduce(MPI_COMM_WORLD, 1000), 6);
        EXPECT_EQ(left("allreduce"), 0);
        EXPECT_EQ(made_up::calls("Isend") + made_up::calls("Send"), 0);
    });
    run(3, {{"RONDO_RULES", rules.path()}}, [] {
        EXPECT_EQ(rondo_shares_memory(), 0);
        allreduce(MPI_COMM_WORLD);
        EXPECT_EQ(reason("allreduce"), "no rule");
    });
}

TEST(Decisions, rules_decide_by_the_ranks_of_the_communicator) {
    const RulesFile rules("allreduce processes = 2 -> recursive_doubling\n");
    run(4, {{"RONDO_RULES", rules.path()}}, [] {
        const MPI_Comm half = made_up::split(MPI_COMM_WORLD, {0, 1, 0, 1});
        EXPECT_EQ(allreduce(half), made_up::rank() % 2 == 0 ? 4 : 6);
        EXPECT_EQ(left("allreduce"), 0);
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 10);
        EXPECT_EQ(left("allreduce"), 1);
        made_up::free(half);
    });
}

TEST(Decisions, rules_decide_by_nodes_where_the_ranks_are_found) {
    const RulesFile rules("allreduce ranks_per_node = 2 -> leaders\n");
    made_up::play(4, [&] {
        made_up::behaviour().node_of = {0, 0, 2, 2};
        start({{"RONDO_RULES", rules.path()}});
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 10);
        EXPECT_EQ(left("allreduce"), 0);
        const MPI_Comm lanes = made_up::split(MPI_COMM_WORLD, {0, 1, 0, 1});
        EXPECT_EQ(allreduce(lanes), made_up::rank() % 2 == 0 ? 4 : 6);
        EXPECT_EQ(reason("allreduce"), "no rule") << "one rank on each node";
        const MPI_Comm nodes = made_up::split(MPI_COMM_WORLD, {0, 0, 1, 1});
        EXPECT_EQ(allreduce(nodes), made_up::rank() < 2 ? 3 : 7);
        EXPECT_EQ(left("allreduce"), 1);
    });
}

TEST(Decisions, rules_decide_by_whether_the_operator_commutes) {
    const RulesFile rules("allreduce commutative = yes -> ring\n");
    run(3, {{"RONDO_RULES", rules.path()}}, [] {
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 6);
        EXPECT_EQ(left("allreduce"), 0);
        const auto add = [](const void* in, void* inout, int count) {
            for (int i = 0; i < count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
        };
        EXPECT_EQ(allreduce(MPI_COMM_WORLD, 1, made_up::make_operator(add, true)), 6);
        EXPECT_EQ(left("allreduce"), 0);
        EXPECT_EQ(allreduce(MPI_COMM_WORLD, 1, made_up::make_operator(add, false)), 6);
        EXPECT_EQ(reason("allreduce"), "no rule");
    });
}

TEST(Decisions, an_algorithm_may_refuse_a_call) {
    run(3, {{"RONDO_ALLREDUCE", "ring"}}, [] {
        const auto right = [](const void* /*in*/, void* /*inout*/, int /*count*/) {};
        EXPECT_EQ(allreduce(MPI_COMM_WORLD, 1, made_up::make_operator(right, false)), 3);
        EXPECT_EQ(reason("allreduce"), "ring needs a commutative operator");
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 6);
        EXPECT_EQ(left("allreduce"), 1);
    });
}

TEST(Decisions, what_is_named_stands_above_rules_and_the_program_above_both) {
    const RulesFile rules("allreduce -> native\nbcast -> binomial\n");
    run(2, {{"RONDO_RULES", rules.path()}, {"RONDO_ALLREDUCE", "recursive_doubling"}}, [] {
        allreduce(MPI_COMM_WORLD);
        EXPECT_EQ(left("allreduce"), 0);
        ASSERT_EQ(rondo_choose("allreduce", "native", nullptr, 0), 0);
        allreduce(MPI_COMM_WORLD);
        EXPECT_EQ(reason("allreduce"), "chosen");
        ASSERT_EQ(rondo_choose("allreduce", "", nullptr, 0), 0);
        EXPECT_EQ(left("allreduce"), 0) << "counted anew";
        allreduce(MPI_COMM_WORLD);
        EXPECT_EQ(left("allreduce"), 0);
    });
}

TEST(Decisions, a_choice_of_the_program_voids_what_was_remembered_of_calls) {
    run(2, {}, [] {
        for (const char* const choice : {"recursive_doubling", "native", "ring", "native"}) {
            ASSERT_EQ(rondo_choose("allreduce", choice, nullptr, 0), 0);
            const int native = made_up::calls("Allreduce");
            for (int call = 0; call < 3; ++call) EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3);
            EXPECT_EQ(made_up::calls("Allreduce") - native, choice == std::string("native") ? 3 : 0) << choice;
        }
    });
}

TEST(Decisions, a_choice_that_cannot_be_is_refused_with_a_reason) {
    run(2, {}, [] {
        char why[256] = "";
        EXPECT_NE(rondo_choose("allreduce", "leaders", why, sizeof why), 0);
        EXPECT_NE(std::string(why).find("leaders uses nodes"), std::string::npos) << why;
        EXPECT_NE(rondo_choose("allreduce", "rings", why, sizeof why), 0);
        EXPECT_NE(std::string(why).find("rings"), std::string::npos) << why;
        EXPECT_NE(rondo_choose("allreduces", "ring", why, sizeof why), 0);
        EXPECT_EQ(rondo_left_to_library("allreduces", why, sizeof why), -1);
    });
}

// What all ranks share.

TEST(Decisions, one_process_has_nobody_to_talk_to) {
    run(1, forced(), [] {
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 1);
        EXPECT_EQ(reason("allreduce"), "one process");
    });
    run(2, forced(), [] {
        allreduce(MPI_COMM_SELF);
        EXPECT_EQ(reason("allreduce"), "one process");
    });
}

TEST(Decisions, ranks_with_different_instructions_leave_all_calls_to_the_library) {
    made_up::play(3, [] {
        start({{"RONDO_ALLREDUCE", made_up::rank() != 1 ? "recursive_doubling" : "ring"}});
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 6);
        EXPECT_EQ(reason("allreduce"), "the ranks were given different instructions");
    });
}

TEST(Decisions, without_a_part_in_mpi_init_nobody_knows_the_others) {
    made_up::play(2, [] {
        ::setenv("RONDO_ALLREDUCE", "recursive_doubling", 1);
        mpi::library().Init(nullptr, nullptr);
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3);
        EXPECT_EQ(reason("allreduce"), "MPI was initialised without Rondo");
    });
}

TEST(Decisions, a_library_that_makes_no_communicator_for_one_rank_makes_none_for_any) {
    made_up::play(3, [] {
        if (made_up::rank() == 2) made_up::fail("Comm_create", MPI_ERR_OTHER);
        start({{"RONDO_ALLREDUCE", "recursive_doubling"}});
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 6);
        EXPECT_EQ(reason("allreduce"), "no communicator to be had");
        made_up::finalize();
        EXPECT_EQ(made_up::left(), 0);
    });
}

TEST(Decisions, processes_of_several_programs_may_not_have_rondo) {
    run(2, forced(), [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::fail("Group_translate_ranks", MPI_ERR_GROUP);
        EXPECT_EQ(allreduce(comm), 3);
        EXPECT_EQ(reason("allreduce"), "processes of several programs");
        made_up::free(comm);
    });
}

TEST(Decisions, an_inter_communicator_is_the_librarys) {
    run(4, forced(), [] {
        const MPI_Comm inter = made_up::make_inter(MPI_COMM_WORLD);
        allreduce(inter);
        EXPECT_EQ(reason("allreduce"), "inter-communicator");
    });
}

TEST(Decisions, switched_off_it_is_not_there) {
    run(2, {{"RONDO", "off"}, {"RONDO_ALLREDUCE", "recursive_doubling"}}, [] {
        const int native = made_up::calls("Allreduce");
        EXPECT_EQ(allreduce(MPI_COMM_WORLD), 3);
        EXPECT_EQ(made_up::calls("Allreduce"), native + 1);
        EXPECT_EQ(made_up::calls("Comm_create"), 0);
    });
}

TEST(Decisions, after_mpi_finalize_has_begun_calls_are_the_librarys) {
    run(1, {}, [] {});
    made_up::play(2, [] {
        start({{"RONDO_ALLREDUCE", "recursive_doubling"}});
        allreduce(MPI_COMM_WORLD);
        made_up::finalize();
        EXPECT_EQ(made_up::left(), 0);
        const int native = made_up::calls("Allreduce");
        allreduce(MPI_COMM_WORLD);
        EXPECT_EQ(made_up::calls("Allreduce"), native + 1);
        EXPECT_EQ(made_up::left(), 0);
    });
}

// What the call is about.

TEST(Decisions, calls_about_nothing_are_the_librarys) {
    run(2, forced(), [] {
        int number = 0;
        EXPECT_EQ(MPI_Allreduce(&number, &number + 1, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(reason("allreduce"), "empty");
        EXPECT_EQ(MPI_Bcast(&number, 0, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(reason("bcast"), "empty");
    });
}

TEST(Decisions, an_operator_that_is_not_defined_on_the_type_is_for_the_library_to_report) {
    made_up::play(2, [] {
        start({{"RONDO_ALLREDUCE", "recursive_doubling"}});
        made_up::return_errors(MPI_COMM_WORLD);
        double one = 1, sum = 0;
        EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
        EXPECT_EQ(reason("allreduce"), "operator undefined on type");
        int truth = 1, all = 0;
        EXPECT_EQ(MPI_Allreduce(&truth, &all, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(left("allreduce"), 1) << "the library knows how";
        EXPECT_EQ(all, 1);
        EXPECT_EQ(MPI_Allreduce(&truth, &all, 1, MPI_LOGICAL, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
        EXPECT_EQ(left("allreduce"), 2);
    });
}

TEST(Decisions, elements_in_the_gaps_of_others_are_the_librarys) {
    run(2, {{"RONDO_SCAN", "doubling"}}, [] {
        const auto add = [](const void*, void*, int) {};
        const MPI_Datatype interlocked = made_up::pieces({{0, 4}, {8, 4}}, 4);
        std::array<int, 8> in{}, out{};
        MPI_Scan(in.data(), out.data(), 2, interlocked, made_up::make_operator(add, true), MPI_COMM_WORLD);
        EXPECT_EQ(reason("scan"), "unusual datatype");
        EXPECT_EQ(made_up::calls("Scan"), 1);
    });
}

TEST(Decisions, a_communicator_that_keeps_no_attributes_has_no_state) {
    run(2, forced(), [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::fail("Comm_get_attr", MPI_ERR_OTHER);
        EXPECT_EQ(allreduce(comm), 3);
        EXPECT_EQ(reason("allreduce"), "no attributes");
        EXPECT_EQ(allreduce(comm), 3);
        EXPECT_EQ(left("allreduce"), 1);
    });
}

TEST(Decisions, trials_begin_with_a_batch_by_the_library_where_some_part_is_empty) {
    const RulesFile rules("reduce_scatter nodes > 1 -> pairwise\n");
    using Counts = std::array<int, 2>;
    for (const Counts& counts : {Counts{1, 0}, Counts{1, 1}}) {
        made_up::play(2, [&] {
            made_up::behaviour().node_of = {0, 1};
            start({{"RONDO_RULES", rules.path()}, {"RONDO_GUARD", "free"}});
            const std::array<int, 2> vector{1, 2};
            int sum = 0;
            for (int call = 0; call < 6; ++call) {
                MPI_Reduce_scatter(vector.data(), &sum, counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            }
            EXPECT_EQ(made_up::calls("Reduce_scatter") == 6, counts[1] == 0) << "else they take turns";
            made_up::finalize();
        });
    }
}

}  // namespace
}  // namespace rondo::interposer
