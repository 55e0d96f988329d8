// SPDX-License-Identifier: BSD-3-Clause
// How the kernels represent elements, and which operations MPI defines on them. A part of level.hpp, whose rule
// about linkage holds here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "rondo/kernels/kernels.hpp"

namespace rondo::kernels {
namespace {

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
template <Operation operation, class T>
bool precedes(T left, T right) {
    if constexpr (operation == Operation::max || operation == Operation::maxloc) {
        return left > right;
    } else {
        return left < right;
    }
}

}  // namespace
}  // namespace rondo::kernels
