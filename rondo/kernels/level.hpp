// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one instruction set. Included by one small .cpp per level, which names its namespace in
// RONDO_KERNELS_LEVEL and is compiled with that level's flags.
//
// Nothing here may have external linkage except the three functions at the end, whose names contain the level. A
// function template or inline function of a header, the standard library's included, is emitted by every file that uses
// it, and the linker keeps any one of the copies: if it keeps the one compiled for AVX-512, the baseline runs AVX-512
// code and dies on an older processor. Hence the anonymous namespace, plain loops, and from the standard library only
// types and constants.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#ifdef __SSE2__
#include <immintrin.h>  // functions that are always inlined
#endif

#include "rondo/kernels/elements.hpp"
#include "rondo/kernels/pairs.hpp"

#ifndef RONDO_KERNELS_LEVEL
#error "define RONDO_KERNELS_LEVEL before including this file"
#endif

// `into` may be an operand, but then element i depends on element i alone. Without this promise the compiler guards the
// vector loop with an overlap test, and the in-place case runs scalar.
#if defined(__clang__)
#define RONDO_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define RONDO_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace rondo::kernels {

extern std::size_t streaming_threshold;  // of kernels.cpp

namespace {

// ------------------------------------------------------------------ one element

/// `value`, rounded. -ffp-contract=off should be enough; GCC 12 nevertheless vectorises a complex product with
/// fmaddsub.
template <class Part>
Part rounded(Part value) {
#if __has_builtin(__builtin_assoc_barrier)
    return __builtin_assoc_barrier(value);
#else
    return value;
#endif
}

/// Part by part: by value, Clang passes a Complex<float> as a vector, and then makes no longer ones of the loop's.
template <Operation operation, class Part>
void combine_parts(const Cell<Complex<Part>>& left, const Cell<Complex<Part>>& right, Cell<Complex<Part>>& into) {
    const Part real = left.content.real, imaginary = left.content.imaginary;
    const Part other_real = right.content.real, other_imaginary = right.content.imaginary;
    if constexpr (operation == Operation::sum) {
        into.content.real = real + other_real;
        into.content.imaginary = imaginary + other_imaginary;
    } else {
        into.content.real = rounded(real * other_real) - rounded(imaginary * other_imaginary);
        into.content.imaginary = rounded(real * other_imaginary) + rounded(imaginary * other_real);
    }
}

template <Operation operation, class Part>
Complex<Part> combine(Complex<Part> left, Complex<Part> right) {
    Cell<Complex<Part>> result;
    combine_parts<operation>(Cell<Complex<Part>>{left}, Cell<Complex<Part>>{right}, result);
    return result.content;
}

/// Integers of fewer than 32 bits would be promoted to int, and the product of two uint16 overflows that.
template <class T>
auto promoted(T value) {
    if constexpr (std::is_integral_v<T>) {
        return value * 1U;
    } else {
        return value;
    }
}

template <Operation operation, class T>
T combine(T left, T right) {
    if constexpr (is_ordering(operation)) {
        return precedes<operation>(left, right) ? left : right;
    } else if constexpr (operation == Operation::sum) {
        return static_cast<T>(promoted(left) + promoted(right));
    } else if constexpr (operation == Operation::prod) {
        return static_cast<T>(promoted(left) * promoted(right));
    } else if constexpr (operation == Operation::land) {
        return static_cast<T>((left != 0) & (right != 0));
    } else if constexpr (operation == Operation::lor) {
        return static_cast<T>((left != 0) | (right != 0));
    } else if constexpr (operation == Operation::lxor) {
        return static_cast<T>((left != 0) ^ (right != 0));
    } else if constexpr (operation == Operation::band) {
        return static_cast<T>(left & right);
    } else if constexpr (operation == Operation::bor) {
        return static_cast<T>(left | right);
    } else {
        return static_cast<T>(left ^ right);
    }
}

// ------------------------------------------------------------------ many elements

template <Operation operation, class T>
[[gnu::noinline]] void combine_range(const Cell<T>* left, const Cell<T>* right, Cell<T>* into, std::size_t count) {
    RONDO_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (kind_of<T> == Kind::pair) {
            combine_fields<operation>(left[i], right[i], into[i]);
        } else if constexpr (kind_of<T> == Kind::complex) {
            combine_parts<operation>(left[i], right[i], into[i]);
        } else {
            into[i].content = combine<operation>(left[i].content, right[i].content);
        }
    }
}

