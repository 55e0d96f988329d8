// SPDX-License-Identifier: BSD-3-Clause
// Every predefined operator with every predefined type that MPI 4.1, sections 6.9.2 and 6.9.4, lists for it, as far as
// the MPI library has them. Values are chosen so that every result is exact.
#pragma once

#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "problem.hpp"

template <class T>
T load(const std::byte* element) {
    T value;
    std::memcpy(&value, element, sizeof value);
    return value;
}

template <class T>
void store(std::byte* element, T value) {
    std::memcpy(element, &value, sizeof value);
}

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

#ifdef __SIZEOF_FLOAT128__
using Quadruple = __float128;
#else
using Quadruple = long double;  // aarch64's
#endif

enum class Role { number, logical, bytes };

/// Whether the library knows this operator on this type, and right: Open MPI's maximum of MPI_OFFSET is unsigned, and
/// MPI_REAL16 is not what gfortran means everywhere.
inline bool is_supported(const Problem& problem) {
    for (std::size_t index = 0; index < 20; ++index) {
        alignas(64) std::byte left[64] = {};
        alignas(64) std::byte right[64] = {};
        problem.input(0, index, left);
        problem.input(1, index, right);
        alignas(64) std::byte expected[64] = {};
        std::memcpy(expected, right, sizeof right);
        problem.reduce(left, expected);
        if (MPI_Reduce_local(left, right, 1, problem.type, problem.op) != MPI_SUCCESS) return false;
        if (problem.values(right) != problem.values(expected)) return false;
    }
    return true;
}

/// Few factors of two, so that the product of nine ranks fits into eight bits.
template <class T>
T factor(int rank, std::size_t index) {
    if ((static_cast<std::size_t>(rank) + index) % 5 == 0) return static_cast<T>(2);
    const bool negative = std::numeric_limits<T>::is_signed && noise(rank, index) % 2 == 0;
    return negative ? static_cast<T>(-1) : static_cast<T>(1);
}

template <class T>
T number(MPI_Op op, int rank, std::size_t index) {
    const std::uint64_t random = noise(rank, index);
    if constexpr (IsComplex<T>::value) {
        using Part = typename T::value_type;
        const auto part = [](std::uint64_t bits) { return static_cast<Part>(static_cast<int>(bits % 3) - 1); };
        return op == MPI_PROD ? T(part(1 + random % 2), part(random / 2 % 3))
                              : T(part(random % 3), part(random / 3 % 3));
    } else {
        if (op == MPI_PROD) return factor<T>(rank, index);
        if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return static_cast<T>(random % 3);
        if (op == MPI_BAND) return static_cast<T>(random | (random << 7));
        if (op == MPI_BOR || op == MPI_BXOR) return static_cast<T>(random & (random >> 9));
        const int limit = op == MPI_SUM ? 11 : 121;
        const int value = static_cast<int>(random % limit) - (std::numeric_limits<T>::is_signed ? limit / 2 : 0);
        // Halves, where there are any.
        return std::is_integral_v<T> ? static_cast<T>(value) : static_cast<T>(value) / static_cast<T>(2);
    }
}

template <class T>
T combine(MPI_Op op, T left, T right) {
    if (op == MPI_SUM) return static_cast<T>(left + right);
    if (op == MPI_PROD) return static_cast<T>(left * right);
    if constexpr (!IsComplex<T>::value) {
        if (op == MPI_MAX) return left > right ? left : right;
        if (op == MPI_MIN) return left < right ? left : right;
        if (op == MPI_LAND) return static_cast<T>(left != 0 && right != 0);
        if (op == MPI_LOR) return static_cast<T>(left != 0 || right != 0);
        if (op == MPI_LXOR) return static_cast<T>((left != 0) != (right != 0));
    }
    if constexpr (std::is_integral_v<T>) {
        if (op == MPI_BAND) return static_cast<T>(left & right);
        if (op == MPI_BOR) return static_cast<T>(left | right);
        if (op == MPI_BXOR) return static_cast<T>(left ^ right);
    }
    std::abort();
}

