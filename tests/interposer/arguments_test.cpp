// SPDX-License-Identifier: BSD-3-Clause
// Arguments that MPI forbids, on one rank alone: the library judges them. MPICH's rules
// (rondo/interposer/argument_checks.hpp).
#include <array>

#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

Variables forced() {
    return {{"RONDO_ALLGATHER", "ring"},  {"RONDO_ALLREDUCE", "recursive_doubling"},
            {"RONDO_ALLTOALL", "linear"}, {"RONDO_ALLTOALLV", "linear"},
            {"RONDO_BCAST", "binomial"},  {"RONDO_EXSCAN", "two_op_doubling"},
            {"RONDO_GATHER", "linear"},   {"RONDO_GATHERV", "linear"},
            {"RONDO_REDUCE", "binomial"}, {"RONDO_REDUCE_SCATTER", "pairwise"},
            {"RONDO_SCATTER", "linear"},  {"RONDO_SCATTERV", "linear"}};
}

/// What a call is about.
struct Given {
    void* in;
    void* out;
    int count = 2;
    MPI_Datatype type = MPI_INT;
    int root = 0;
    std::array<int, 2> counts{2, 2}, places{0, 2};
};

struct Function {
    const char* collective;
    const char* native;  ///< the library's own
    int (*call)(const Given& given);
};

constexpr Function functions[] = {
    {"allgather", "Allgather",
     [](const Given& g) { return MPI_Allgather(g.in, g.count, g.type, g.out, g.count, g.type, MPI_COMM_WORLD); }},
    {"allreduce", "Allreduce",
     [](const Given& g) { return MPI_Allreduce(g.in, g.out, g.count, g.type, MPI_SUM, MPI_COMM_WORLD); }},
    {"alltoall", "Alltoall",
     [](const Given& g) { return MPI_Alltoall(g.in, g.count, g.type, g.out, g.count, g.type, MPI_COMM_WORLD); }},
    {"alltoallv", "Alltoallv",
     [](const Given& g) {
         return MPI_Alltoallv(g.in, g.counts.data(), g.places.data(), g.type, g.out, g.counts.data(), g.places.data(),
                              g.type, MPI_COMM_WORLD);
     }},
    {"bcast", "Bcast", [](const Given& g) { return MPI_Bcast(g.out, g.count, g.type, g.root, MPI_COMM_WORLD); }},
    {"exscan", "Exscan",
     [](const Given& g) { return MPI_Exscan(g.in, g.out, g.count, g.type, MPI_SUM, MPI_COMM_WORLD); }},
    {"gather", "Gather",
     [](const Given& g) { return MPI_Gather(g.in, g.count, g.type, g.out, g.count, g.type, g.root, MPI_COMM_WORLD); }},
    {"gatherv", "Gatherv",
     [](const Given& g) {
         return MPI_Gatherv(g.in, g.count, g.type, g.out, g.counts.data(), g.places.data(), g.type, g.root,
                            MPI_COMM_WORLD);
     }},
    {"reduce", "Reduce",
     [](const Given& g) { return MPI_Reduce(g.in, g.out, g.count, g.type, MPI_SUM, g.root, MPI_COMM_WORLD); }},
    {"reduce_scatter", "Reduce_scatter_block",
     [](const Given& g) { return MPI_Reduce_scatter_block(g.in, g.out, g.count, g.type, MPI_SUM, MPI_COMM_WORLD); }},
    {"scatter", "Scatter",
     [](const Given& g) { return MPI_Scatter(g.in, g.count, g.type, g.out, g.count, g.type, g.root, MPI_COMM_WORLD); }},
    {"scatterv", "Scatterv",
     [](const Given& g) {
         return MPI_Scatterv(g.in, g.counts.data(), g.places.data(), g.type, g.out, g.count, g.type, g.root,
                             MPI_COMM_WORLD);
     }},
};

/// What becomes of the call of a rank that has something wrong: the reason, or "" if Rondo carries it out.
struct Wrong {
    const char* collective;
    int rank;
    void (*spoil)(Given& given);
    const char* reason;
};

