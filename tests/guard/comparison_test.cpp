// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/comparison.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rondo::guard {
namespace {

using Finding = Comparison::Finding;

Comparison compared(std::vector<float> rondo, std::vector<float> library) { return compare(rondo, library); }

// Binomial coefficients: all of the fastest k of 2n are the one's in C(n, k) / C(2n, k) of all orders.
TEST(Comparison, counts_on_no_more_chance_than_one_in_a_hundred) {
    EXPECT_GT(fastest_needed(2), 2);
    EXPECT_GT(fastest_needed(4), 4);
    EXPECT_EQ(fastest_needed(5), 5);   // 2 / 252
    EXPECT_EQ(fastest_needed(8), 6);   // 2 * 28 / 8008
    EXPECT_EQ(fastest_needed(16), 7);  // 2 * 11440 / 3365856
}

TEST(Comparison, of_two_calls_each_needs_a_wide_gap) {
    EXPECT_EQ(compared({1, 1.02F}, {1.5F, 1.52F}).finding, Finding::clear);
    EXPECT_EQ(compared({1.5F, 1.52F}, {1, 1.02F}).faster, Contender::library);
    EXPECT_EQ(compared({1, 1.2F}, {1.5F, 1.7F}).finding, Finding::noise);  // wider apart than half of the gap
    EXPECT_EQ(compared({1, 1}, {1.08F, 1.08F}).finding, Finding::noise);   // who knows
    EXPECT_EQ(compared({1, 1, 1.1F}, {1.5F, 1.5F, 1.55F}).finding, Finding::clear);
    EXPECT_EQ(compared({1, 1, 1, 1.2F}, {1.5F, 1.5F, 1.5F, 1.7F}).finding, Finding::clear);
    EXPECT_EQ(compared({1, 1, 1, 1.3F}, {1.5F, 1.5F, 1.5F, 1.7F}).finding, Finding::noise);
    EXPECT_EQ(compared({1, 1}, {1000, 1000}).finding, Finding::noise);  // one disturbance may have struck both
    EXPECT_EQ(compared({1}, {3}).finding, Finding::noise);
    EXPECT_EQ(compared({}, {}).finding, Finding::noise);
}

TEST(Comparison, believes_in_whatever_is_seen_often_enough) {
    EXPECT_EQ(compared({1, 1, 1, 1, 1}, {1000, 3000, 9000, 1200, 5000}).finding, Finding::clear);
    EXPECT_EQ(compared({1, 1, 1, 1, 1}, {1.1F, 1.1F, 1.1F, 1.1F, 1.1F}).finding, Finding::clear);
}

TEST(Comparison, knows_disturbed_calls_from_slow_ones) {
    const std::vector<float> fast = {1, 1, 9, 1, 1, 90, 1, 1}, slow = {1.3F, 1.3F, 9, 1.3F, 70, 1.3F, 1.3F, 1.3F};
    const Comparison found = compared(slow, fast);
    EXPECT_EQ(found.finding, Finding::clear);
    EXPECT_EQ(found.faster, Contender::library);
    EXPECT_FLOAT_EQ(found.rondo, 1.3F);
    EXPECT_FLOAT_EQ(found.library, 1);
}

// Allreduces of 8 bytes on eight emulated nodes with MPICH, in milliseconds: recursive multiplying, and native.
TEST(Comparison, is_not_spoiled_by_a_few_lucky_calls) {
    const std::vector<float> rondo = {4.19F, 2.34F, 4.24F, 4.16F, 3.50F, 3.53F, 4.73F, 2.53F,
                                      3.62F, 3.12F, 1.65F, 1.79F, 3.62F, 3.48F, 4.59F, 2.30F};
    const std::vector<float> library = {5.21F, 3.54F, 5.92F, 6.27F, 5.77F, 6.13F, 6.69F, 3.46F,
                                        5.49F, 6.18F, 3.45F, 6.04F, 5.81F, 3.37F, 4.88F, 3.43F};
    const Comparison found = compared(rondo, library);
    EXPECT_EQ(found.finding, Finding::clear);
    EXPECT_EQ(found.faster, Contender::rondo);
    EXPECT_EQ(compared(library, rondo).faster, Contender::library);
}

TEST(Comparison, does_not_call_alike_what_only_begins_alike) {
    const std::vector<float> fast = {1, 1, 1.1F, 1.2F, 1.2F}, slow = {1, 1.5F, 1.6F, 1.6F, 1.7F};
    EXPECT_EQ(compared(fast, slow).finding, Finding::noise);  // Rondo may win
    EXPECT_EQ(compared(slow, fast).finding, Finding::alike);  // the library has them in any case
    EXPECT_EQ(compared({1, 1.4F, 1.1F, 1.6F, 1.2F}, {1, 1.1F, 1.6F, 1.2F, 1.3F}).finding, Finding::alike);
}

TEST(Comparison, finds_no_difference_where_there_is_none_worth_speaking_of) {
    EXPECT_EQ(compared({1, 1, 1, 1, 1}, {1.04F, 1.04F, 1.04F, 1.04F, 1.04F}).finding, Finding::alike);
    EXPECT_EQ(compared({1, 1.01F}, {1.04F, 1.02F}).finding, Finding::alike);
    EXPECT_EQ(compared({1, 1.3F, 1.5F, 1.1F, 5}, {1.2F, 1.04F, 7, 1.4F, 1}).finding, Finding::alike);
    EXPECT_EQ(compared({1, 1, 900, 800, 700}, {9, 500, 600, 700, 800}).finding, Finding::noise);
}

}  // namespace
}  // namespace rondo::guard
