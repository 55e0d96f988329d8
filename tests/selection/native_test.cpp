// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/native.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rondo {
namespace {

TEST(NativeRules, are_those_of_the_versions_first_number) {
    EXPECT_EQ(native_rules_of("MPICH Version 5.0.2"), "mpich-5");
    EXPECT_EQ(native_rules_of("MPICH Version 4.0"), "mpich-4");
    EXPECT_EQ(native_rules_of("MPICH Version 5"), "mpich-5");
    EXPECT_EQ(native_rules_of("Open MPI v5.0.11"), "open_mpi-5");
    EXPECT_EQ(native_rules_of("Open MPI v4.1.4"), "open_mpi-4");
}

TEST(NativeRules, are_unknown_for_other_libraries_and_versions) {
    for (const char* version : {"", "Intel(R) MPI Library 2021.19.0 for Linux* OS", "MPICH Version 3.4.3",
                                "MPICH Version 50.1", "Open MPI v4x", "MVAPICH Version 4.0", "MPICH"}) {
        EXPECT_EQ(native_rules_of(version), "") << version;
    }
}

TEST(NativeCorrection, is_the_measured_ratio_where_it_was_measured) {
    const std::vector<MeasuredClass> measured = {{1024, 8, 8, 1.5}, {1 << 20, 8, 8, 0.5}};
    EXPECT_DOUBLE_EQ(native_correction(measured, 1024, 8, 8), 1.5);
    EXPECT_DOUBLE_EQ(native_correction(measured, 1 << 20, 8, 8), 0.5);
}

TEST(NativeCorrection, is_nothing_where_nothing_was_measured) { EXPECT_EQ(native_correction({}, 1024, 8, 8), 1); }

TEST(NativeCorrection, takes_the_nearest_class_in_bytes_processes_and_nodes) {
    const std::vector<MeasuredClass> measured = {{1024, 8, 8, 1.5}, {1024, 64, 8, 4}, {1024, 8, 1, 9}};
    EXPECT_LT(native_correction(measured, 2048, 8, 8), 1.5);
    EXPECT_GT(native_correction(measured, 1024, 60, 8), 3);
    EXPECT_GT(native_correction(measured, 1024, 8, 2), 4);
}

TEST(NativeCorrection, counts_for_less_the_farther_away) {
    const std::vector<MeasuredClass> measured = {{1024, 8, 8, 4}};
    EXPECT_DOUBLE_EQ(native_correction(measured, 1 << 18, 8, 8), 2);             // eight doublings of bytes
    EXPECT_DOUBLE_EQ(native_correction(measured, 4, 8, 8), 2);                   // or halvings
    EXPECT_DOUBLE_EQ(native_correction(measured, 1 << 16, 32, 8), 2);            // six, and two of ranks
    EXPECT_DOUBLE_EQ(native_correction(measured, 1 << 26, 8, 8), std::cbrt(4));  // sixteen
}

TEST(NativeCorrection, is_between_two_that_are_as_near) {
    const std::vector<MeasuredClass> measured = {{1 << 10, 8, 8, 8}, {1 << 14, 8, 8, 0.5}, {1 << 30, 8, 8, 100}};
    EXPECT_DOUBLE_EQ(native_correction(measured, 1 << 12, 8, 8), std::pow(2, 0.8));
    EXPECT_DOUBLE_EQ(native_correction(measured, 0, 8, 8), native_correction(measured, 1, 8, 8));
}

}  // namespace
}  // namespace rondo
