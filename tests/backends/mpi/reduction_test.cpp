// SPDX-License-Identifier: BSD-3-Clause
// Which operators Rondo applies to which datatypes, and whether the results are those of the library to the bit.
#include "rondo/backends/mpi/reduction.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

#include "tests/backends/mpi/made_up_library.hpp"

namespace rondo::mpi {
namespace {

void with_reductions(const std::function<void()>& role) {
    made_up::play(1, [&] {
        learn_datatypes();
        learn_operators();
        role();
    });
}

Datatype derived;  // the last one
const Datatype& type_of(MPI_Datatype handle) { return *describe(handle, derived); }

std::string objection(MPI_Op op, MPI_Datatype type) {
    const char* const text = Reduction(op, type_of(type)).objection();
    return text != nullptr ? text : "";
}

TEST(Reductions, kernels_serve_what_mpi_defines) {
    with_reductions([] {
        const Reduction sum(MPI_SUM, type_of(MPI_DOUBLE));
        EXPECT_EQ(sum.objection(), nullptr);
        EXPECT_TRUE(sum.is_kernel());
        EXPECT_TRUE(sum.predefined());
        EXPECT_TRUE(sum.commutative());
        EXPECT_EQ(sum.operation(), kernels::Operation::sum);
        EXPECT_EQ(objection(MPI_MAXLOC, MPI_DOUBLE_INT), "");
        EXPECT_EQ(objection(MPI_BAND, MPI_BYTE), "");
    });
}

TEST(Reductions, what_mpi_does_not_define_is_for_the_library_to_report) {
    with_reductions([] {
        for (const auto& [op, type] :
             {std::pair{MPI_BAND, MPI_DOUBLE}, std::pair{MPI_SUM, MPI_BYTE}, std::pair{MPI_SUM, MPI_CHAR},
              std::pair{MPI_MAXLOC, MPI_INT}, std::pair{MPI_REPLACE, MPI_INT}, std::pair{MPI_OP_NULL, MPI_INT},
              std::pair{MPI_SUM, MPI_LOGICAL}}) {
            EXPECT_EQ(objection(op, type), "operator undefined on type");
        }
        EXPECT_EQ(objection(MPI_SUM, made_up::contiguous(2, MPI_INT)), "operator undefined on type");
        EXPECT_EQ(objection(MPI_SUM, made_up::pieces({{0, 4}, {8, 4}}, 4)), "unusual datatype");
    });
}

TEST(Reductions, the_library_combines_what_has_no_kernel) {
    with_reductions([] {
        const Reduction both(MPI_LAND, type_of(MPI_LOGICAL));
        EXPECT_EQ(both.objection(), nullptr);
        EXPECT_FALSE(both.is_kernel());
        const std::array<int, 2> left{1, 1}, right{1, 0};
        std::array<int, 2> into{-1, -1};
        const auto copy = [](const void* from, void* to, Count count) {
            std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(int));
            return MPI_SUCCESS;
        };
        EXPECT_EQ(both.apply(left.data(), right.data(), into.data(), 2, copy), MPI_SUCCESS);
        EXPECT_EQ(into, (std::array<int, 2>{1, 0}));
    });
}

/// Not commutative, and associative: the left operand, but for 0.
void take_left(const void* in, void* inout, int count) {
    for (int i = 0; i < count; ++i) {
        const int left = static_cast<const int*>(in)[i];
        if (left != 0) static_cast<int*>(inout)[i] = left;
    }
}

TEST(Reductions, operands_keep_their_order_wherever_the_result_goes) {
    with_reductions([] {
        const Reduction reduction(made_up::make_operator(take_left, false), type_of(MPI_INT));
        ASSERT_EQ(reduction.objection(), nullptr);
        EXPECT_FALSE(reduction.commutative());
        EXPECT_FALSE(reduction.predefined());
        EXPECT_FALSE(reduction.keeps_bits());
        const auto copy = [](const void* from, void* to, Count count) {
            std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(int));
            return MPI_SUCCESS;
        };
        for (const int result : {0, 1, 2}) {
            std::array<std::array<int, 2>, 3> rows{{{5, 0}, {6, 7}, {-1, -1}}};
            ASSERT_EQ(
                reduction.apply(rows[0].data(), rows[1].data(), rows[static_cast<std::size_t>(result)].data(), 2, copy),
                MPI_SUCCESS);
            EXPECT_EQ(rows[static_cast<std::size_t>(result)], (std::array<int, 2>{5, 7})) << result;
        }
    });
}

TEST(Reductions, an_operator_that_commutes_needs_no_copy) {
    with_reductions([] {
        const auto add = [](const void* in, void* inout, int count) {
            for (int i = 0; i < count; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
        };
        const Reduction reduction(made_up::make_operator(add, true), type_of(MPI_INT));
        int left = 3;
        const int right = 4;
        const auto copy = [](const void*, void*, Count) {
            ADD_FAILURE() << "copies";
            return MPI_SUCCESS;
        };
        EXPECT_EQ(reduction.apply(&left, &right, &left, 1, copy), MPI_SUCCESS);
        EXPECT_EQ(left, 7);
    });
}

TEST(Reductions, errors_of_the_library_and_of_copies_come_back) {
    with_reductions([] {
        const Reduction reduction(made_up::make_operator(take_left, false), type_of(MPI_INT));
        int left = 3, right = 4, into = 0;
        const auto copy = [](const void*, void*, Count) { return MPI_ERR_OTHER; };
        EXPECT_EQ(reduction.apply(&left, &right, &into, 1, copy), MPI_ERR_OTHER);
        EXPECT_EQ(reduction.apply(&left, &right, &left, 1, copy), MPI_ERR_OTHER);
        made_up::fail("Reduce_local", MPI_ERR_INTERN);
        EXPECT_EQ(reduction.apply(&left, &right, &right, 1, copy), MPI_ERR_INTERN);
    });
}

TEST(Reductions, integers_keep_their_bits_where_the_library_wraps_around_too) {
    with_reductions([] {
        const std::uint64_t answers = compare_reductions();
        EXPECT_TRUE(Reduction(MPI_SUM, type_of(MPI_INT)).keeps_bits());
        EXPECT_TRUE(Reduction(MPI_SUM, type_of(MPI_SIGNED_CHAR)).keeps_bits());
        EXPECT_TRUE(Reduction(MPI_MAXLOC, type_of(MPI_2INT)).keeps_bits());
        EXPECT_FALSE(Reduction(MPI_MAX, type_of(MPI_DOUBLE)).keeps_bits()) << "there may be NaN";
        EXPECT_FALSE(Reduction(MPI_LAND, type_of(MPI_INTEGER)).keeps_bits()) << "MPI defines none";
        EXPECT_TRUE(Reduction(MPI_LAND, type_of(MPI_LOGICAL)).keeps_bits()) << "the library does it in both cases";
        made_up::behaviour().saturates = true;
        distrust_reductions();
        EXPECT_FALSE(Reduction(MPI_SUM, type_of(MPI_INT)).keeps_bits());
        EXPECT_NE(compare_reductions(), answers);
        EXPECT_FALSE(Reduction(MPI_SUM, type_of(MPI_SIGNED_CHAR)).keeps_bits());
        EXPECT_TRUE(Reduction(MPI_MAX, type_of(MPI_SIGNED_CHAR)).keeps_bits());
        EXPECT_TRUE(Reduction(MPI_SUM, type_of(MPI_INT)).keeps_bits());
    });
}

}  // namespace
}  // namespace rondo::mpi
