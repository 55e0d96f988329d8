// SPDX-License-Identifier: BSD-3-Clause
// MAXLOC and MINLOC: pairs as words that vectorise, and padding that stays as it was. A part of level.hpp, whose
// rule about linkage holds here.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "rondo/kernels/elements.hpp"

namespace rondo::kernels {
namespace {

/// A pair as two words of equal size, padding included. The compiler vectorises loads and blends of like words; it does
/// not when value and index differ in type.
template <class Word, class Value, class Index>
struct WordPair {
    Word value;
    Word index;
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
    const bool is_before = precedes<operation>(left, right);
    const bool is_tied = ties<operation>(left, right);
    return is_before | (is_tied & (left_index < right_index));
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

/// Padding that ends the last element may end the memory as well.
template <Operation operation, class Word, class Value, class Index>
void combine_last(const Cell<WordPair<Word, Value, Index>>* left, const Cell<WordPair<Word, Value, Index>>* right,
                  Cell<WordPair<Word, Value, Index>>* into) {
    using Fields = Cell<Pair<Value, Index>>;
    combine_fields<operation>(*reinterpret_cast<const Fields*>(left), *reinterpret_cast<const Fields*>(right),
                              *reinterpret_cast<Fields*>(into));
}

}  // namespace
}  // namespace rondo::kernels