const Wrong wrongs[] = {
    {"allreduce", 1, [](Given& g) { g.in = nullptr; }, "doubtful buffers"},
    {"allreduce", 1, [](Given& g) { g.out = nullptr; }, "doubtful buffers"},
    {"allreduce", 1, [](Given& g) { g.out = MPI_IN_PLACE; }, "doubtful buffers"},
    {"allreduce", 1, [](Given& g) { g.in = g.out; }, "doubtful buffers"},
    {"allreduce", 1, [](Given& g) { g.in = MPI_IN_PLACE; }, ""},
    {"allreduce", 1, [](Given& g) { g.count = -1; }, "negative count"},
    {"exscan", 0, [](Given& g) { g.out = nullptr; }, ""},  // which means nothing there
    {"exscan", 1, [](Given& g) { g.out = nullptr; }, "doubtful buffers"},
    {"bcast", 1, [](Given& g) { g.out = nullptr; }, "doubtful buffers"},
    {"bcast", 1, [](Given& g) { g.count = -1; }, "negative count"},
    {"bcast", 1, [](Given& g) { g.root = 2; }, "no such root"},
    {"reduce", 1, [](Given& g) { g.in = MPI_IN_PLACE; }, "doubtful buffers"},
    {"reduce", 0, [](Given& g) { g.in = MPI_IN_PLACE; }, ""},
    {"reduce", 1, [](Given& g) { g.out = nullptr; }, ""},
    {"reduce_scatter", 1, [](Given& g) { g.out = MPI_IN_PLACE; }, "doubtful buffers"},
    {"reduce_scatter", 1, [](Given& g) { g.in = nullptr; }, "doubtful buffers"},
    {"allgather", 1, [](Given& g) { g.in = nullptr; }, "doubtful buffers"},
    {"allgather", 1, [](Given& g) { g.out = MPI_IN_PLACE; }, "doubtful buffers"},
    {"allgather", 0, [](Given& g) { g.in = g.out; }, "doubtful buffers"},
    {"alltoall", 1, [](Given& g) { g.in = g.out; }, "doubtful buffers"},
    {"alltoall", 1, [](Given& g) { g.out = nullptr; }, "doubtful buffers"},
    {"alltoallv", 1, [](Given& g) { g.counts[1] = -2; }, "negative count"},
    {"alltoallv", 1, [](Given& g) { g.out = MPI_IN_PLACE; }, "doubtful buffers"},
    {"gather", 0, [](Given& g) { g.out = MPI_IN_PLACE; }, "doubtful buffers"},
    {"gather", 1, [](Given& g) { g.in = MPI_IN_PLACE; }, "doubtful buffers"},
    {"gather", 1, [](Given& g) { g.out = nullptr; }, ""},
    {"scatter", 0, [](Given& g) { g.in = nullptr; }, "doubtful buffers"},
    {"scatter", 1, [](Given& g) { g.in = nullptr; }, ""},
    {"gatherv", 0, [](Given& g) { g.counts[0] = -1; }, "negative count"},
    {"gatherv", 1, [](Given& g) { g.counts[0] = -1; }, ""},
    {"gatherv", 1, [](Given& g) { g.count = -1; }, "negative count"},
    {"scatterv", 1, [](Given& g) { g.out = MPI_IN_PLACE; }, "doubtful buffers"},
    {"scatterv", 1, [](Given& g) { g.root = -1; }, "no such root"},
};

const Function& function_of(const char* collective) {
    for (const Function& each : functions) {
        if (each.collective == std::string(collective)) return each;
    }
    std::abort();
}

std::string text_of(const Wrong& wrong) {
    return std::string(wrong.collective) + ", number " + std::to_string(&wrong - wrongs);
}