/// No processor multiplies bytes, and what compilers make of it is half as fast as memory: two products in 16 bits
/// each.
template <Operation operation, class T>
    requires(operation == Operation::prod && sizeof(T) == 1)
[[gnu::noinline]] void combine_range(const Cell<T>* left, const Cell<T>* right, Cell<T>* into, std::size_t count) {
    const auto* left_pairs = reinterpret_cast<const Cell<std::uint16_t>*>(left);
    const auto* right_pairs = reinterpret_cast<const Cell<std::uint16_t>*>(right);
    auto* into_pairs = reinterpret_cast<Cell<std::uint16_t>*>(into);
    RONDO_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count / 2; ++i) {
        const std::uint16_t one = left_pairs[i].content, other = right_pairs[i].content;
        const auto low = static_cast<std::uint16_t>(promoted(one) * promoted(other));
        const auto high = static_cast<std::uint16_t>(promoted(one) / 256 * (promoted(other) & 0xFF00U));
        into_pairs[i].content = static_cast<std::uint16_t>((low & 0xFF) | high);
    }
    if (count % 2 != 0) into[count - 1].content = combine<operation>(left[count - 1].content, right[count - 1].content);
}

template <Operation operation, class T>
    requires(padding_of<T> != Padding::none)
[[gnu::noinline]] void combine_range(const Cell<T>* left, const Cell<T>* right, Cell<T>* into, std::size_t count) {
    const T fields = fields_of(T{});
    RONDO_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
        into[i].content = blend(into[i].content, combine<operation>(left[i].content, right[i].content), fields);
    }
}

#ifdef __SSE2__
/// Large enough to hide its loop, small enough to stay in L1 beside what is read.
constexpr std::size_t streaming_block_bytes = 2048;

/// Both aligned to a cache line, of which so many bytes are a multiple.
inline void store_past_caches(const unsigned char* from, unsigned char* to, std::size_t bytes) {
#if defined(__AVX512F__)
    using Word = __m512i;
#elif defined(__AVX__)
    using Word = __m256i;
#else
    using Word = __m128i;
#endif
    for (std::size_t i = 0; i < bytes; i += sizeof(Word)) {
        const auto* source = reinterpret_cast<const Word*>(from + i);
        auto* target = reinterpret_cast<Word*>(to + i);
#if defined(__AVX512F__)
        _mm512_stream_si512(target, _mm512_load_si512(source));
#elif defined(__AVX__)
        _mm256_stream_si256(target, _mm256_load_si256(source));
#else
        _mm_stream_si128(target, _mm_load_si128(source));
#endif
    }
}

/// For results that no cache can keep: an ordinary store reads the line first, a quarter of the traffic. `into` is
/// aligned to a cache line and is no operand.
template <Operation operation, class T>
[[gnu::noinline]] void combine_streaming(const Cell<T>* left, const Cell<T>* right, Cell<T>* into, std::size_t count) {
    constexpr std::size_t block = streaming_block_bytes / sizeof(T);
    alignas(64) Cell<T> results[block];
    for (; count >= block; left += block, right += block, into += block, count -= block) {
        combine_range<operation>(left, right, results, block);
        store_past_caches(reinterpret_cast<const unsigned char*>(results), reinterpret_cast<unsigned char*>(into),
                          streaming_block_bytes);
    }
    _mm_sfence();  // or another thread that learns of the result by an ordinary store might not see it
    combine_range<operation>(left, right, into, count);
}
#endif

