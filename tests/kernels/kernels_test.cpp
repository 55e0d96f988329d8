// SPDX-License-Identifier: BSD-3-Clause

#include "rondo/kernels/kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace rondo::kernels {
namespace {

// ------------------------------------------------------------------ the C types of the elements

template <class Part>
struct Complex {
    Part real, imaginary;
};
template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

/// visit(T{}) with the C type of the elements.
template <class Visit>
auto with_type(Element element, Visit visit) {
    switch (element) {
        case Element::int8: return visit(std::int8_t{});
        case Element::int16: return visit(std::int16_t{});
        case Element::int32: return visit(std::int32_t{});
        case Element::int64: return visit(std::int64_t{});
        case Element::uint8: return visit(std::uint8_t{});
        case Element::uint16: return visit(std::uint16_t{});
        case Element::uint32: return visit(std::uint32_t{});
        case Element::uint64: return visit(std::uint64_t{});
        case Element::float32: return visit(0.0F);
        case Element::float64: return visit(0.0);
        case Element::long_double: return visit(0.0L);
        case Element::boolean: return visit(std::uint8_t{});
        case Element::byte: return visit(std::uint8_t{});
        case Element::complex64: return visit(Complex<float>{});
        case Element::complex128: return visit(Complex<double>{});
        case Element::complex_long_double: return visit(Complex<long double>{});
        case Element::float_int: return visit(Pair<float, int>{});
        case Element::double_int: return visit(Pair<double, int>{});
        case Element::long_int: return visit(Pair<long, int>{});
        case Element::int_int: return visit(Pair<int, int>{});
        case Element::short_int: return visit(Pair<short, int>{});
        case Element::long_double_int: return visit(Pair<long double, int>{});
        case Element::float_float: return visit(Pair<float, float>{});
        case Element::double_double: return visit(Pair<double, double>{});
    }
    throw std::out_of_range("no such element");
}

// ------------------------------------------------------------------ which kernels there are

constexpr const char* operation_names[operations] = {"max", "min", "sum",  "prod", "land",   "band",
                                                     "lor", "bor", "lxor", "bxor", "maxloc", "minloc"};
constexpr const char* element_names[elements] = {"int8",      "int16",           "int32",       "int64",
                                                 "uint8",     "uint16",          "uint32",      "uint64",
                                                 "float32",   "float64",         "long_double", "boolean",
                                                 "byte",      "complex64",       "complex128",  "complex_long_double",
                                                 "float_int", "double_int",      "long_int",    "int_int",
                                                 "short_int", "long_double_int", "float_float", "double_double"};
constexpr const char* level_names[instruction_sets] = {"baseline", "avx2", "avx512"};

constexpr const char* of_integers = " max min sum prod land lor lxor band bor bxor ";
constexpr const char* of_floats = " max min sum prod ";
constexpr const char* of_complex = " sum prod ";
constexpr const char* of_pairs = " maxloc minloc ";

/// MPI 4.1, sections 6.9.2 and 6.9.4, element by element.
constexpr const char* defined_operations[elements] = {
    of_integers, of_integers, of_integers, of_integers,       of_integers,       of_integers, of_integers, of_integers,
    of_floats,   of_floats,   of_floats,   " land lor lxor ", " band bor bxor ", of_complex,  of_complex,  of_complex,
    of_pairs,    of_pairs,    of_pairs,    of_pairs,          of_pairs,          of_pairs,    of_pairs,    of_pairs};

std::string name(Operation operation) { return operation_names[static_cast<std::size_t>(operation)]; }
std::string name(Element element) { return element_names[static_cast<std::size_t>(element)]; }

bool is_defined(Operation operation, Element element) {
    const std::string all = defined_operations[static_cast<std::size_t>(element)];
    return all.find(" " + name(operation) + " ") != std::string::npos;
}

template <class Visit>
void for_each_combination(Visit visit) {
    for (std::size_t operation = 0; operation < operations; ++operation) {
        for (std::size_t element = 0; element < elements; ++element) {
            visit(static_cast<Operation>(operation), static_cast<Element>(element));
        }
    }
}

// ------------------------------------------------------------------ the reference: MPI's words, one element at a time

template <class T>
T expected(Operation operation, T left, T right) {
    if (operation == Operation::max) return left > right ? left : right;
    if (operation == Operation::min) return left < right ? left : right;
    if constexpr (std::is_floating_point_v<T>) {
        return operation == Operation::sum ? left + right : left * right;
    } else {
        // Modulo 2^64 and then modulo 2^width is modulo 2^width, in two's complement too.
        // Sign extension is meant: only the low bits are kept.
        const auto wide_left = static_cast<std::uint64_t>(static_cast<std::int64_t>(left));
        const auto wide_right = static_cast<std::uint64_t>(static_cast<std::int64_t>(right));
        switch (operation) {
            case Operation::sum: return static_cast<T>(wide_left + wide_right);
            case Operation::prod: return static_cast<T>(wide_left * wide_right);
            case Operation::land: return left && right;
            case Operation::lor: return left || right;
            case Operation::lxor: return !left != !right;
            case Operation::band: return static_cast<T>(left & right);
            case Operation::bor: return static_cast<T>(left | right);
            default: return static_cast<T>(left ^ right);
        }
    }
}

template <class Part>
Complex<Part> expected(Operation operation, Complex<Part> left, Complex<Part> right) {
    if (operation == Operation::sum) return {left.real + right.real, left.imaginary + right.imaginary};
    // Volatile: each product is rounded, as in the kernels, whatever this file is compiled for.
    const volatile Part real_real = left.real * right.real, imaginary_imaginary = left.imaginary * right.imaginary;
    const volatile Part real_imaginary = left.real * right.imaginary, imaginary_real = left.imaginary * right.real;
    return {real_real - imaginary_imaginary, real_imaginary + imaginary_real};
}

template <class Value, class Index>
Pair<Value, Index> expected(Operation operation, Pair<Value, Index> left, Pair<Value, Index> right) {
    if (left.value == right.value) return left.index < right.index ? left : right;
    return (operation == Operation::maxloc) == (left.value > right.value) ? left : right;
}

template <class T>
bool same(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    } else if constexpr (std::is_integral_v<T>) {
        return a == b;
    } else {
        const auto& [a_first, a_second] = a;
        const auto& [b_first, b_second] = b;
        return same(a_first, b_first) && same(a_second, b_second);
    }
}