template <class T>
std::vector<double> values_of(const std::byte* element) {
    const T value = load<T>(element);
    if constexpr (IsComplex<T>::value) {
        return {static_cast<double>(value.real()), static_cast<double>(value.imag())};
    } else if constexpr (std::is_integral_v<T>) {
        // A double would round 64 bits.
        const auto bits = static_cast<std::uint64_t>(value);
        return {static_cast<double>(bits >> 32), static_cast<double>(bits & 0xFFFFFFFFU)};
    } else {
        return {static_cast<double>(value)};
    }
}

class PredefinedProblems {
  public:
    std::vector<Problem> all;

    template <class T>
    void add(const std::string& name, MPI_Datatype type, Role role = Role::number) {
        int size = 0;
        if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) != MPI_SUCCESS) return;
        if (size != static_cast<int>(sizeof(T))) return;
        for (const auto& [op_name, op] : ops) {
            const bool is_logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
            if (role == Role::logical && !is_logical) continue;
            const bool is_bitwise = op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
            if (role == Role::bytes && !is_bitwise) continue;
            if ((is_logical || is_bitwise) && !std::is_integral_v<T>) continue;
            if (IsComplex<T>::value && op != MPI_SUM && op != MPI_PROD) continue;
            keep({name + " " + op_name, type, op,
                  [op = op, role](int rank, std::size_t index, std::byte* element) {
                      // A truth value is 0 or 1; integers are tested with other values as well.
                      const T value = number<T>(op, rank, index);
                      store<T>(element, role == Role::logical ? static_cast<T>(value != T{}) : value);
                  },
                  [op = op](const std::byte* left, std::byte* right) {
                      store<T>(right, combine<T>(op, load<T>(left), load<T>(right)));
                  },
                  values_of<T>, sizeof(T) > 8 || IsComplex<T>::value});
        }
    }

    template <class Value, class Index>
    void add_pair(const std::string& name, MPI_Datatype type) {
        struct Pair {
            Value value;
            Index index;
        };
        // A whole struct would carry its padding along.
        const auto store_pair = [](std::byte* element, const Pair& pair) {
            store(element, pair.value);
            store(element + offsetof(Pair, index), pair.index);
        };
        int size = 0;
        if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) != MPI_SUCCESS) return;
        if (size != static_cast<int>(sizeof(Value) + sizeof(Index))) return;
        for (const MPI_Op op : {MPI_MAXLOC, MPI_MINLOC}) {
            keep({name + (op == MPI_MAXLOC ? " MPI_MAXLOC" : " MPI_MINLOC"), type, op,
                  [store_pair](int rank, std::size_t index, std::byte* element) {
                      // Few values, so that ties are common; indices do not grow with the rank.
                      const auto value = static_cast<Value>(noise(rank, index) % 4);
                      store_pair(element, {value, static_cast<Index>(noise(rank, index, 1) % 100)});
                  },
                  [op, store_pair](const std::byte* left, std::byte* right) {
                      const Pair a = load<Pair>(left);
                      Pair b = load<Pair>(right);
                      const bool wins = op == MPI_MAXLOC ? a.value > b.value : a.value < b.value;
                      if (a.value == b.value) b.index = a.index < b.index ? a.index : b.index;
                      store_pair(right, wins ? a : b);
                  },
                  [](const std::byte* element) {
                      const Pair pair = load<Pair>(element);
                      return std::vector<double>{static_cast<double>(pair.value), static_cast<double>(pair.index)};
                  },
                  sizeof(Value) > 8});
        }
    }

  private:
    void keep(const Problem& problem) {
        if (is_supported(problem)) all.push_back(problem);
    }

    const std::vector<std::pair<std::string, MPI_Op>> ops = {
        {"MPI_MAX", MPI_MAX},   {"MPI_MIN", MPI_MIN},  {"MPI_SUM", MPI_SUM},   {"MPI_PROD", MPI_PROD},
        {"MPI_LAND", MPI_LAND}, {"MPI_LOR", MPI_LOR},  {"MPI_LXOR", MPI_LXOR}, {"MPI_BAND", MPI_BAND},
        {"MPI_BOR", MPI_BOR},   {"MPI_BXOR", MPI_BXOR}};
};

