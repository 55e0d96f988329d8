// SPDX-License-Identifier: BSD-3-Clause
// Calls like one before: which ones go the same way without a second look, and what makes Rondo look again.
#include <array>

#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

Variables forced() {
    return {{"RONDO_ALLREDUCE", "recursive_doubling"},
            {"RONDO_BCAST", "binomial"},
            {"RONDO_BARRIER", "dissemination"},
            {"RONDO_EXSCAN", "two_op_doubling"}};
}

/// A call of MPI_Allreduce in all its arguments.
struct Reduction {
    int count = 1;
    MPI_Datatype type = MPI_INT;
    MPI_Op op = MPI_SUM;
    MPI_Comm comm = MPI_COMM_WORLD;
    bool in_place = false;

    void operator()() const {
        std::array<int, 8> input{}, output{};
        input.fill(1);
        output.fill(1);
        EXPECT_EQ(MPI_Allreduce(in_place ? MPI_IN_PLACE : input.data(), output.data(), count, type, op, comm),
                  MPI_SUCCESS);
        EXPECT_EQ(output[0], op == MPI_SUM ? 2 : 1);
        EXPECT_EQ(output[static_cast<std::size_t>(count) - 1], op == MPI_SUM ? 2 : 1);
    }
};

TEST(ServeAgain, the_second_call_like_one_before_needs_no_second_look) {
    run(2, forced(), [] {
        EXPECT_FALSE(is_repeated(Reduction()));
        EXPECT_TRUE(is_repeated(Reduction()));
        EXPECT_TRUE(is_repeated(Reduction())) << "other buffers";
        EXPECT_FALSE(is_repeated([] { MPI_Barrier(MPI_COMM_WORLD); }));
        EXPECT_TRUE(is_repeated([] { MPI_Barrier(MPI_COMM_WORLD); }));
        EXPECT_EQ(left("allreduce"), 0);
    });
}

TEST(ServeAgain, each_argument_makes_another_call_of_it) {
    run(2, forced(), [] {
        const MPI_Comm other = made_up::duplicate(MPI_COMM_WORLD);
        const Reduction usual;
        for (const Reduction& different :
             {Reduction{.count = 2}, Reduction{.type = MPI_UNSIGNED}, Reduction{.op = MPI_MAX},
              Reduction{.comm = other}, Reduction{.in_place = true}}) {
            usual();
            ASSERT_TRUE(is_repeated(usual));
            EXPECT_FALSE(is_repeated(different));
            EXPECT_TRUE(is_repeated(different));
            usual();
            EXPECT_TRUE(is_repeated(usual));
        }
    });
}

TEST(ServeAgain, the_root_is_one_of_its_arguments) {
    run(3, forced(), [] {
        const auto bcast = [](int root) {
            int number = made_up::rank() == root ? 7 + root : 0;
            EXPECT_EQ(MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD), MPI_SUCCESS);
            EXPECT_EQ(number, 7 + root);
        };
        bcast(0);
        EXPECT_TRUE(is_repeated([&] { bcast(0); }));
        EXPECT_FALSE(is_repeated([&] { bcast(1); }));
        EXPECT_TRUE(is_repeated([&] { bcast(1); }));
    });
}

TEST(ServeAgain, calls_of_several_lengths_in_turn_find_theirs) {
    run(2, forced(), [] {
        for (int count = 1; count <= 6; ++count) Reduction{.count = count}();
        int repeated = 0;
        for (int count = 1; count <= 6; ++count) repeated += is_repeated(Reduction{.count = count}) ? 1 : 0;
        EXPECT_GE(repeated, 1) << "but for those that meet in one place, which addresses decide";
    });
}