// ------------------------------------------------------------------ operands

using Random = std::mt19937_64;

/// Extremes and both zeros, small numbers (hence ties), and any number.
template <class T>
void draw(Random& random, T& value) {
    using Limits = std::numeric_limits<T>;
    const auto kind = random() % 4;
    if constexpr (std::is_integral_v<T>) {
        constexpr T extremes[] = {Limits::min(), Limits::max(), 0, 1};
        value = kind == 0 ? extremes[random() % 4] : static_cast<T>(kind == 1 ? random() % 3 : random());
    } else if constexpr (std::is_floating_point_v<T>) {
        constexpr T extremes[] = {T{0}, -T{0}, Limits::infinity(), Limits::lowest()};
        const T small = static_cast<T>(random() % 3) - T{1}, any = static_cast<T>(random() % 2001) / T{7} - T{140};
        value = kind == 0 ? extremes[random() % 4] : kind == 1 ? small : any;
    } else {
        auto& [first, second] = value;
        draw(random, first);
        draw(random, second);
    }
}

template <class T>
void store(unsigned char* to, const T& value) {
    std::memcpy(to, &value, sizeof(T));
}
template <class Value, class Index>
void store(unsigned char* to, const Pair<Value, Index>& pair) {  // leaves the padding alone
    using Whole = Pair<Value, Index>;
    store(to, pair.value);
    store(to + offsetof(Whole, index), pair.index);
}

template <class T>
constexpr bool is_pair = false;
template <class Value, class Index>
constexpr bool is_pair<Pair<Value, Index>> = true;