TEST(Arguments, of_one_rank_are_for_its_library_to_judge_and_it_waits_for_nobody) {
    for (const Wrong& wrong : wrongs) {
        SCOPED_TRACE(text_of(wrong));
        run(2, forced(), [&] {
            made_up::return_errors(MPI_COMM_WORLD);
            const Function& function = function_of(wrong.collective);
            std::array<int, 8> in{}, out{};
            Given given{in.data(), out.data()};
            const bool is_wrong = made_up::rank() == wrong.rank, is_left = *wrong.reason != '\0';
            if (is_wrong) wrong.spoil(given);
            if (is_left) made_up::fail(function.native, MPI_ERR_ARG);
            if (is_wrong || !is_left) EXPECT_EQ(function.call(given), is_left ? MPI_ERR_ARG : MPI_SUCCESS);
            EXPECT_EQ(reason(wrong.collective), is_wrong ? wrong.reason : "");
        });
    }
}

TEST(Arguments, that_a_library_does_not_judge_are_carried_out_in_place) {
    for (const char* const collective : {"allreduce", "alltoall", "allgather"}) {
        SCOPED_TRACE(collective);
        run(2, forced(), [&] {
            made_up::behaviour().checks_arguments = false;
            std::array<int, 4> both{1, 2, 3, 4};
            EXPECT_EQ(function_of(collective).call({both.data(), both.data()}), MPI_SUCCESS);
            EXPECT_EQ(left(collective), 0);
            if (collective == std::string("allreduce")) EXPECT_EQ(both, (std::array<int, 4>{2, 4, 3, 4}));
        });
    }
}

TEST(Arguments, a_datatype_that_is_not_committed_is_the_librarys) {
    for (const char* const collective : {"bcast", "gather", "allgather", "alltoall"}) {
        SCOPED_TRACE(collective);
        run(2, forced(), [&] {
            made_up::return_errors(MPI_COMM_WORLD);
            const Function& function = function_of(collective);
            std::array<int, 32> in{}, out{};
            MPI_Datatype type = made_up::contiguous(2, MPI_INT);
            if (made_up::rank() == 1) {
                made_up::take_back_commit(type);
                made_up::fail(function.native, MPI_ERR_TYPE);
                EXPECT_EQ(function.call({in.data(), out.data(), 2, type}), MPI_ERR_TYPE);
                EXPECT_EQ(reason(collective), "unusual datatype");
            }
            made_up::free(&type);
        });
    }
}

TEST(Arguments, of_all_ranks_are_judged_before_anything_is_decided) {
    run(2, forced(), [] {
        made_up::fail("Allreduce", MPI_ERR_ARG, 2);
        std::array<int, 8> in{}, out{};
        MPI_Allreduce(in.data(), out.data(), 2, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD);
        EXPECT_EQ(reason("allreduce"), "unusual datatype");
        MPI_Allreduce(in.data(), out.data(), 2, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
        EXPECT_EQ(reason("allreduce"), "empty");
        MPI_Alltoallv(in.data(), nullptr, nullptr, MPI_INT, out.data(), nullptr, nullptr, MPI_INT, MPI_COMM_WORLD);
        EXPECT_EQ(reason("alltoallv"), "empty");
        const std::array<int, 2> counts{1, 1}, places{0, 4};
        MPI_Alltoallw(in.data(), counts.data(), places.data(), nullptr, out.data(), counts.data(), places.data(),
                      nullptr, MPI_COMM_WORLD);
        EXPECT_EQ(left("alltoallv"), 2);
        EXPECT_EQ(reason("alltoallv"), "empty");
    });
}

TEST(Arguments, of_parts_with_types_are_the_librarys_to_judge_on_each_rank) {
    run(1, forced(), [] {
        const std::array<int, 1> one{1}, less{-1}, start{0};
        const std::array<MPI_Datatype, 1> number{MPI_INT}, nothing{MPI_DATATYPE_NULL};
        int in = 1, out = 0;
        const auto call = [&](const std::array<int, 1>& counts, const std::array<MPI_Datatype, 1>& types) {
            MPI_Alltoallw(&in, counts.data(), start.data(), types.data(), &out, counts.data(), start.data(),
                          types.data(), MPI_COMM_WORLD);
        };
        call(one, nothing);
        call(less, number);
        EXPECT_EQ(left("alltoallv"), 2);
    });
}

}  // namespace
}  // namespace rondo::interposer
