// SPDX-License-Identifier: BSD-3-Clause
// What Rondo keeps with a communicator, and when it goes.
#include "rondo/backends/mpi/communicator.hpp"

#include <gtest/gtest.h>

#include "rondo/backends/mpi/epoch.hpp"
#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::mpi {
namespace {

void play(int ranks, const std::function<void()>& role) {
    made_up::play(ranks, [&] {
        ASSERT_TRUE(prepare_communicators());
        learn_datatypes();
        world().agree(42, true, MemorySharing::off);
        role();
    });
}

/// A call inside another one. GCC would not believe that the outer one keeps the state alive.
[[gnu::noinline]] void free_in_use(Communicator& communicator, MPI_Comm comm) {
    const Communicator::Use use(communicator);
    made_up::free(comm);
}

TEST(Communicators, have_one_state_that_goes_with_them) {
    play(2, [] {
        MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        ASSERT_TRUE(Communicator::of(comm).has_value());
        EXPECT_EQ(*Communicator::of(comm), nullptr);
        Communicator* const made = Communicator::make(comm);
        EXPECT_EQ(*Communicator::of(comm), made);
        EXPECT_EQ(made->size(), 2);
        EXPECT_EQ(made->rank(), made_up::rank());
        EXPECT_EQ(made->native_reason(), nullptr);
        const std::uint64_t before = epoch();
        made_up::free(comm);
        EXPECT_NE(epoch(), before) << "the handle may come to mean another one";
        ASSERT_EQ(made_up::duplicate(MPI_COMM_WORLD), comm);
        EXPECT_EQ(*Communicator::of(comm), nullptr);
    });
}

TEST(Communicators, are_looked_up_once_in_a_row) {
    play(2, [] {
        Communicator::make(MPI_COMM_WORLD);
        Communicator* const state = *Communicator::of(MPI_COMM_WORLD);
        const int asked = made_up::calls("Comm_get_attr");
        for (int call = 0; call < 3; ++call) EXPECT_EQ(*Communicator::of(MPI_COMM_WORLD), state);
        EXPECT_EQ(made_up::calls("Comm_get_attr"), asked);
        end_epoch();
        EXPECT_EQ(*Communicator::of(MPI_COMM_WORLD), state);
        EXPECT_EQ(made_up::calls("Comm_get_attr"), asked + 1);
    });
}

TEST(Communicators, a_library_that_keeps_no_attributes_gets_no_state) {
    play(2, [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        made_up::fail("Comm_get_attr", MPI_ERR_OTHER);
        EXPECT_EQ(Communicator::of(comm), std::nullopt);
        made_up::fail("Comm_set_attr", MPI_ERR_NO_MEM);
        EXPECT_THROW(Communicator::make(comm), std::bad_alloc);
        EXPECT_EQ(*Communicator::of(comm), nullptr);
    });
}

TEST(Communicators, a_state_in_use_outlives_its_communicator) {
    play(2, [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        Communicator* const state = Communicator::make(comm);
        ASSERT_TRUE(state->find_in_world(comm));
        ASSERT_TRUE(state->obtain_context(comm));
        const int number = state->context().number();
        const MPI_Comm next = made_up::duplicate(MPI_COMM_WORLD);
        {
            const Communicator::Use use(*state);
            free_in_use(*state, comm);
            EXPECT_TRUE(state->is_freed()) << "it is still there";
            EXPECT_NE(world().contexts().meet(next).number(), number);
        }
        EXPECT_EQ(world().contexts().meet(next).number(), number) << "its context is free";
    });
}

TEST(Communicators, a_context_is_obtained_once) {
    play(3, [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        Communicator* const state = Communicator::make(comm);
        ASSERT_TRUE(state->find_in_world(comm));
        const int asked = made_up::calls("Allreduce");
        EXPECT_TRUE(state->obtain_context(comm));
        EXPECT_EQ(made_up::calls("Allreduce"), asked + 1);
        EXPECT_TRUE(state->obtain_context(comm));
        EXPECT_EQ(made_up::calls("Allreduce"), asked + 1);
        EXPECT_EQ(state->route().communicator, world().messages());
        EXPECT_EQ(state->route().rank, made_up::rank());
    });
}

TEST(Communicators, without_a_context_all_calls_are_the_librarys) {
    play(2, [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        Communicator* const state = Communicator::make(comm);
        ASSERT_TRUE(state->find_in_world(comm));
        const std::uint64_t before = epoch();
        made_up::fail("Allreduce", MPI_ERR_OTHER);
        EXPECT_FALSE(state->obtain_context(comm));
        EXPECT_STREQ(state->native_reason(), "no context for messages to be had");
        EXPECT_NE(epoch(), before);
        EXPECT_FALSE(state->obtain_context(comm)) << "nobody asks again";
    });
}

TEST(Communicators, a_context_with_messages_that_may_be_left_is_nobodys) {
    play(2, [] {
        MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        Communicator* const state = Communicator::make(comm);
        ASSERT_TRUE(state->find_in_world(comm));
        ASSERT_TRUE(state->obtain_context(comm));
        const int number = state->context().number();
        state->skip_call();
        made_up::free(comm);
        comm = made_up::duplicate(MPI_COMM_WORLD);
        EXPECT_NE(world().contexts().meet(comm).number(), number);
    });
}

TEST(Communicators, find_their_ranks_in_the_world) {
    play(4, [] {
        const MPI_Comm odd = made_up::split(MPI_COMM_WORLD, {0, 1, 0, 1});
        Communicator* const state = Communicator::make(odd);
        EXPECT_FALSE(state->is_found());
        EXPECT_FALSE(state->spread().in_rank_order) << "not known yet";
        ASSERT_TRUE(state->find_in_world(odd));
        EXPECT_TRUE(state->is_found());
        EXPECT_TRUE(state->spread().in_rank_order);
        ASSERT_TRUE(state->obtain_context(odd));
        EXPECT_EQ(state->route().number(1), made_up::rank() % 2 == 0 ? 2 : 3);
        EXPECT_EQ(made_up::left(), 3 + 1) << "messages, group and key of the world, and the half: no group is left";
    });
}

TEST(Communicators, the_library_is_asked_what_it_thinks_of_arguments) {
    play(2, [] {
        Communicator* const state = Communicator::make(MPI_COMM_WORLD);
        state->find_in_world(MPI_COMM_WORLD);
        state->obtain_context(MPI_COMM_WORLD);
        EXPECT_TRUE(state->library_checks_arguments());
        const MPI_Datatype type = made_up::contiguous(2, MPI_INT);
        Datatype derived;
        const Datatype& described = *describe(type, derived);
        EXPECT_TRUE(state->can_send(nullptr, described));
        made_up::take_back_commit(type);
        EXPECT_FALSE(state->can_send(nullptr, described));
        made_up::behaviour().checks_arguments = false;
        EXPECT_FALSE(state->library_checks_arguments());
        EXPECT_TRUE(state->can_send(nullptr, described));
        EXPECT_TRUE(std::ranges::all_of(made_up::handled(), [](const made_up::Handled& each) {
            return each.comm == world().messages();
        })) << "the program's handlers hear nothing of it";
    });
}

TEST(Communicators, at_the_end_nothing_is_left) {
    play(2, [] {
        MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        Communicator::make(comm);
        Communicator::make(MPI_COMM_WORLD);
        const std::uint64_t before = epoch();
        end_communicators();
        EXPECT_NE(epoch(), before);
        world().end();
        made_up::free(comm);
        made_up::finalize();
        EXPECT_EQ(made_up::left(), 0);
    });
}

}  // namespace
}  // namespace rondo::mpi
