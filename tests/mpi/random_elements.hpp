// SPDX-License-Identifier: BSD-3-Clause
// What random programs draw from: numbers, types of elements, and operators whose results do not depend on the order of
// rounding, for all values are small integers.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace random_programs {

/// Random numbers, equal on all ranks that begin alike.
class Draw {
  public:
    explicit Draw(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
    int below(int bound) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(bound));
    }
    bool one_in(int number) { return below(number) == 0; }
    template <class All>
    auto& any_of(All& all) {
        return all[static_cast<std::size_t>(below(static_cast<int>(std::size(all))))];
    }

  private:
    std::uint64_t state_;
};

/// Most words of an element.
inline constexpr int most_words = 3;
using Words = std::array<int, most_words>;

enum class Word { signed_char, short_int, int_number, long_int, float_number, double_number };

/// How an element lies in memory: words of one type, each `step` bytes after the one before.
struct Layout {
    const char* name;
    Word word;
    int words, step, extent;
    MPI_Datatype predefined;  // MPI_DATATYPE_NULL if the program has to make the type

    [[nodiscard]] bool is_own() const { return predefined == MPI_DATATYPE_NULL; }
    [[nodiscard]] bool is_float() const { return word == Word::float_number || word == Word::double_number; }
};

/// The types of elements. MPI knows their handles only when the program runs.
inline const std::array<Layout, 9>& layouts() {
    static const std::array<Layout, 9> all{{{"char", Word::signed_char, 1, 1, 1, MPI_SIGNED_CHAR},
                                            {"short", Word::short_int, 1, 2, 2, MPI_SHORT},
                                            {"int", Word::int_number, 1, 4, 4, MPI_INT},
                                            {"long", Word::long_int, 1, 8, 8, MPI_LONG},
                                            {"float", Word::float_number, 1, 4, 4, MPI_FLOAT},
                                            {"double", Word::double_number, 1, 8, 8, MPI_DOUBLE},
                                            {"two ints", Word::int_number, 2, 4, 8, MPI_2INT},
                                            {"own pair", Word::int_number, 2, 4, 8, MPI_DATATYPE_NULL},
                                            {"own gaps", Word::short_int, 3, 4, 12, MPI_DATATYPE_NULL}}};
    return all;
}
inline constexpr std::size_t two_ints = 6, own_pair = 7, own_gaps = 8;

template <class Type>
void put_as(void* place, int value) {
    const auto typed = static_cast<Type>(value);
    std::memcpy(place, &typed, sizeof typed);
}
template <class Type>
int get_as(const void* place) {
    Type typed;
    std::memcpy(&typed, place, sizeof typed);
    return static_cast<int>(typed);
}

inline void put(const Layout& layout, std::byte* element, const Words& values) {
    for (int word = 0; word < layout.words; ++word, element += layout.step) {
        const int value = values[static_cast<std::size_t>(word)];
        switch (layout.word) {
            case Word::signed_char: put_as<signed char>(element, value); break;
            case Word::short_int: put_as<short>(element, value); break;
            case Word::int_number: put_as<int>(element, value); break;
            case Word::long_int: put_as<long>(element, value); break;
            case Word::float_number: put_as<float>(element, value); break;
            case Word::double_number: put_as<double>(element, value); break;
        }
    }
}

inline Words get(const Layout& layout, const std::byte* element) {
    Words values{};
    for (int word = 0; word < layout.words; ++word, element += layout.step) {
        int& value = values[static_cast<std::size_t>(word)];
        switch (layout.word) {
            case Word::signed_char: value = get_as<signed char>(element); break;
            case Word::short_int: value = get_as<short>(element); break;
            case Word::int_number: value = get_as<int>(element); break;
            case Word::long_int: value = get_as<long>(element); break;
            case Word::float_number: value = get_as<float>(element); break;
            case Word::double_number: value = get_as<double>(element); break;
        }
    }
    return values;
}

/// A datatype for elements of a layout, which has to be freed if the layout is one's own. `repeated`: so many of them.
inline MPI_Datatype make_type(const Layout& layout, int repeated = 1) {
    if (repeated == 1 && !layout.is_own()) return layout.predefined;
    MPI_Datatype made = layout.predefined, one;
    if (&layout == &layouts()[own_pair]) {
        MPI_Type_contiguous(2, MPI_INT, &made);
    } else if (&layout == &layouts()[own_gaps]) {
        MPI_Type_vector(layout.words, 1, 2, MPI_SHORT, &one);
        MPI_Type_create_resized(one, 0, layout.extent, &made);
        MPI_Type_free(&one);
    }
    if (repeated != 1) {
        one = made;
        MPI_Type_contiguous(repeated, one, &made);
        if (layout.is_own()) MPI_Type_free(&one);
    }
    MPI_Type_commit(&made);
    return made;
}

