// SPDX-License-Identifier: BSD-3-Clause
// What ranks agree on in MPI_Init, and the contexts of their messages.
#include "rondo/backends/mpi/world.hpp"

#include <sched.h>

#include <array>
#include <gtest/gtest.h>
#include <new>
#include <string>
#include <vector>

#include "rondo/backends/mpi/ending.hpp"
#include "rondo/backends/mpi/lone_world.hpp"
#include "rondo/backends/mpi/reduction.hpp"
#include "tests/backends/mpi/made_up_library.hpp"
#include "tests/backends/mpi/memory.hpp"

namespace rondo::mpi {
namespace {

void play(int ranks, const std::function<void()>& role) {
    made_up::play(ranks, [&] {
        learn_datatypes();
        learn_operators();
        role();
    });
}

TEST(Worlds, ranks_with_equal_instructions_agree) {
    play(3, [] {
        World& all = world();
        EXPECT_FALSE(all.agreed());
        all.agree(42, false, MemorySharing::off);
        EXPECT_TRUE(all.agreed());
        EXPECT_FALSE(all.ranks_disagree());
        EXPECT_TRUE(all.is_serial());
        EXPECT_EQ(all.size(), 3);
        EXPECT_EQ(all.rank(), made_up::rank());
        EXPECT_NE(all.messages(), MPI_COMM_NULL);
        EXPECT_FALSE(all.knows_nodes());
        EXPECT_EQ(made_up::calls("Comm_split_type"), 0);
        all.end();
        EXPECT_EQ(made_up::left(), 0);
    });
}

TEST(Worlds, one_rank_with_other_instructions_is_known_to_all) {
    play(4, [] {
        world().agree(made_up::rank() == 3 ? 1000 : 42, false, MemorySharing::off);
        EXPECT_TRUE(world().agreed());
        EXPECT_TRUE(world().ranks_disagree());
        EXPECT_EQ(made_up::calls("Comm_create"), 0);
        EXPECT_EQ(world().messages(), MPI_COMM_NULL);
        world().end();
        EXPECT_EQ(made_up::left(), 0);
    });
}

TEST(Worlds, error_handlers_of_the_program_are_as_they_were) {
    play(2, [] {
        made_up::fail("Comm_create", MPI_ERR_OTHER);
        world().agree(42, true, MemorySharing::off);
        MPI_Errhandler handler{};
        library().Comm_get_errhandler(MPI_COMM_WORLD, &handler);
        EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);
        EXPECT_EQ(world().messages(), MPI_COMM_NULL);
        EXPECT_FALSE(world().knows_nodes());
        EXPECT_TRUE(world().agreed());
    });
}

TEST(Worlds, ranks_that_cannot_be_asked_have_not_agreed) {
    play(2, [] {
        made_up::fail("Iallreduce", MPI_ERR_OTHER);
        world().agree(42, false, MemorySharing::off);
        EXPECT_FALSE(world().agreed());
        EXPECT_TRUE(world().misses_ranks());
        EXPECT_EQ(world().messages(), MPI_COMM_NULL);
    });
}

TEST(Worlds, with_threads_on_one_rank_no_rank_is_serial) {
    play(2, [] {
        if (made_up::rank() == 1) made_up::behaviour().threads = MPI_THREAD_MULTIPLE;
        world().agree(42, false, MemorySharing::off);
        EXPECT_FALSE(world().is_serial());
    });
}

TEST(Worlds, operators_keep_no_bits_where_processors_differ) {
    play(2, [] {
        made_up::behaviour().saturates = made_up::rank() == 1;
        world().agree(42, false, MemorySharing::off);
        Datatype derived;
        EXPECT_FALSE(Reduction(MPI_SUM, *describe(MPI_INT, derived)).keeps_bits());
    });
    play(2, [] {
        made_up::behaviour().saturates = true;
        world().agree(42, false, MemorySharing::off);
        Datatype derived;
        EXPECT_TRUE(Reduction(MPI_SUM, *describe(MPI_INT, derived)).keeps_bits());
        EXPECT_FALSE(Reduction(MPI_SUM, *describe(MPI_SIGNED_CHAR, derived)).keeps_bits());
    });
}

TEST(Worlds, nodes_are_those_of_the_library) {
    play(5, [] {
        made_up::behaviour().node_of = {0, 1, 0, 1, 1};
        world().agree(42, true, MemorySharing::off);
        ASSERT_TRUE(world().knows_nodes());
        const Spread whole = world().whole_spread();
        EXPECT_EQ(whole.nodes.most, 2);
        EXPECT_EQ(whole.fewest_on_node.most, 2);
        EXPECT_EQ(whole.most_on_node.most, 3);
        EXPECT_FALSE(whole.in_rank_order);
        EXPECT_FALSE(world().shares_memory());
        const std::array<Rank, 2> together{0, 2};
        EXPECT_EQ(world().spread(together).nodes.most, 1);
        EXPECT_TRUE(world().spread(together).in_rank_order);
        const std::array<Rank, 3> mixed{3, 0, 4};
        const auto placement = world().placement(mixed);
        ASSERT_TRUE(placement.has_value());
        EXPECT_EQ(placement->nodes(), 2);
        EXPECT_EQ(placement->place(2).node, placement->place(0).node);
        EXPECT_EQ(world().possible_spread(2).nodes.least, 1);
        EXPECT_EQ(world().possible_spread(2).nodes.most, 2);
        EXPECT_EQ(world().possible_spread(4).nodes.least, 2) << "no node has so many";
    });
}

/// Binds this rank to at most so many of its processors. Returns how many those are.
int bind_to_first(int most) {
    cpu_set_t processors;
    EXPECT_EQ(::sched_getaffinity(0, sizeof processors, &processors), 0);
    for (int each = CPU_SETSIZE; CPU_COUNT(&processors) > most;) CPU_CLR(--each, &processors);
    EXPECT_EQ(::sched_setaffinity(0, sizeof processors, &processors), 0);
    return CPU_COUNT(&processors);
}

TEST(Worlds, machines_with_fewer_processors_than_ranks_are_known_to_all) {
    for (const std::vector<int>& nodes : {std::vector<int>{0, 0}, {0, 1}}) {
        play(2, [&] {
            made_up::behaviour().node_of = nodes;
            const int processors = bind_to_first(2);
            if (made_up::rank() == 0) bind_to_first(1);
            world().agree(42, true, MemorySharing::off);
            EXPECT_EQ(world().is_oversubscribed(), processors < 2);
        });
        play(2, [&] {
            made_up::behaviour().node_of = nodes;
            bind_to_first(1);
            world().agree(42, true, MemorySharing::off);
            EXPECT_TRUE(world().is_oversubscribed()) << "two ranks share a processor";
        });
    }
}

TEST(Worlds, each_machine_needs_processors_for_its_ranks_alone) {
    for (const std::vector<int>& nodes : {std::vector<int>{0, 1, 2}, {0, 1, 1}}) {
        play(3, [&] {
            made_up::behaviour().node_of = nodes;
            bind_to_first(1);
            const int own = nodes[static_cast<std::size_t>(made_up::rank())];
            world().agree(42, true, MemorySharing::off, "machine " + std::to_string(own));
            EXPECT_EQ(world().is_oversubscribed(), nodes[2] == 1) << "two ranks share a processor";
        });
    }
}

TEST(Worlds, if_one_rank_does_not_find_its_node_nobody_knows_any) {
    play(3, [] {
        made_up::behaviour().node_of = {0, 0, 2};
        if (made_up::rank() == 2) made_up::fail("Comm_split_type", MPI_ERR_OTHER);
        world().agree(42, true, MemorySharing::off);
        EXPECT_TRUE(world().agreed());
        EXPECT_FALSE(world().knows_nodes());
        const std::array<Rank, 2> some{0, 2};
        EXPECT_EQ(world().placement(some), std::nullopt);
        EXPECT_EQ(world().spread(some).nodes.most, 0);
    });
}

TEST(Worlds, imposed_nodes_stand_above_those_of_the_library) {
    play(4, [] {
        world().agree(42, true, MemorySharing::off);
        EXPECT_EQ(world().whole_spread().nodes.most, 1);
        EXPECT_TRUE(world().impose(Placement::regular(2, 2)));
        EXPECT_EQ(world().whole_spread().nodes.most, 2);
        EXPECT_TRUE(world().whole_spread().in_rank_order);
        EXPECT_EQ(world().possible_spread(4).nodes.least, 2);
        EXPECT_FALSE(world().possible_spread(4).in_rank_order) << "a communicator may have another order";
    });
    play(2, [] {
        world().agree(static_cast<std::uint64_t>(made_up::rank()) << 20, false, MemorySharing::off);
        EXPECT_TRUE(world().impose(Placement::regular(2, 1)));
        EXPECT_FALSE(world().knows_nodes()) << "ranks that disagree know nothing alike";
    });
}

TEST(Worlds, ranks_on_one_node_are_in_its_domains) {
    play(5, [] {
        world().agree(42, true, MemorySharing::off);
        const Rank domains[] = {0, 1, 0, 1, 1};
        EXPECT_TRUE(world().impose(Placement::of(domains).as_domains()));
        EXPECT_EQ(world().whole_spread().nodes.most, 1);
        EXPECT_EQ(world().whole_spread().most_on_node.most, 5);
        EXPECT_EQ(world().whole_spread().domains.most, 2);
        EXPECT_EQ(world().possible_spread(3).domains.least, 1);
        EXPECT_EQ(world().possible_spread(3).domains.most, 3);
        const std::array<Rank, 3> some{0, 3, 1}, near{4, 1, 3}, far{0, 1, 2};
        EXPECT_EQ(world().placement(some)->nodes(), 2);
        EXPECT_TRUE(world().placement(some)->is_of_domains());
        EXPECT_EQ(world().spread(near).domains.most, 1);
        EXPECT_EQ(world().placement(near), Placement::regular(1, 3));
        EXPECT_FALSE(world().placement(far)->in_rank_order());
        const std::array<Rank, 2> apart{0, 1};
        EXPECT_EQ(world().spread(apart).domains.most, 1) << "no domain has several of them";
    });
    play(4, [] {
        made_up::behaviour().node_of = {0, 1, 0, 1};
        world().agree(42, true, MemorySharing::off);
        EXPECT_EQ(world().whole_spread().domains.most, 1) << "of several nodes none is told";
        EXPECT_FALSE(world().impose(Placement::regular(2, 2).as_domains())) << "they are those of one node";
        EXPECT_EQ(world().whole_spread().nodes.most, 2);
    });
}

TEST(Worlds, a_text_of_rank_0_becomes_that_of_all) {
    play(3, [] {
        world().agree(42, false, MemorySharing::off);
        std::string text = made_up::rank() == 0 ? "verdicts" : "of another rank";
        EXPECT_TRUE(world().share_text(text));
        EXPECT_EQ(text, "verdicts");
        text = made_up::rank() == 0 ? "" : "of another rank";
        EXPECT_TRUE(world().share_text(text));
        EXPECT_EQ(text, "");
        EXPECT_TRUE(world().all_say(true));
        EXPECT_FALSE(world().all_say(made_up::rank() != 1));
    });
}

TEST(Worlds, without_memory_on_one_rank_no_rank_has_the_text) {
    play(3, [] {
        world().agree(42, false, MemorySharing::off);
        std::string text = made_up::rank() == 0 ? std::string(100000, 'x') : "";
        {
            std::optional<made_up::NoMemory> none;
            if (made_up::rank() == 2) none.emplace(50000);
            EXPECT_FALSE(world().share_text(text));
        }
        EXPECT_TRUE(world().all_say(true)) << "all are as far";
    });
}

// ----------------------------------------------------------------------------------------------------- contexts

TEST(Contexts, communicators_with_a_rank_in_common_have_different_ones) {
    play(4, [] {
        world().agree(42, false, MemorySharing::off);
        const Context whole = world().contexts().meet(MPI_COMM_WORLD);
        EXPECT_EQ(whole.number(), 0);
        const MPI_Comm half = made_up::split(MPI_COMM_WORLD, {0, 0, 1, 1});
        const Context own = world().contexts().meet(half);
        ASSERT_TRUE(own.exists());
        const MPI_Comm copy = made_up::duplicate(MPI_COMM_WORLD);
        const Context of_copy = world().contexts().meet(copy);
        EXPECT_NE(own.number(), 0);
        EXPECT_NE(of_copy.number(), own.number());
        EXPECT_NE(of_copy.number(), 0);
        long long numbers[2] = {of_copy.number(), -of_copy.number()};
        library().Allreduce(MPI_IN_PLACE, numbers, 2, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
        EXPECT_EQ(numbers[0], -numbers[1]) << "the same on all ranks";
    });
}

TEST(Contexts, one_that_was_given_back_is_used_again) {
    play(2, [] {
        world().agree(42, false, MemorySharing::off);
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        const Context first = world().contexts().meet(comm);
        world().contexts().share(first);
        world().contexts().give_back(first);
        EXPECT_NE(world().contexts().meet(comm).number(), first.number()) << "somebody has messages there";
        world().contexts().give_back(first);
        EXPECT_EQ(world().contexts().meet(comm).number(), first.number());
    });
}

TEST(Contexts, when_all_are_taken_there_is_none) {
    play(2, [] {
        world().agree(42, false, MemorySharing::off);
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        int taken = 0;
        Context last;
        for (Context each = world().contexts().meet(comm); each.exists(); each = world().contexts().meet(comm)) {
            last = each;
            ++taken;
        }
        EXPECT_EQ(taken, 511) << "and that of the world";
        world().contexts().give_back(last);
        EXPECT_EQ(world().contexts().meet(comm).number(), last.number());
    });
}

TEST(Contexts, a_meeting_that_fails_takes_none) {
    play(2, [] {
        world().agree(42, false, MemorySharing::off);
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::fail("Allreduce", MPI_ERR_OTHER);
        EXPECT_FALSE(world().contexts().meet(comm).exists());
        EXPECT_EQ(world().contexts().meet(comm).number(), 1);
    });
}

TEST(Contexts, tags_fit_what_the_library_allows_and_differ_from_call_to_call) {
    for (const int largest : {32767, (1 << 22) - 1}) {
        play(2, [largest] {
            made_up::behaviour().largest_tag = largest;
            world().agree(42, false, MemorySharing::off);
            const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
            Context before, last;
            for (Context each = world().contexts().meet(comm); each.exists(); each = world().contexts().meet(comm)) {
                before = last;
                last = each;
            }
            EXPECT_EQ(last.number(), 511);
            EXPECT_NE(last.tag(0), last.tag(1));
            EXPECT_NE(last.tag(0, 0), last.tag(0, 1)) << "of a persistent call";
            EXPECT_GT(last.tag(0, 0), last.tag(~std::uint32_t{0}));
            EXPECT_GE(last.most_persistent(), 2);
            const int highest = last.tag(last.most_persistent() - 1, 7);
            EXPECT_LE(last.tag(~std::uint32_t{0}), largest);
            EXPECT_LE(last.meeting_tag(), largest);
            EXPECT_GT(last.meeting_tag(), highest) << "of no call";
            EXPECT_GT(last.tag(0), before.tag(last.most_persistent() - 1, 7));
            EXPECT_NE(last.meeting_tag(), before.meeting_tag());
        });
    }
}

// ------------------------------------------------------------------------------------------- begin and end of MPI

int ended = 0;

TEST(Endings, come_first_in_mpi_finalize) {
    made_up::play(1, [] {
        at_end([] { ++ended; });
        EXPECT_EQ(made_up::left(), 0) << "the key is given back at once";
        EXPECT_EQ(ended, 0);
        made_up::finalize();
        EXPECT_EQ(ended, 1);
    });
    made_up::play(1, [] {
        made_up::fail("Comm_create_keyval", MPI_ERR_OTHER);
        at_end([] { ++ended; });
        made_up::finalize();
        EXPECT_EQ(ended, 0);
    });
}

TEST(LoneWorlds, are_noticed_where_a_launcher_says_that_there_are_more_processes) {
    struct Told {
        const char *size_variable, *size, *rank_variable, *rank;
        bool complains;
    };
    for (const Told& told :
         {Told{"PMI_SIZE", "4", "PMI_RANK", "0", true}, Told{"PMI_SIZE", "4", "PMI_RANK", "1", false},
          Told{"PMI_SIZE", "1", "PMI_RANK", "0", false}, Told{"PMI_SIZE", "x4", "PMI_RANK", "0", false},
          Told{"OMPI_COMM_WORLD_SIZE", "2", "OMPI_COMM_WORLD_RANK", "0", true},
          Told{"SLURM_NTASKS", "4", "SLURM_PROCID", "0", false}}) {
        SCOPED_TRACE(std::string(told.size_variable) + "=" + told.size + " " + told.rank);
        made_up::play(1, [&] {
            ::setenv(told.size_variable, told.size, 1);
            ::setenv(told.rank_variable, told.rank, 1);
            const std::string complaint = complaint_of_lone_world("MPICH");
            EXPECT_EQ(!complaint.empty(), told.complains) << complaint;
            if (told.complains) EXPECT_NE(complaint.find(told.size_variable), std::string::npos);
        });
    }
    made_up::play(1, [] {
        ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
        ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
        ::setenv("PMI_SIZE", "1", 1);
        EXPECT_EQ(complaint_of_lone_world("MPICH"), "") << "a launcher inside a launcher";
    });
    made_up::play(2, [] {
        ::setenv("PMI_SIZE", "4", 1);
        ::setenv("PMI_RANK", "0", 1);
        EXPECT_EQ(complaint_of_lone_world("MPICH"), "") << "they see each other";
    });
}

}  // namespace
}  // namespace rondo::mpi