/// Whether the byte of an element belongs to none of its members.
template <class T>
constexpr bool is_padding(std::size_t byte) {
    if constexpr (is_pair<T>) {
        const std::size_t index = offsetof(T, index);
        // NOLINTNEXTLINE(misc-redundant-expression): for pairs without a gap the first half is never true
        return (byte >= sizeof(T::value) && byte < index) || byte >= index + sizeof(T::index);
    } else {
        return false;
    }
}

static_assert(is_padding<Pair<short, int>>(2) && !is_padding<Pair<short, int>>(4));
static_assert(!is_padding<Pair<double, int>>(11) && is_padding<Pair<double, int>>(12));

/// Bytes up to the end of the last member.
template <class T>
constexpr std::size_t used_bytes(std::size_t count) {
    if constexpr (is_pair<T>) {
        return count == 0 ? 0 : (count - 1) * sizeof(T) + offsetof(T, index) + sizeof(T::index);
    } else {
        return count * sizeof(T);
    }
}

/// `count` elements `misalignment` bytes after a 64-byte boundary, with guard bytes before and after. Guards and
/// padding are random: no two arrays have the same.
template <class T>
class Array {
  public:
    Array(Random& random, std::size_t count, std::size_t misalignment)
        : count_(count), bytes_(count * sizeof(T) + 320) {
        for (auto& byte : bytes_) byte = static_cast<unsigned char>(random());
        const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data() + 64);
        first_ = 64 + (64 - address % 64) % 64 + misalignment;
        for (std::size_t i = 0; i < count; ++i) {
            T value;
            draw(random, value);
            store(data() + i * sizeof(T), value);
        }
    }
    [[nodiscard]] unsigned char* data() { return bytes_.data() + first_; }
    [[nodiscard]] T operator[](std::size_t i) const {
        T value;
        std::memcpy(&value, bytes_.data() + first_ + i * sizeof(T), sizeof(T));
        return value;
    }
    [[nodiscard]] const std::vector<unsigned char>& bytes() const { return bytes_; }
    /// Whether only members of elements differ: neither guards nor padding.
    [[nodiscard]] bool equals_outside(const std::vector<unsigned char>& before) const {
        const auto begin = static_cast<std::ptrdiff_t>(first_);
        const auto end = static_cast<std::ptrdiff_t>(first_ + count_ * sizeof(T));
        bool equal = std::equal(bytes_.begin(), bytes_.begin() + begin, before.begin()) &&
                     std::equal(bytes_.begin() + end, bytes_.end(), before.begin() + end);
        for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
            if (!is_padding<T>(byte)) continue;
            for (std::size_t i = first_ + byte; i < first_ + count_ * sizeof(T); i += sizeof(T)) {
                equal = equal && bytes_[i] == before[i];
            }
        }
        return equal;
    }

  private:
    std::size_t count_, first_ = 0;
    std::vector<unsigned char> bytes_;
};

enum class Into { third, left, right };
constexpr const char* into_names[] = {"a third buffer", "left", "right"};

struct Layout {
    std::size_t left, right, into;  ///< misalignments
};

template <class T>
void check(Operation operation, Kernel kernel, std::size_t count, Layout layout, Into where) {
    Random random(count + 1);
    Array<T> left(random, count, layout.left), right(random, count, layout.right), other(random, count, layout.into);
    const auto left_bytes = left.bytes(), right_bytes = right.bytes(), other_bytes = other.bytes();
    std::vector<T> reference(count);
    for (std::size_t i = 0; i < count; ++i) reference[i] = expected(operation, left[i], right[i]);

    Array<T>& into = where == Into::left ? left : where == Into::right ? right : other;
    kernel(left.data(), right.data(), into.data(), count);

    for (std::size_t i = 0; i < count; ++i) ASSERT_TRUE(same(into[i], reference[i])) << "element " << i;
    ASSERT_TRUE(where == Into::left ? left.equals_outside(left_bytes) : left.bytes() == left_bytes);
    ASSERT_TRUE(where == Into::right ? right.equals_outside(right_bytes) : right.bytes() == right_bytes);
    ASSERT_TRUE(other.equals_outside(other_bytes));
}