/// A full vector that straddles two cache lines costs twice, and malloc's large blocks begin 16 bytes into a line.
/// Aligning `into` usually aligns the operands too; it pays from a few KiB on.
constexpr std::size_t line_bytes = 64;
constexpr std::size_t worth_aligning_bytes = 4096;

template <Operation operation, class T>
void kernel(const void* left_operand, const void* right_operand, void* result, std::size_t count) {
    const auto* left = static_cast<const Cell<T>*>(left_operand);
    const auto* right = static_cast<const Cell<T>*>(right_operand);
    auto* into = static_cast<Cell<T>*>(result);
    const std::size_t to_line = -reinterpret_cast<std::uintptr_t>(result) % line_bytes;
    if (to_line != 0 && to_line % sizeof(T) == 0 && count >= worth_aligning_bytes / sizeof(T)) {
        const std::size_t head = to_line / sizeof(T);
        combine_range<operation>(left, right, into, head);
        left += head, right += head, into += head, count -= head;
    }
#ifdef __SSE2__
    if constexpr (padding_of<T> == Padding::none && kind_of<T> != Kind::pair) {  // whole lines are written
        const bool aligned = reinterpret_cast<std::uintptr_t>(into) % line_bytes == 0;
        if (aligned && count >= streaming_threshold / sizeof(T) && into != left && into != right) {
            combine_streaming<operation>(left, right, into, count);
            return;
        }
    }
#endif
    if constexpr (padding_of<T> == Padding::at_end) {
        if (count == 0) return;
        --count;
        combine_range<operation>(left, right, into, count);
        combine_last<operation>(left + count, right + count, into + count);
    } else {
        combine_range<operation>(left, right, into, count);
    }
}

}  // namespace
}  // namespace rondo::kernels

#include "rondo/kernels/passes.hpp"

namespace rondo::kernels {
namespace {

// ------------------------------------------------------------------ the table

template <Operation operation, class T>
constexpr Kernel kernel_or_null() {
    if constexpr (is_defined(operation, kind_of<T>)) {
        return &kernel<operation, typename Representation<operation, T>::Type>;
    } else {
        return nullptr;
    }
}

struct Row {
    Kernel kernels[operations];
    PrefixKernels passes[operations];
    std::size_t extent;
};

template <class T, std::size_t... operation>
constexpr Row row_for(std::index_sequence<operation...>) {
    return {{kernel_or_null<static_cast<Operation>(operation), T>()...},
            {passes_or_null<static_cast<Operation>(operation), T>()...},
            sizeof(T)};
}

template <class T>
constexpr Row row = row_for<T>(std::make_index_sequence<operations>());

/// In the order of Element.
constexpr Row table[elements] = {
    row<std::int8_t>,
    row<std::int16_t>,
    row<std::int32_t>,
    row<std::int64_t>,
    row<std::uint8_t>,
    row<std::uint16_t>,
    row<std::uint32_t>,
    row<std::uint64_t>,
    row<float>,
    row<double>,
    row<long double>,
    row<Boolean>,
    row<Byte>,
    row<Complex<float>>,
    row<Complex<double>>,
    row<Complex<long double>>,
    row<Pair<float, int>>,
    row<Pair<double, int>>,
    row<Pair<long, int>>,
    row<Pair<int, int>>,
    row<Pair<short, int>>,
    row<Pair<long double, int>>,
    row<Pair<float, float>>,
    row<Pair<double, double>>,
};

}  // namespace

namespace RONDO_KERNELS_LEVEL {

Kernel find(Operation operation, Element element) noexcept {
    return table[static_cast<std::size_t>(element)].kernels[static_cast<std::size_t>(operation)];
}

PrefixKernels find_prefix(Operation operation, Element element) noexcept {
    return table[static_cast<std::size_t>(element)].passes[static_cast<std::size_t>(operation)];
}

std::size_t extent(Element element) noexcept { return table[static_cast<std::size_t>(element)].extent; }

}  // namespace RONDO_KERNELS_LEVEL
}  // namespace rondo::kernels