enum class Operator { sum, product, maximum, minimum, bits_xor, bits_and, maximum_place, own_sum, own_maps };

inline constexpr int map_modulus = 8191;

/// Combines what an earlier rank has with what a later one has.
inline Words combine(Operator op, const Words& earlier, const Words& later) {
    if (op == Operator::own_maps)  // x -> a x + b, the earlier one first
        return {earlier[0] * later[0] % map_modulus, (earlier[1] * later[0] + later[1]) % map_modulus};
    if (op == Operator::maximum_place) {
        if (earlier[0] != later[0]) return earlier[0] > later[0] ? earlier : later;
        return {earlier[0], std::min(earlier[1], later[1])};
    }
    Words result{};
    for (std::size_t word = 0; word < most_words; ++word) {
        const int a = earlier[word], b = later[word];
        switch (op) {
            case Operator::product: result[word] = a * b; break;
            case Operator::maximum: result[word] = std::max(a, b); break;
            case Operator::minimum: result[word] = std::min(a, b); break;
            case Operator::bits_xor: result[word] = a ^ b; break;
            case Operator::bits_and: result[word] = a & b; break;
            default: result[word] = a + b;
        }
    }
    return result;
}

/// An operator of the program. It reads nothing of the datatype, which the program may have freed.
template <Operator op, std::size_t layout>
void own_function(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
    const Layout& elements = layouts()[layout];
    auto* earlier = static_cast<std::byte*>(in);
    auto* later = static_cast<std::byte*>(inout);
    for (int i = 0; i < *count; ++i, earlier += elements.extent, later += elements.extent)
        put(elements, later, combine(op, get(elements, earlier), get(elements, later)));
}

inline bool is_own(Operator op) { return op == Operator::own_sum || op == Operator::own_maps; }

/// The operator for elements of a layout, which has to be freed if it is one's own.
inline MPI_Op make_operator(Operator op, const Layout& layout) {
    MPI_Op made = MPI_OP_NULL;
    switch (op) {
        case Operator::sum: return MPI_SUM;
        case Operator::product: return MPI_PROD;
        case Operator::maximum: return MPI_MAX;
        case Operator::minimum: return MPI_MIN;
        case Operator::bits_xor: return MPI_BXOR;
        case Operator::bits_and: return MPI_BAND;
        case Operator::maximum_place: return MPI_MAXLOC;
        case Operator::own_maps: MPI_Op_create(own_function<Operator::own_maps, own_pair>, 0, &made); break;
        case Operator::own_sum:
            static constexpr std::array<MPI_User_function*, 9> of_layout{
                own_function<Operator::own_sum, 0>, own_function<Operator::own_sum, 1>,
                own_function<Operator::own_sum, 2>, own_function<Operator::own_sum, 3>,
                own_function<Operator::own_sum, 4>, own_function<Operator::own_sum, 5>,
                own_function<Operator::own_sum, 6>, own_function<Operator::own_sum, 7>,
                own_function<Operator::own_sum, 8>};
            MPI_Op_create(of_layout[static_cast<std::size_t>(&layout - layouts().data())], 1, &made);
            break;
    }
    return made;
}

/// An operator that elements of a layout may have.
inline Operator draw_operator(Draw& draw, const Layout& layout) {
    const auto index = static_cast<std::size_t>(&layout - layouts().data());
    if (index == own_pair && draw.one_in(2)) return Operator::own_maps;
    if (index == own_gaps || index == own_pair || draw.one_in(5)) return Operator::own_sum;
    if (index == two_ints) return Operator::maximum_place;
    static constexpr std::array all{Operator::sum,     Operator::product,  Operator::maximum,
                                    Operator::minimum, Operator::bits_xor, Operator::bits_and};
    return all[static_cast<std::size_t>(draw.below(layout.is_float() ? 4 : 6))];
}

/// What a word of an element holds before it is combined with those of other ranks, by an operator or by none.
inline int limited(const Operator* op, std::uint64_t noise) {
    if (op == nullptr) return static_cast<int>(noise % 121);
    switch (*op) {
        case Operator::sum:
        case Operator::own_sum: return static_cast<int>(noise % 15);  // up to eight ranks, in a signed char
        case Operator::product: return 1 + static_cast<int>(noise % 8 == 0);
        case Operator::own_maps: return static_cast<int>(noise % map_modulus);
        default: return static_cast<int>(noise % 121);
    }
}

}  // namespace random_programs