// ------------------------------------------------------------------ the tests

class EveryKernel : public testing::TestWithParam<InstructionSet> {
  protected:
    void SetUp() override {
        if (!find(Operation::sum, Element::int32, GetParam())) GTEST_SKIP() << "not on this processor";
    }
};

TEST_P(EveryKernel, EqualsAStraightforwardReferenceAndChangesNothingElse) {
    for_each_combination([](Operation operation, Element element) {
        const Kernel kernel = find(operation, element, GetParam());
        if (kernel == nullptr || HasFatalFailure()) return;
        with_type(element, [&]<class T>(T) {
            // The largest count lets one-byte elements, too, reach the part that aligns `into`.
            for (const std::size_t count : {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 1000, 5000}) {
                for (const Layout layout : {Layout{0, 0, 0}, {16, 16, 16}, {48, 32, 16}, {8, 0, 4}, {1, 3, 5}}) {
                    for (const Into where : {Into::third, Into::left, Into::right}) {
                        check<T>(operation, kernel, count, layout, where);
                        if (!HasFatalFailure()) continue;
                        FAIL() << name(operation) << " of " << count << ' ' << name(element) << " into "
                               << into_names[static_cast<std::size_t>(where)] << ", misaligned by " << layout.left
                               << ' ' << layout.right << ' ' << layout.into;
                    }
                }
            }
        });
    });
}

/// Results of at least so many bytes go past the caches, until the end of the scope.
class StreamingFrom {
  public:
    explicit StreamingFrom(std::size_t bytes) : before_(streaming_bytes()) { set_streaming_bytes(bytes); }
    StreamingFrom(const StreamingFrom&) = delete;
    StreamingFrom& operator=(const StreamingFrom&) = delete;
    ~StreamingFrom() { set_streaming_bytes(before_); }

  private:
    std::size_t before_;
};

TEST_P(EveryKernel, EqualsTheReferenceAlsoWhereResultsGoPastTheCaches) {
    const StreamingFrom streaming(1);
    for_each_combination([](Operation operation, Element element) {
        const Kernel kernel = find(operation, element, GetParam());
        if (kernel == nullptr || HasFatalFailure()) return;
        with_type(element, [&]<class T>(T) {
            for (const std::size_t count : {0, 1, 64, 1000, 2048, 5000}) {
                for (const Layout layout : {Layout{0, 0, 0}, {48, 32, 16}, {8, 3, 0}, {1, 3, 5}}) {
                    for (const Into where : {Into::third, Into::left}) {
                        check<T>(operation, kernel, count, layout, where);
                        if (HasFatalFailure()) FAIL() << name(operation) << " of " << count << ' ' << name(element);
                    }
                }
            }
        });
    });
}

TEST(KernelStreaming, BeginsWhereCachesEnd) {
    EXPECT_GE(streaming_bytes(), std::size_t{4} << 20);
    EXPECT_LE(streaming_bytes(), std::size_t{32} << 20);
}

