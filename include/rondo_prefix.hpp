// SPDX-License-Identifier: BSD-3-Clause
// rondo_prefix.h for C++20: prefix sums of spans of numbers. What it is linked with, and what all arguments mean, is
// said there.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <type_traits>

#include "rondo_prefix.h"

namespace rondo {

enum class Prefix : bool {
    inclusive,
    exclusive,  ///< without the element itself
};

/// What MPI calls a number of C++.
template <class T>
MPI_Datatype datatype_of() {
    static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<float>> ||
                      std::is_same_v<T, std::complex<double>> || std::is_same_v<T, std::complex<long double>>,
                  "numbers only; for other elements there is rondo_prefix of rondo_prefix.h");
    if constexpr (std::is_same_v<T, bool>) return MPI_C_BOOL;
    else if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
    else if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
    else if constexpr (std::is_same_v<T, long double>) return MPI_LONG_DOUBLE;
    else if constexpr (std::is_same_v<T, std::complex<float>>) return MPI_C_FLOAT_COMPLEX;
    else if constexpr (std::is_same_v<T, std::complex<double>>) return MPI_C_DOUBLE_COMPLEX;
    else if constexpr (std::is_same_v<T, std::complex<long double>>) return MPI_C_LONG_DOUBLE_COMPLEX;
    else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? MPI_INT8_T : MPI_UINT8_T;
    else if constexpr (sizeof(T) == 2) return std::is_signed_v<T> ? MPI_INT16_T : MPI_UINT16_T;
    else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? MPI_INT32_T : MPI_UINT32_T;
    else return std::is_signed_v<T> ? MPI_INT64_T : MPI_UINT64_T;
}

/// The prefix sums of an array that lies distributed over the ranks of `comm`: `in` is this rank's part, of any length,
/// `out` as long, the same memory or apart from it. Returns an MPI error code, after the error handler of `comm`; this
/// rank has an error (MPI_ERR_COUNT), and takes part, if `out` is not as long as `in`.
template <class T>
int prefix(std::span<const T> in, std::span<T> out, MPI_Op op = MPI_SUM, Prefix kind = Prefix::inclusive,
           MPI_Comm comm = MPI_COMM_WORLD) {
    const MPI_Count count = in.size() == out.size() ? static_cast<MPI_Count>(in.size()) : -1;
    return rondo_prefix(in.data(), out.data(), count, datatype_of<T>(), op, kind == Prefix::exclusive, comm);
}

/// In place.
template <class T>
int prefix(std::span<T> inout, MPI_Op op = MPI_SUM, Prefix kind = Prefix::inclusive, MPI_Comm comm = MPI_COMM_WORLD) {
    return prefix(std::span<const T>(inout), inout, op, kind, comm);
}

/// The same, and in `total`, on every rank, the sum of all elements of all ranks. It has a name of its own because an
/// MPI_Op may be an int.
template <class T>
int prefix_total(std::span<const T> in, std::span<T> out, T& total, MPI_Op op = MPI_SUM,
                 Prefix kind = Prefix::inclusive, MPI_Comm comm = MPI_COMM_WORLD) {
    const MPI_Count count = in.size() == out.size() ? static_cast<MPI_Count>(in.size()) : -1;
    return rondo_prefix_total(in.data(), out.data(), &total, count, datatype_of<T>(), op, kind == Prefix::exclusive,
                              comm);
}

}  // namespace rondo