TEST(ServeAgain, a_null_or_aliased_buffer_gets_a_second_look) {
    run(2, forced(), [] {
        Reduction()();
        std::array<int, 1> both{1};
        for (const void* const input : {static_cast<const void*>(nullptr), static_cast<const void*>(both.data())}) {
            const unsigned long long before = rondo_served_again();
            made_up::fail("Allreduce", MPI_ERR_BUFFER);
            EXPECT_EQ(MPI_Allreduce(input, both.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
            EXPECT_EQ(rondo_served_again(), before);
            EXPECT_EQ(reason("allreduce"), "doubtful buffers");
        }
        EXPECT_EQ(left("allreduce"), 2);
    });
}

// A handle says no more how long a call is, once its datatype is freed.
TEST(ServeAgain, a_new_datatype_may_have_the_handle_of_an_old_one) {
    const RulesFile rules("bcast bytes >= 100 -> binomial\n");
    run(2, {{"RONDO_RULES", rules.path()}}, [] {
        const auto bcast = [](MPI_Datatype type) {
            std::array<int, 100> numbers{};
            numbers.fill(made_up::rank() == 0 ? 7 : 0);
            EXPECT_EQ(MPI_Bcast(numbers.data(), 1, type, 0, MPI_COMM_WORLD), MPI_SUCCESS);
            EXPECT_EQ(numbers[0], 7);
        };
        MPI_Datatype short_one = made_up::contiguous(1, MPI_INT);
        const MPI_Datatype before = short_one;
        for (int call = 0; call < 3; ++call) bcast(short_one);
        EXPECT_EQ(left("bcast"), 3);
        made_up::free(&short_one);
        const MPI_Datatype long_one = made_up::contiguous(100, MPI_INT);
        ASSERT_EQ(long_one, before);
        bcast(long_one);
        EXPECT_EQ(left("bcast"), 3);
    });
}

TEST(ServeAgain, a_choice_of_the_program_makes_it_forget) {
    run(2, forced(), [] {
        Reduction()();
        ASSERT_TRUE(is_repeated(Reduction()));
        ASSERT_EQ(rondo_choose("bcast", "linear_pipeline", nullptr, 0), 0);
        EXPECT_FALSE(is_repeated(Reduction()));
        EXPECT_TRUE(is_repeated(Reduction()));
    });
}

TEST(ServeAgain, a_communicator_that_is_freed_makes_it_forget) {
    run(2, forced(), [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        allreduce(comm);
        Reduction()();
        ASSERT_TRUE(is_repeated(Reduction()));
        made_up::free(comm);
        EXPECT_FALSE(is_repeated(Reduction()));
    });
}

TEST(ServeAgain, a_communicator_with_the_handle_of_a_freed_one_is_another) {
    run(4, forced(), [] {
        const MPI_Comm all = made_up::duplicate(MPI_COMM_WORLD);
        for (int call = 0; call < 3; ++call) EXPECT_EQ(allreduce(all), 10);
        made_up::free(all);
        const MPI_Comm half = made_up::split(MPI_COMM_WORLD, {0, 1, 0, 1});
        ASSERT_EQ(half, all);
        EXPECT_FALSE(is_repeated([&] { EXPECT_EQ(allreduce(half), made_up::rank() % 2 == 0 ? 4 : 6); }));
        EXPECT_EQ(left("allreduce"), 0);
    });
}

TEST(ServeAgain, calls_forwarded_on_a_freed_communicator_are_decided_anew) {
    const RulesFile rules("allreduce processes = 2 -> recursive_doubling\n");
    run(4, {{"RONDO_RULES", rules.path()}}, [] {
        const MPI_Comm all = made_up::duplicate(MPI_COMM_WORLD);
        for (int call = 0; call < 3; ++call) EXPECT_EQ(allreduce(all), 10);
        EXPECT_EQ(left("allreduce"), 3);
        made_up::free(all);
        const MPI_Comm half = made_up::split(MPI_COMM_WORLD, {0, 1, 0, 1});
        ASSERT_EQ(half, all);
        EXPECT_EQ(allreduce(half), made_up::rank() % 2 == 0 ? 4 : 6);
        EXPECT_EQ(left("allreduce"), 3) << "served";
    });
}

TEST(ServeAgain, a_datatype_with_the_handle_of_a_freed_one_is_another) {
    run(2, forced(), [] {
        std::array<int, 6> numbers{};
        MPI_Datatype pair = made_up::contiguous(2, MPI_INT);
        for (int call = 0; call < 3; ++call) {
            numbers.fill(made_up::rank() == 0 ? 5 : 0);
            EXPECT_FALSE(is_repeated([&] { MPI_Bcast(numbers.data(), 2, pair, 0, MPI_COMM_WORLD); }));
            EXPECT_EQ(numbers[3], 5);
        }
        const MPI_Datatype before = pair;
        made_up::free(&pair);
        const MPI_Datatype triple = made_up::contiguous(3, MPI_INT);
        ASSERT_EQ(triple, before);
        numbers.fill(made_up::rank() == 0 ? 6 : 0);
        EXPECT_EQ(MPI_Bcast(numbers.data(), 2, triple, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(numbers[5], 6);
        EXPECT_EQ(left("bcast"), 0);
    });
}

TEST(ServeAgain, an_operator_of_the_program_always_gets_a_second_look) {
    run(2, forced(), [] {
        const auto add = [](const void* in, void* inout, int count) {
            for (int i = 0; i < count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
        };
        const MPI_Op op = made_up::make_operator(add, true);
        for (int call = 0; call < 3; ++call)
            EXPECT_FALSE(is_repeated([&] { EXPECT_EQ(allreduce(MPI_COMM_WORLD, 1, op), 3); }));
        EXPECT_EQ(left("allreduce"), 0);
    });
}

TEST(ServeAgain, a_call_that_is_forwarded_is_not_looked_at_again) {
    run(2, {}, [] {
        int number = 1, sum = 0;
        const auto call = [&] { MPI_Exscan(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); };
        call();
        const int looked = made_up::calls("Comm_get_attr");
        for (int more = 0; more < 5; ++more) call();
        EXPECT_EQ(made_up::calls("Comm_get_attr"), looked);
        EXPECT_EQ(made_up::calls("Exscan"), 6);
        EXPECT_EQ(left("exscan"), 6) << "but it is counted";
    });
}

TEST(ServeAgain, forwarded_lengths_are_those_for_which_rules_say_so) {
    const RulesFile rules("exscan bytes > 32 -> two_op_doubling\n");
    run(2, {{"RONDO_RULES", rules.path()}}, [] {
        std::array<int, 16> in{}, out{};
        for (const int count : {1, 8, 9, 8, 16, 1}) {
            MPI_Exscan(in.data(), out.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        EXPECT_EQ(made_up::calls("Exscan"), 4);
        EXPECT_EQ(left("exscan"), 4);
    });
}

TEST(ServeAgain, communicators_of_a_moment_get_no_state_for_calls_that_are_forwarded_on_any) {
    run(2, {}, [] {
        allreduce(MPI_COMM_WORLD);
        const int states = made_up::calls("Comm_set_attr");
        for (int moment = 0; moment < 20; ++moment) {
            const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
            EXPECT_EQ(allreduce(comm), 3);
            made_up::free(comm);
        }
        EXPECT_EQ(made_up::calls("Comm_set_attr"), states);
        const MPI_Comm stays = made_up::duplicate(MPI_COMM_WORLD);
        for (int call = 0; call < 40; ++call) allreduce(stays);
        EXPECT_EQ(made_up::calls("Comm_set_attr"), states + 1) << "which knows more";
        EXPECT_EQ(left("allreduce"), 61);
    });
}

}  // namespace
}  // namespace rondo::interposer