/// The types of the tables in MPI 4.1, 6.9.2, and those of section 18 that a library may have.
inline std::vector<Problem> predefined_problems() {
    PredefinedProblems problems;
#define ADD(T, type) problems.add<T>(#type, type);
    ADD(int, MPI_INT)
    ADD(long, MPI_LONG)
    ADD(short, MPI_SHORT)
    ADD(unsigned short, MPI_UNSIGNED_SHORT)
    ADD(unsigned, MPI_UNSIGNED)
    ADD(unsigned long, MPI_UNSIGNED_LONG)
    ADD(long long, MPI_LONG_LONG_INT)
    ADD(unsigned long long, MPI_UNSIGNED_LONG_LONG)
    ADD(signed char, MPI_SIGNED_CHAR)
    ADD(unsigned char, MPI_UNSIGNED_CHAR)
    ADD(std::int8_t, MPI_INT8_T)
    ADD(std::int16_t, MPI_INT16_T)
    ADD(std::int32_t, MPI_INT32_T)
    ADD(std::int64_t, MPI_INT64_T)
    ADD(std::uint8_t, MPI_UINT8_T)
    ADD(std::uint16_t, MPI_UINT16_T)
    ADD(std::uint32_t, MPI_UINT32_T)
    ADD(std::uint64_t, MPI_UINT64_T)
    ADD(MPI_Aint, MPI_AINT)
    ADD(MPI_Offset, MPI_OFFSET)
    ADD(MPI_Count, MPI_COUNT)
    ADD(float, MPI_FLOAT)
    ADD(double, MPI_DOUBLE)
    ADD(long double, MPI_LONG_DOUBLE)
    ADD(std::complex<float>, MPI_C_COMPLEX)
    ADD(std::complex<float>, MPI_C_FLOAT_COMPLEX)
    ADD(std::complex<double>, MPI_C_DOUBLE_COMPLEX)
    ADD(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX)
    ADD(std::complex<float>, MPI_CXX_FLOAT_COMPLEX)
    ADD(std::complex<double>, MPI_CXX_DOUBLE_COMPLEX)
    ADD(std::complex<long double>, MPI_CXX_LONG_DOUBLE_COMPLEX)
    // Fortran's kinds depend on the library's compiler: of several lines for a type at most one has the right size.
    ADD(std::int32_t, MPI_INTEGER)
    ADD(std::int64_t, MPI_INTEGER)
    ADD(std::int8_t, MPI_INTEGER1)
    ADD(std::int16_t, MPI_INTEGER2)
    ADD(std::int32_t, MPI_INTEGER4)
    ADD(std::int64_t, MPI_INTEGER8)
    ADD(float, MPI_REAL)
    ADD(double, MPI_REAL)
    ADD(float, MPI_REAL4)
    ADD(double, MPI_REAL8)
    ADD(Quadruple, MPI_REAL16)
    ADD(double, MPI_DOUBLE_PRECISION)
    ADD(std::complex<float>, MPI_COMPLEX)
    ADD(std::complex<double>, MPI_DOUBLE_COMPLEX)
    ADD(std::complex<float>, MPI_COMPLEX8)
    ADD(std::complex<double>, MPI_COMPLEX16)
#undef ADD
    problems.add<bool>("MPI_C_BOOL", MPI_C_BOOL, Role::logical);
    problems.add<bool>("MPI_CXX_BOOL", MPI_CXX_BOOL, Role::logical);
    problems.add<std::int32_t>("MPI_LOGICAL", MPI_LOGICAL, Role::logical);
    problems.add<unsigned char>("MPI_BYTE", MPI_BYTE, Role::bytes);
    problems.add_pair<float, int>("MPI_FLOAT_INT", MPI_FLOAT_INT);
    problems.add_pair<double, int>("MPI_DOUBLE_INT", MPI_DOUBLE_INT);
    problems.add_pair<long, int>("MPI_LONG_INT", MPI_LONG_INT);
    problems.add_pair<int, int>("MPI_2INT", MPI_2INT);
    problems.add_pair<short, int>("MPI_SHORT_INT", MPI_SHORT_INT);
    problems.add_pair<long double, int>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT);
    problems.add_pair<float, float>("MPI_2REAL", MPI_2REAL);
    problems.add_pair<double, double>("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION);
    problems.add_pair<std::int32_t, std::int32_t>("MPI_2INTEGER", MPI_2INTEGER);
    return problems.all;
}
