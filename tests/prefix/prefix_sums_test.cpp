// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums of an array over several ranks, and what becomes of what is wrong on one of them.
#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

#include "rondo_prefix.h"
#include "tests/backends/mpi/made_up_library.hpp"
#include "tests/backends/mpi/memory.hpp"

namespace rondo::prefix {
namespace {

namespace made_up = mpi::made_up;

void run(int ranks, const std::function<void()>& program) {
    made_up::play(ranks, [&] {
        mpi::library().Init(nullptr, nullptr);
        made_up::return_errors(MPI_COMM_WORLD);
        program();
        made_up::finalize();
        EXPECT_EQ(made_up::left(), 0);
    });
}

/// The elements of this rank, of an array of 1, 2, 3 and so on, of which rank r has r + 1.
std::vector<int> own_elements() {
    const int rank = made_up::rank();
    std::vector<int> own;
    for (int i = 0; i <= rank; ++i) own.push_back(rank * (rank + 1) / 2 + i + 1);
    return own;
}

int sum_to(int last) { return last * (last + 1) / 2; }

TEST(PrefixSums, go_over_all_ranks) {
    for (const bool in_place : {false, true}) {
        for (const int exclusive : {0, 1}) {
            SCOPED_TRACE(std::string(in_place ? "in place " : "") + (exclusive != 0 ? "exclusive" : ""));
            run(4, [&] {
                const std::vector<int> own = own_elements();
                std::vector<int> out = in_place ? own : std::vector<int>(own.size(), -1);
                const void* const in = in_place ? MPI_IN_PLACE : static_cast<const void*>(own.data());
                const auto count = static_cast<MPI_Count>(own.size());
                EXPECT_EQ(rondo_prefix(in, out.data(), count, MPI_INT, MPI_SUM, exclusive, MPI_COMM_WORLD),
                          MPI_SUCCESS);
                for (std::size_t i = 0; i < own.size(); ++i) EXPECT_EQ(out[i], sum_to(own[i] - exclusive));
            });
        }
    }
}

TEST(PrefixSums, the_total_is_everywhere_and_ranks_may_have_nothing) {
    run(3, [] {
        const std::array<double, 2> in{2, 3};
        std::array<double, 2> out{};
        const int count = made_up::rank() == 1 ? 0 : 2;
        for (int call = 0; call < 2; ++call) {
            double total = 0;
            EXPECT_EQ(rondo_prefix_total(in.data(), out.data(), &total, count, MPI_DOUBLE, MPI_PROD, 0, MPI_COMM_WORLD),
                      MPI_SUCCESS);
            EXPECT_EQ(total, 36);
            if (made_up::rank() == 2) EXPECT_EQ(out, (std::array<double, 2>{12, 36}));
        }
        double nothing = -1;
        EXPECT_EQ(rondo_prefix_total(in.data(), out.data(), &nothing, 0, MPI_DOUBLE, MPI_PROD, 0, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        EXPECT_EQ(nothing, 1) << "of no elements";
    });
}

TEST(PrefixSums, operands_come_in_the_order_of_the_array) {
    run(3, [] {
        // Numbers are written one behind the other: 1 and 2 make 12.
        const auto append = [](const void* in, void* inout, int count) {
            for (int i = 0; i < count; ++i) {
                const long left = static_cast<const long*>(in)[i];
                long& right = static_cast<long*>(inout)[i];
                long shift = 1;
                while (shift <= right) shift *= 10;
                right += left * shift;
            }
        };
        const MPI_Op op = made_up::make_operator(append, false);
        const std::array<long, 2> in{2 * made_up::rank() + 1, 2 * made_up::rank() + 2};
        std::array<long, 2> out{};
        EXPECT_EQ(rondo_prefix(in.data(), out.data(), 2, MPI_LONG, op, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        constexpr std::array<std::array<long, 2>, 3> expected{{{1, 12}, {123, 1234}, {12345, 123456}}};
        EXPECT_EQ(out, expected[static_cast<std::size_t>(made_up::rank())]);
    });
}

TEST(PrefixSums, a_communicator_for_messages_is_made_once_and_goes_with_the_users) {
    run(2, [] {
        const MPI_Comm comm = made_up::duplicate(MPI_COMM_WORLD);
        int in = 1, out = 0;
        for (int call = 0; call < 3; ++call) rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, comm);
        EXPECT_EQ(out, made_up::rank() + 1);
        EXPECT_EQ(made_up::calls("Comm_create"), 1);
        made_up::free(comm);
    });
}

// ------------------------------------------------------------------------------------------- what can be wrong

/// Arguments of the rank that is wrong.
struct Given {
    const void* in;
    void* out;
    MPI_Count count = 2;
    MPI_Datatype type = MPI_INT;
    MPI_Op op = MPI_SUM;
};

struct Wrong {
    const char* name;
    void (*spoil)(Given& given);
    int error;
};

TEST(PrefixErrors, of_one_rank_fail_it_and_all_behind_it) {
    for (const Wrong& wrong :
         {Wrong{"null input", [](Given& g) { g.in = nullptr; }, MPI_ERR_BUFFER},
          Wrong{"null output", [](Given& g) { g.out = nullptr; }, MPI_ERR_BUFFER},
          Wrong{"output in place", [](Given& g) { g.out = MPI_IN_PLACE; }, MPI_ERR_BUFFER},
          Wrong{"overlap", [](Given& g) { g.out = static_cast<int*>(const_cast<void*>(g.in)) + 1; }, MPI_ERR_BUFFER},
          Wrong{"negative count", [](Given& g) { g.count = -1; }, MPI_ERR_COUNT},
          Wrong{"endless count", [](Given& g) { g.count = MPI_Count{1} << 62; }, MPI_ERR_COUNT},
          Wrong{"null datatype", [](Given& g) { g.type = MPI_DATATYPE_NULL; }, MPI_ERR_TYPE},
          Wrong{"undefined operator", [](Given& g) { g.op = MPI_MAXLOC; }, MPI_ERR_OP}}) {
        SCOPED_TRACE(wrong.name);
        run(3, [&] {
            std::array<int, 4> in{1, 1, 1, 1}, out{};
            Given given{in.data(), out.data()};
            if (made_up::rank() == 1) wrong.spoil(given);
            const int error = rondo_prefix(given.in, given.out, given.count, given.type, given.op, 0, MPI_COMM_WORLD);
            EXPECT_EQ(error, made_up::rank() == 0 ? MPI_SUCCESS : wrong.error);
            EXPECT_EQ(made_up::handled().size(), made_up::rank() == 0 ? 0 : 1);
            EXPECT_EQ(rondo_prefix(in.data(), out.data(), 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_SUCCESS);
            EXPECT_EQ(out[1], 2 * made_up::rank() + 2) << "the next call";
        });
    }
}

TEST(PrefixErrors, of_one_rank_fail_all_where_all_want_the_total) {
    run(3, [] {
        std::array<int, 2> in{1, 1}, out{};
        int total = 0;
        void* const place = made_up::rank() == 2 ? nullptr : &total;
        EXPECT_EQ(rondo_prefix_total(in.data(), out.data(), place, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
                  MPI_ERR_ARG);
    });
}

TEST(PrefixErrors, ranks_that_differ_fail) {
    run(3, [] {
        std::array<int, 2> in{1, 1}, out{};
        const int exclusive = made_up::rank() == 1 ? 1 : 0;
        const int error = rondo_prefix(in.data(), out.data(), 2, MPI_INT, MPI_SUM, exclusive, MPI_COMM_WORLD);
        EXPECT_EQ(error, made_up::rank() == 0 ? MPI_SUCCESS : MPI_ERR_TYPE);
    });
    run(2, [] {
        std::array<int, 2> in{1, 1}, out{};
        int total = 0;
        if (made_up::rank() == 0) {
            EXPECT_EQ(rondo_prefix_total(in.data(), out.data(), &total, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD),
                      MPI_ERR_TYPE);
        } else {
            EXPECT_EQ(rondo_prefix(in.data(), out.data(), 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
        }
    });
}

TEST(PrefixErrors, without_memory_on_one_rank_the_others_are_told) {
    run(3, [] {
        std::array<int, 2> in{1, 1}, out{};
        ASSERT_EQ(rondo_prefix(in.data(), out.data(), 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        int error = MPI_SUCCESS;
        {
            // The first piece of memory that the call needs is not there, and later ones are.
            std::optional<made_up::NoMemory> none;
            if (made_up::rank() == 1) none.emplace(0, 0, 1);
            error = rondo_prefix(in.data(), out.data(), 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        }
        EXPECT_EQ(error, made_up::rank() == 0 ? MPI_SUCCESS : MPI_ERR_NO_MEM);
    });
}

TEST(PrefixErrors, a_communicator_that_is_none_or_has_no_order_is_refused) {
    run(4, [] {
        int in = 1, out = 0;
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_NULL), MPI_ERR_COMM);
        const MPI_Comm inter = made_up::make_inter(MPI_COMM_WORLD);
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, inter), MPI_ERR_COMM);
        EXPECT_EQ(made_up::handled().back().comm, inter);
        made_up::free(inter);
    });
}

TEST(PrefixErrors, of_the_library_come_back) {
    run(2, [] {
        int in = 1, out = 0;
        made_up::fail("Comm_create", MPI_ERR_INTERN);
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_INTERN);
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_SUCCESS);
    });
}

TEST(PrefixErrors, there_is_none_before_mpi_init_and_behind_mpi_finalize) {
    made_up::play(1, [] {
        int in = 1, out = 0;
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_OTHER);
        mpi::library().Init(nullptr, nullptr);
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(out, 1);
        made_up::finalize();
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_ERR_OTHER);
    });
}

int outcome_at_the_end = MPI_SUCCESS;

TEST(PrefixErrors, there_is_none_once_mpi_finalize_has_begun) {
    run(1, [] {
        const auto erase = [](MPI_Comm, int, void*, void*) {
            int in = 1, out = 0;
            outcome_at_the_end = rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
            return MPI_SUCCESS;
        };
        int key = MPI_KEYVAL_INVALID, in = 1, out = 0;
        mpi::library().Comm_create_keyval(nullptr, erase, &key, nullptr);
        mpi::library().Comm_set_attr(MPI_COMM_SELF, key, nullptr);
        mpi::library().Comm_free_keyval(&key);
        EXPECT_EQ(rondo_prefix(&in, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        made_up::finalize();
        EXPECT_EQ(outcome_at_the_end, MPI_ERR_OTHER) << "in a callback of the program";
    });
}

TEST(PrefixErrors, ranks_with_different_instructions_use_none_of_them) {
    run(4, [] {
        if (made_up::rank() == 2) ::setenv("RONDO_PREFIX", "one_doubling", 1);
        const int one = 1;
        int out = 0;
        EXPECT_EQ(rondo_prefix(&one, &out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD), MPI_SUCCESS);
        EXPECT_EQ(out, made_up::rank() + 1);
    });
}

}  // namespace
}  // namespace rondo::prefix
