// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/fingerprint.hpp"

#include <gtest/gtest.h>
#include <initializer_list>

namespace rondo {
namespace {

std::uint64_t of(std::initializer_list<std::string_view> texts) {
    Fingerprint print;
    for (const std::string_view text : texts) print.add(text);
    return print.value();
}

TEST(Fingerprint, tells_contents_apart_and_where_they_are_divided) {
    EXPECT_EQ(of({"ab", "c"}), of({"ab", "c"}));
    EXPECT_NE(of({"ab", "c"}), of({"a", "bc"}));
    EXPECT_NE(of({"ab", "c"}), of({"c", "ab"}));
    EXPECT_NE(of({}), of({""}));
}

TEST(Fingerprint, is_fnv_1a_over_the_bytes_from_the_lowest_on) {
    Fingerprint print;
    print.add(std::int64_t{0x64636261});  // abcd, and four zeros
    EXPECT_EQ(print.value(), 0xFA9C8D4BF0DF2D2DU);
    Fingerprint number;
    number.add(std::uint64_t{0x3FF0000000000000U});
    Fingerprint one;
    one.add(1.0);
    EXPECT_EQ(one.value(), number.value());
}

}  // namespace
}  // namespace rondo
