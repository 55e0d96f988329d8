// SPDX-License-Identifier: BSD-3-Clause
// What Rondo carries out of each function, with data that lie in different ways.
#include <array>

#include "tests/interposer/program.hpp"

namespace rondo::interposer {
namespace {

constexpr int ranks = 3;

/// As one rank's row for all ranks.
int number(int from, int to) { return 10 * (from + 1) + to; }

/// Runs a program in which no call goes to the library.
void run_served(const char* collective, const char* variable, const char* algorithm,
                const std::function<void()>& program) {
    run(ranks, {{variable, algorithm}}, [&] {
        for (int call = 0; call < 2; ++call) program();
        EXPECT_EQ(left(collective), 0) << reason(collective);
    });
}

using Row = std::array<int, ranks>;

Row own_row() {
    Row row{};
    for (int to = 0; to < ranks; ++to) row[static_cast<std::size_t>(to)] = number(made_up::rank(), to);
    return row;
}

TEST(Results, scans_and_reductions) {
    run_served("scan", "RONDO_SCAN", "doubling", [] {
        const int one = made_up::rank() + 1;
        int sum = 0;
        EXPECT_EQ(MPI_Scan(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(sum, (std::array{1, 3, 6}[static_cast<std::size_t>(made_up::rank())]));
    });
    run_served("exscan", "RONDO_EXSCAN", "two_op_doubling", [] {
        int both = made_up::rank() + 1;
        EXPECT_EQ(MPI_Exscan(MPI_IN_PLACE, &both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(both, (std::array{1, 1, 3}[static_cast<std::size_t>(made_up::rank())]));
    });
    run_served("reduce", "RONDO_REDUCE", "binomial", [] {
        const double one = made_up::rank() + 1;
        double sum = -1;
        EXPECT_EQ(MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_PROD, 2, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(sum, made_up::rank() == 2 ? 6 : -1);
    });
}

TEST(Results, parts_of_sums) {
    run_served("reduce_scatter", "RONDO_REDUCE_SCATTER", "pairwise", [] {
        const Row row = own_row();
        int sum = 0;
        EXPECT_EQ(MPI_Reduce_scatter_block(row.data(), &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(sum, 60 + 3 * made_up::rank());
        const std::array<int, ranks> counts{0, 2, 1};
        std::array<int, 2> some{-1, -1};
        EXPECT_EQ(MPI_Reduce_scatter(row.data(), some.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        const std::array<std::array<int, 2>, ranks> expected{{{-1, -1}, {60, 63}, {66, -1}}};
        EXPECT_EQ(some, expected[static_cast<std::size_t>(made_up::rank())]);
    });
}

TEST(Results, gathers_to_all) {
    run_served("allgather", "RONDO_ALLGATHER", "ring", [] {
        const int own = made_up::rank() + 5;
        Row all{};
        EXPECT_EQ(MPI_Allgather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(all, (Row{5, 6, 7}));
        const std::array<int, ranks> counts{2, 0, 1}, places{3, 0, 1};
        const std::array<int, 2> given{made_up::rank(), 9};
        std::array<int, 5> apart{};
        EXPECT_EQ(MPI_Allgatherv(given.data(), counts[static_cast<std::size_t>(made_up::rank())], MPI_INT, apart.data(),
                                 counts.data(), places.data(), MPI_INT, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        EXPECT_EQ(apart, (std::array<int, 5>{0, 2, 0, 0, 9}));
    });
}

TEST(Results, all_to_all) {
    const Row counts{1, 1, 1}, backwards{2, 1, 0};
    run_served("alltoall", "RONDO_ALLTOALL", "linear", [] {
        const Row row = own_row();
        Row column{};
        EXPECT_EQ(MPI_Alltoall(row.data(), 1, MPI_INT, column.data(), 1, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(column, (Row{number(0, made_up::rank()), number(1, made_up::rank()), number(2, made_up::rank())}));
    });
    run_served("alltoallv", "RONDO_ALLTOALLV", "pairwise", [&] {
        const Row row = own_row();
        Row column{};
        EXPECT_EQ(MPI_Alltoallv(row.data(), counts.data(), backwards.data(), MPI_INT, column.data(), counts.data(),
                                backwards.data(), MPI_INT, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        const int own = 2 - made_up::rank();
        EXPECT_EQ(column, (Row{number(2, own), number(1, own), number(0, own)}));
    });
    // A type of several bytes and one of single ones, places in bytes, and a part that is not there.
    run_served("alltoallv", "RONDO_ALLTOALLV", "linear", [&] {
        const Row row = own_row(), bytes{4, 4, 4};
        const int none = made_up::rank() == 1 ? 2 : made_up::rank() == 2 ? 1 : -1;  // between these two
        Row given = counts, taken = bytes, column{-1, -1, -1};
        std::array<MPI_Datatype, ranks> types{MPI_INT, MPI_INT, MPI_INT}, others{MPI_BYTE, MPI_BYTE, MPI_BYTE};
        if (none >= 0) {
            const auto missing = static_cast<std::size_t>(none);
            given[missing] = taken[missing] = 0;
            types[missing] = others[missing] = MPI_DATATYPE_NULL;
        }
        const Row from{0, 4, 8}, into{8, 4, 0};
        EXPECT_EQ(MPI_Alltoallw(row.data(), given.data(), from.data(), types.data(), column.data(), taken.data(),
                                into.data(), others.data(), MPI_COMM_WORLD),
                  MPI_SUCCESS);
        const int own = made_up::rank();
        Row expected{number(2, own), number(1, own), number(0, own)};
        if (none >= 0) expected[static_cast<std::size_t>(2 - none)] = -1;
        EXPECT_EQ(column, expected);
    });
}

TEST(Results, to_and_from_a_root) {
    run_served("gather", "RONDO_GATHER", "binomial", [] {
        const int own = made_up::rank() + 5;
        Row all{};
        EXPECT_EQ(MPI_Gather(&own, 1, MPI_INT, all.data(), 1, MPI_INT, 1, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(all, made_up::rank() == 1 ? (Row{5, 6, 7}) : Row());
    });
    run_served("scatter", "RONDO_SCATTER", "binomial", [] {
        const Row all{5, 6, 7};
        int own = 0;
        EXPECT_EQ(MPI_Scatter(all.data(), 1, MPI_INT, &own, 1, MPI_INT, 2, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(own, made_up::rank() + 5);
    });
    const Row counts{1, 2, 0}, places{3, 0, 2};
    run_served("gatherv", "RONDO_GATHERV", "linear", [&] {
        const std::array<int, 2> own{made_up::rank() + 5, 9};
        std::array<int, 4> all{};
        EXPECT_EQ(MPI_Gatherv(own.data(), counts[static_cast<std::size_t>(made_up::rank())], MPI_INT, all.data(),
                              counts.data(), places.data(), MPI_INT, 0, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        EXPECT_EQ(all, made_up::rank() == 0 ? (std::array{6, 9, 0, 5}) : (std::array<int, 4>()));
    });
    run_served("scatterv", "RONDO_SCATTERV", "linear", [&] {
        const std::array<int, 4> all{6, 9, 0, 5};
        std::array<int, 2> own{};
        EXPECT_EQ(MPI_Scatterv(all.data(), counts.data(), places.data(), MPI_INT, own.data(),
                               counts[static_cast<std::size_t>(made_up::rank())], MPI_INT, 1, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        const std::array<std::array<int, 2>, ranks> expected{{{5, 0}, {6, 9}, {0, 0}}};
        EXPECT_EQ(own, expected[static_cast<std::size_t>(made_up::rank())]);
    });
}

TEST(Results, ranks_may_describe_the_same_data_by_different_datatypes) {
    run_served("bcast", "RONDO_BCAST", "binomial", [] {
        std::array<int, 8> buffer{};
        if (made_up::rank() == 0) buffer = {1, 0, 2, 3, 0, 4, 0, 0};
        const MPI_Datatype gaps = made_up::vector(2, 1, 2, MPI_INT);
        const MPI_Datatype type = made_up::rank() == 0 ? gaps : MPI_INT;
        EXPECT_EQ(MPI_Bcast(buffer.data(), made_up::rank() == 0 ? 2 : 4, type, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        if (made_up::rank() > 0) EXPECT_EQ(buffer, (std::array<int, 8>{1, 2, 3, 4, 0, 0, 0, 0}));
        made_up::free(const_cast<MPI_Datatype*>(&gaps));
    });
}

TEST(Results, of_counts_beyond_ints_and_of_forms_with_large_counts) {
    run_served("allreduce", "RONDO_ALLREDUCE", "ring", [] {
        const std::array<int, 4> in{1, 2, 3, 4};
        std::array<int, 4> out{};
        EXPECT_EQ(MPI_Allreduce_c(in.data(), out.data(), 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(out, (std::array<int, 4>{3, 6, 9, 12}));
    });
    run(2, {}, [] {
        // A library without such forms: what fits it gets by its own, and what does not is an error.
        int number = 1, sum = 0;
        EXPECT_EQ(MPI_Allreduce_c(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(sum, 2);
        EXPECT_EQ(reason("allreduce"), "no rule");
        EXPECT_EQ(MPI_Bcast_c(&number, MPI_Count{1} << 32, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    });
}

TEST(Results, a_library_without_large_messages_has_calls_of_so_many_elements) {
    made_up::play(2, [] {
        mpi::Library older = mpi::library();
        older.Isend_c = nullptr;
        mpi::connect_to(older);
        start({{"RONDO_BCAST", "binomial"}});
        int number = 0;
        EXPECT_EQ(MPI_Bcast_c(&number, MPI_Count{1} << 32, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
        EXPECT_EQ(reason("bcast"), "messages of more than 2^31-1 elements");
    });
}

}  // namespace
}  // namespace rondo::interposer
