// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/kernels/prefix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace rondo::kernels {
namespace {

constexpr InstructionSet levels[] = {InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512};
constexpr std::size_t lengths[] = {1, 2, 7, 8, 9, 16, 63, 64, 65, 511, 512, 513, 1030, 5000};

template <class T>
struct Named {
    T (*combine)(T, T);
    Operation operation;
};

template <class T>
std::vector<Named<T>> operators() {
    return {{[](T a, T b) { return static_cast<T>(a + b); }, Operation::sum},
            {[](T a, T b) { return a > b ? a : b; }, Operation::max},
            {[](T a, T b) { return a < b ? a : b; }, Operation::min},
            {[](T a, T b) { return static_cast<T>(a * b); }, Operation::prod}};
}

template <class T>
std::vector<T> numbers(std::size_t count) {
    std::mt19937_64 random(count);
    std::vector<T> all(count);
    for (T& each : all) {
        const double value = std::uniform_real_distribution<>(0.9, 1.1)(random);
        each = std::is_integral_v<T> ? static_cast<T>(random() % 3) : static_cast<T>(value);
    }
    return all;
}

/// As prefix.hpp says it.
template <class T>
std::vector<T> local_sums(const std::vector<T>& values, T (*combine)(T, T)) {
    std::vector<T> sums;
    T before{}, inside{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % prefix_block == 0 && i > 0) before = sums.back();
        inside = i % prefix_block == 0 ? values[i] : combine(inside, values[i]);
        sums.push_back(i < prefix_block ? inside : combine(before, inside));
    }
    return sums;
}

template <class T>
class Prefix : public testing::Test {
  protected:
    /// Every pass on every level against the words of the contract.
    void check(Element element, std::size_t count, const Named<T>& named, bool exclusive, bool has_prefix) {
        const std::vector<T> values = numbers<T>(count);
        const std::vector<T> sums = local_sums(values, named.combine);
        const T prefix = static_cast<T>(3), first = static_cast<T>(77);
        std::vector<T> expected(count);
        for (std::size_t i = 0; i < count; ++i) {
            const bool alone = exclusive && i == 0;
            const T sum = alone ? first : sums[i - (exclusive ? 1 : 0)];
            expected[i] = !has_prefix ? sum : alone ? prefix : named.combine(prefix, sum);
        }
        for (const InstructionSet level : levels) {
            const PrefixKernels kernels = find_prefix(named.operation, element, level);
            if (kernels.scan == nullptr) continue;  // this processor lacks the level
            T total{};
            kernels.reduce(values.data(), count, &total, false);
            EXPECT_EQ(total, sums.back());
            for (const std::size_t piece : {std::size_t{8}, std::size_t{64}, std::size_t{4096}}) {
                for (const bool past_caches : {false, true}) {
                    for (const std::size_t offset : {0, 1, 5}) {
                        std::vector<T> place(count + 16, T{});
                        T* const into = place.data() + offset;
                        into[0] = first;
                        T sum{};
                        for (std::size_t done = 0; done < count; done += piece) {
                            kernels.scan(values.data() + done, into + done, std::min(piece, count - done),
                                         {&sum, done > 0, has_prefix ? &prefix : nullptr, exclusive, past_caches});
                        }
                        EXPECT_EQ(std::memcmp(into, expected.data(), count * sizeof(T)), 0);
                        EXPECT_EQ(sum, sums.back());
                        EXPECT_EQ(into[count], T{});
                        if (offset > 0) {
                            EXPECT_EQ(place[offset - 1], T{});
                        }
                    }
                }
                std::vector<T> in_place = values;
                T sum{};
                for (std::size_t done = 0; done < count; done += piece) {
                    kernels.scan(in_place.data() + done, in_place.data() + done, std::min(piece, count - done),
                                 {&sum, done > 0, has_prefix ? &prefix : nullptr, exclusive, true});
                }
                const std::size_t known = exclusive && !has_prefix ? 1 : 0;  // the first stays as it is
                EXPECT_EQ(std::memcmp(in_place.data() + known, expected.data() + known, (count - known) * sizeof(T)),
                          0);
            }
        }
    }

    void check_all(Element element) {
        for (const Named<T>& named : operators<T>()) {
            for (const std::size_t count : lengths) {
                SCOPED_TRACE(count);
                for (const bool exclusive : {false, true}) {
                    for (const bool has_prefix : {false, true}) check(element, count, named, exclusive, has_prefix);
                }
            }
        }
    }
};

using PrefixOfDoubles = Prefix<double>;
using PrefixOfFloats = Prefix<float>;
using PrefixOfInts = Prefix<std::int32_t>;
using PrefixOfBytes = Prefix<std::uint8_t>;

TEST_F(PrefixOfDoubles, is_associated_as_promised_on_every_level) { check_all(Element::float64); }
TEST_F(PrefixOfFloats, is_associated_as_promised_on_every_level) { check_all(Element::float32); }
TEST_F(PrefixOfInts, is_right_on_every_level) { check_all(Element::int32); }
TEST_F(PrefixOfBytes, wraps_around_on_every_level) { check_all(Element::uint8); }

TEST(prefix, has_passes_for_numbers_only) {
    EXPECT_NE(find_prefix(Operation::sum, Element::float64).scan, nullptr);
    EXPECT_NE(find_prefix(Operation::max, Element::int16).reduce, nullptr);
    EXPECT_EQ(find_prefix(Operation::sum, Element::complex64).scan, nullptr);
    EXPECT_EQ(find_prefix(Operation::maxloc, Element::int_int).scan, nullptr);
    EXPECT_EQ(find_prefix(Operation::bor, Element::int32).scan, nullptr);
}

TEST(prefix, sums_that_never_fall_do_not_fall_in_rounding) {
    std::mt19937_64 random(3);
    std::vector<double> values(3000);
    for (double& each : values) each = random() % 3 == 0 ? 0 : std::ldexp(1.0, -static_cast<int>(random() % 60));
    std::vector<double> sums(values.size());
    const double before = 1.0 / 3;
    double sum = 0;
    find_prefix(Operation::sum, Element::float64)
        .scan(values.data(), sums.data(), values.size(), {&sum, false, &before, false, false});
    for (std::size_t i = 1; i < sums.size(); ++i) ASSERT_GE(sums[i], sums[i - 1]) << i;
}

TEST(prefix, identities_change_nothing) {
    const double values[] = {-1e300, -3.5, 0, 7, std::numeric_limits<double>::infinity()};
    for (const auto& [combine, operation] : operators<double>()) {
        double identity = 42;
        ASSERT_TRUE(put_identity(operation, Element::float64, &identity));
        for (const double value : values) EXPECT_EQ(combine(identity, value), value);
    }
    std::int8_t lowest = 0;
    ASSERT_TRUE(put_identity(Operation::max, Element::int8, &lowest));
    EXPECT_EQ(lowest, -128);
    std::uint16_t all = 0;
    ASSERT_TRUE(put_identity(Operation::band, Element::uint16, &all));
    EXPECT_EQ(all, 65535);
    EXPECT_FALSE(put_identity(Operation::maxloc, Element::double_int, &all));
    EXPECT_FALSE(put_identity(Operation::sum, Element::byte, &all));
}

}  // namespace
}  // namespace rondo::kernels
