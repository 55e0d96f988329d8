// SPDX-License-Identifier: BSD-3-Clause
// The kernels of one instruction set. Included by one small .cpp per level, which names its namespace in
// RONDO_KERNELS_LEVEL and is compiled with that level's flags.
//
// Nothing here may have external linkage except the two functions at the end, whose names contain the level. A function
// template or inline function of a header, the standard library's included, is emitted by every file that uses it, and
// the linker keeps any one of the copies: if it keeps the one compiled for AVX-512, the baseline runs AVX-512 code and
// dies on an older processor. Hence the anonymous namespace, plain loops, and from the standard library only types and
// constants.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "rondo/backends/mpi/kernels.hpp"

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
namespace {

// ------------------------------------------------------------------ how elements are represented

struct Boolean {
    std::uint8_t value;
};

struct Byte {
    std::uint8_t value;
};

template <class Part>
struct Complex {
    Part real;
    Part imaginary;
};

/// MAXLOC and MINLOC elements as the program declares them.
template <class Value, class Index>
struct Pair {
    Value value;
    Index index;
};

/// A pair as two words of equal size, padding included. The compiler vectorises loads and blends of like words; it does
/// not when value and index differ in type.
template <class Word, class Value, class Index>
struct WordPair {
    Word value;
    Word index;
};

/// Element in a user's buffer: of any alignment, and of whatever type the program gave it.
template <class T>
struct [[gnu::packed, gnu::may_alias]] Cell {
    T content;
};

enum class Kind { integer, floating, logical, bits, complex, pair };

template <class T>
constexpr Kind kind_of = std::is_integral_v<T> ? Kind::integer : Kind::floating;
template <>
constexpr Kind kind_of<Boolean> = Kind::logical;
template <>
constexpr Kind kind_of<Byte> = Kind::bits;
template <class Part>
constexpr Kind kind_of<Complex<Part>> = Kind::complex;
template <class Value, class Index>
constexpr Kind kind_of<Pair<Value, Index>> = Kind::pair;

constexpr bool is_logical(Operation operation) {
    return operation == Operation::land || operation == Operation::lor || operation == Operation::lxor;
}
constexpr bool is_bitwise(Operation operation) {
    return operation == Operation::band || operation == Operation::bor || operation == Operation::bxor;
}
constexpr bool is_ordering(Operation operation) { return operation == Operation::max || operation == Operation::min; }
constexpr bool is_arithmetic(Operation operation) {
    return operation == Operation::sum || operation == Operation::prod;
}

/// MPI 4.1, sections 6.9.2 (predefined reduction operations) and 6.9.4 (MINLOC and MAXLOC).
constexpr bool is_defined(Operation operation, Kind kind) {
    switch (kind) {
        case Kind::integer:
            return is_ordering(operation) || is_arithmetic(operation) || is_logical(operation) || is_bitwise(operation);
        case Kind::floating: return is_ordering(operation) || is_arithmetic(operation);
        case Kind::logical: return is_logical(operation);
        case Kind::bits: return is_bitwise(operation);
        case Kind::complex: return is_arithmetic(operation);
        case Kind::pair: return operation == Operation::maxloc || operation == Operation::minloc;
    }
    return false;
}

/// What the loop works on. Where the sign makes no difference integers are unsigned: overflow is then defined, and
/// int32 shares the code of uint32.
template <Operation operation, class T>
struct Representation {
    using Type = T;
};
template <Operation operation, class T>
    requires(kind_of<T> == Kind::integer && !is_ordering(operation))
struct Representation<operation, T> {
    using Type = std::make_unsigned_t<T>;
};
template <Operation operation>
struct Representation<operation, Boolean> {
    using Type = std::uint8_t;
};
template <Operation operation>
struct Representation<operation, Byte> {
    using Type = std::uint8_t;
};
template <Operation operation, class Value, class Index>
    requires(sizeof(Pair<Value, Index>) == 2 * sizeof(std::uint32_t))
struct Representation<operation, Pair<Value, Index>> {
    using Type = WordPair<std::uint32_t, Value, Index>;
};
template <Operation operation, class Value, class Index>
    requires(sizeof(Pair<Value, Index>) == 2 * sizeof(std::uint64_t))
struct Representation<operation, Pair<Value, Index>> {
    using Type = WordPair<std::uint64_t, Value, Index>;
};

// ------------------------------------------------------------------ one element

/// Something that compares like the field of type Field that lies at the lowest address of `word`. A narrow integer is
/// moved to the top of the word and its padding dropped: a shift and a compare of whole words, no narrowing.
template <class Field, class Word>
auto comparable(Word word) {
    if constexpr (sizeof(Field) == sizeof(Word)) {
        return __builtin_bit_cast(Field, word);
    } else {
        constexpr int padding = 8 * (sizeof(Word) - sizeof(Field));
        const auto top = static_cast<Word>(std::endian::native == std::endian::little ? word << padding
                                                                                      : word >> padding << padding);
        return static_cast<std::make_signed_t<Word>>(top);
    }
}

template <Operation operation, class T>
bool precedes(T left, T right) {
    if constexpr (operation == Operation::max || operation == Operation::maxloc) {
        return left > right;
    } else {
        return left < right;
    }
}

/// Whether values are equal, given that `left` does not win by value. Scalar == of floating-point numbers takes a
/// branch for NaN on x86; >= does not.
template <Operation operation, class Value>
bool ties(Value left, Value right) {
    if constexpr (std::is_integral_v<Value>) {
        return left == right;
    } else {
        return operation == Operation::maxloc ? left >= right : left <= right;
    }
}

/// The bits of a word that Field, at its lowest address, takes; the others are padding.
template <class Field, class Word>
constexpr Word bits_of() {
    constexpr int padding = 8 * (sizeof(Word) - sizeof(Field));
    return static_cast<Word>(std::endian::native == std::endian::little ? ~Word{0} >> padding : ~Word{0} << padding);
}

/// `left` wins by value or, between equal values, by the smaller index. No && and ||: they are branches.
template <Operation operation, class Value, class Index>
bool wins(Value left, Value right, Index left_index, Index right_index) {
    return precedes<operation>(left, right) | (ties<operation>(left, right) & (left_index < right_index));
}

template <Operation operation, class Word, class Value, class Index>
WordPair<Word, Value, Index> combine(WordPair<Word, Value, Index> left, WordPair<Word, Value, Index> right) {
    const bool take_left = wins<operation>(comparable<Value>(left.value), comparable<Value>(right.value),
                                           comparable<Index>(left.index), comparable<Index>(right.index));
    // Not ?: because without vectors that may be a branch, which random data mispredicts.
    const Word mask = -static_cast<Word>(take_left);
    return {right.value ^ ((left.value ^ right.value) & mask), right.index ^ ((left.index ^ right.index) & mask)};
}

/// `word`, of which the compiler knows nothing. Otherwise it simplifies the blend of the word without padding, and to
/// vectorise two words that are treated differently it shuffles both.
template <class Word>
Word opaque(Word word) {
    __asm__("" : "+r"(word));
    return word;
}

/// The bits of a pair that are not padding.
template <class Word, class Value, class Index>
WordPair<Word, Value, Index> fields_of(WordPair<Word, Value, Index> /*pair*/) {
    return {opaque(bits_of<Value, Word>()), opaque(bits_of<Index, Word>())};
}

/// `old` with the bits in `fields` replaced by those of `result`.
template <class T>
T blend(T old, T result, T fields) {
    return {old.value ^ ((old.value ^ result.value) & fields.value),
            old.index ^ ((old.index ^ result.index) & fields.index)};
}

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

template <Operation operation, class Part>
Complex<Part> combine(Complex<Part> left, Complex<Part> right) {
    if constexpr (operation == Operation::sum) {
        return {left.real + right.real, left.imaginary + right.imaginary};
    } else {
        return {rounded(left.real * right.real) - rounded(left.imaginary * right.imaginary),
                rounded(left.real * right.imaginary) + rounded(left.imaginary * right.real)};
    }
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

/// What lies in the padding is none of our business: another member of the user's struct, perhaps.
enum class Padding { none, inside, at_end };

template <class T>
constexpr Padding padding_of = Padding::none;
template <class Word, class Value, class Index>
constexpr Padding padding_of<WordPair<Word, Value, Index>> = sizeof(Index) < sizeof(Word)   ? Padding::at_end
                                                             : sizeof(Value) < sizeof(Word) ? Padding::inside
                                                                                            : Padding::none;

/// Field by field: padding is neither read nor written.
template <Operation operation, class Value, class Index>
void combine_fields(const Cell<Pair<Value, Index>>& left, const Cell<Pair<Value, Index>>& right,
                    Cell<Pair<Value, Index>>& into) {
    const Value left_value = left.content.value, right_value = right.content.value;
    const Index left_index = left.content.index, right_index = right.content.index;
    const bool take_left = wins<operation>(left_value, right_value, left_index, right_index);
    into.content.value = take_left ? left_value : right_value;
    into.content.index = take_left ? left_index : right_index;
}

template <Operation operation, class T>
[[gnu::noinline]] void combine_range(const Cell<T>* left, const Cell<T>* right, Cell<T>* into, std::size_t count) {
    RONDO_INDEPENDENT_ITERATIONS
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (kind_of<T> == Kind::pair) {
            combine_fields<operation>(left[i], right[i], into[i]);
        } else {
            into[i].content = combine<operation>(left[i].content, right[i].content);
        }
    }
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

/// Padding that ends the last element may end the memory as well.
template <Operation operation, class Word, class Value, class Index>
void combine_last(const Cell<WordPair<Word, Value, Index>>* left, const Cell<WordPair<Word, Value, Index>>* right,
                  Cell<WordPair<Word, Value, Index>>* into) {
    using Fields = Cell<Pair<Value, Index>>;
    combine_fields<operation>(*reinterpret_cast<const Fields*>(left), *reinterpret_cast<const Fields*>(right),
                              *reinterpret_cast<Fields*>(into));
}

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
    if constexpr (padding_of<T> == Padding::at_end) {
        if (count == 0) return;
        --count;
        combine_range<operation>(left, right, into, count);
        combine_last<operation>(left + count, right + count, into + count);
    } else {
        combine_range<operation>(left, right, into, count);
    }
}

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
    std::size_t extent;
};

template <class T, std::size_t... operation>
constexpr Row row_for(std::index_sequence<operation...>) {
    return {{kernel_or_null<static_cast<Operation>(operation), T>()...}, sizeof(T)};
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

std::size_t extent(Element element) noexcept { return table[static_cast<std::size_t>(element)].extent; }

}  // namespace RONDO_KERNELS_LEVEL
}  // namespace rondo::kernels