/// Memory that ends where a page begins that nobody can touch.
class EndOfMemory {
  public:
    explicit EndOfMemory(std::size_t bytes)
        : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), usable_((bytes + page_ - 1) / page_ * page_),
          memory_(static_cast<unsigned char*>(
              mmap(nullptr, usable_ + page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        if (memory_ == MAP_FAILED || mprotect(memory_ + usable_, page_, PROT_NONE) != 0) throw std::bad_alloc();
    }
    EndOfMemory(const EndOfMemory&) = delete;
    EndOfMemory& operator=(const EndOfMemory&) = delete;
    ~EndOfMemory() { munmap(memory_, usable_ + page_); }
    [[nodiscard]] unsigned char* last(std::size_t bytes) const { return memory_ + usable_ - bytes; }

  private:
    std::size_t page_, usable_;
    unsigned char* memory_;
};

TEST_P(EveryKernel, TouchesNothingAfterTheLastMemberOfTheLastElement) {
    const EndOfMemory left(1 << 16), right(1 << 16), other(1 << 16);
    for_each_combination([&](Operation operation, Element element) {
        const Kernel kernel = find(operation, element, GetParam());
        if (kernel == nullptr) return;
        with_type(element, [&]<class T>(T) {
            for (const std::size_t count : {1, 2, 3, 4, 5, 9, 16, 17, 1000}) {
                const std::size_t bytes = used_bytes<T>(count);
                for (auto* into : {other.last(bytes), left.last(bytes), right.last(bytes)}) {
                    kernel(left.last(bytes), right.last(bytes), into, count);
                }
            }
        });
    });
}

TEST_P(EveryKernel, AcceptsNullPointersWhenThereIsNothingToDo) {
    for_each_combination([](Operation operation, Element element) {
        const Kernel kernel = find(operation, element, GetParam());
        if (kernel) kernel(nullptr, nullptr, nullptr, 0);
    });
}

TEST_P(EveryKernel, ExistsExactlyWhereMpiDefinesTheOperator) {
    for_each_combination([](Operation operation, Element element) {
        EXPECT_EQ(find(operation, element, GetParam()) != nullptr, is_defined(operation, element))
            << name(operation) << " of " << name(element);
    });
}

TEST_P(EveryKernel, YieldsTheRightOperandOfMaxAndMinWhenOneIsNaN) {
    for (const Operation operation : {Operation::max, Operation::min}) {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        const std::vector<double> numbers(37, 1.0), nans(37, nan);
        std::vector<double> into(37);
        const Kernel kernel = find(operation, Element::float64, GetParam());
        kernel(numbers.data(), nans.data(), into.data(), 37);
        for (const double value : into) EXPECT_TRUE(std::isnan(value));
        kernel(nans.data(), numbers.data(), into.data(), 37);
        EXPECT_EQ(into, numbers);
    }
}

TEST_P(EveryKernel, OfComplexProductsCommutesToTheLastBit) {
    Random random(1);
    std::vector<Complex<double>> left(333), right(333), product(333), swapped(333);
    for (auto* operands : {&left, &right}) {
        for (auto& [real, imaginary] : *operands) {
            real = 1 / static_cast<double>(random() | 1);
            imaginary = 1 / static_cast<double>(random() | 1);
        }
    }
    const Kernel kernel = find(Operation::prod, Element::complex128, GetParam());
    kernel(left.data(), right.data(), product.data(), 333);
    kernel(right.data(), left.data(), swapped.data(), 333);
    for (std::size_t i = 0; i < 333; ++i) EXPECT_TRUE(same(product[i], swapped[i])) << "element " << i;
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel,
                         testing::Values(InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512),
                         [](const auto& level) { return level_names[static_cast<std::size_t>(level.param)]; });

TEST(KernelDispatch, ChoosesTheHighestLevelOfThisProcessorAndSaysWhich) {
    auto best = InstructionSet::avx512;
    if (!find(Operation::sum, Element::int32, best)) best = InstructionSet::avx2;
    if (!find(Operation::sum, Element::int32, best)) best = InstructionSet::baseline;
    EXPECT_STREQ(instruction_set(), level_names[static_cast<std::size_t>(best)]);
    for_each_combination([best](Operation operation, Element element) {
        EXPECT_EQ(find(operation, element), find(operation, element, best))
            << name(operation) << " of " << name(element);
    });
}

TEST(KernelElements, HaveTheExtentsOfTheirCTypes) {
    for (std::size_t i = 0; i < elements; ++i) {
        const auto element = static_cast<Element>(i);
        EXPECT_EQ(extent(element), with_type(element, []<class T>(T) { return sizeof(T); })) << name(element);
    }
}

}  // namespace
}  // namespace rondo::kernels
