// SPDX-License-Identifier: BSD-3-Clause
// Predefined operator x predefined datatype, with three operands and without MPI: into = left (+) right.
//
// Every instruction set gives the same bits (NaN payloads apart), so that ranks on different processors agree. Signed
// integers wrap around. A product of complex numbers is the textbook formula, never contracted, hence commutative to
// the last bit. max, min, maxloc and minloc yield `left` only where it compares as winner: whenever an operand is NaN
// they yield `right`, and so do max and min of +0 and -0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::kernels {

enum class Operation : std::uint8_t { max, min, sum, prod, land, band, lor, bor, lxor, bxor, maxloc, minloc };

inline constexpr std::size_t operations = 12;

/// How an element lies in memory. The last eight are the C structs {value, index} with their natural padding,
/// which kernels preserve.
enum class Element : std::uint8_t {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    long_double,
    boolean,  ///< C _Bool: any byte but 0 is true; results are 0 or 1
    byte,     ///< bitwise operators only
    complex64,
    complex128,
    complex_long_double,
    float_int,
    double_int,
    long_int,
    int_int,  ///< MPI_2INT and MPI_2INTEGER
    short_int,
    long_double_int,
    float_float,    ///< MPI_2REAL: the index is a float as well
    double_double,  ///< MPI_2DOUBLE_PRECISION
};

inline constexpr std::size_t elements = 24;

/// Each level contains the levels before it.
enum class InstructionSet : std::uint8_t { baseline, avx2, avx512 };

inline constexpr std::size_t instruction_sets = 3;

/// into[i] = left[i] (+) right[i] for i in [0, count); the left operand is the one of the lower rank. `into` may be
/// exactly `left`, exactly `right`, or disjoint from both; partial overlap is not allowed. No pointer needs alignment.
/// Nothing outside into[0, count) changes, nor does the padding of the pairs in `into`: a user may keep another member
/// there. It may be read and written with the value it had, except that nothing after the index of the last element is
/// touched in any operand. (The sixteen bytes of an x86 long double are all its own.)
using Kernel = void (*)(const void* left, const void* right, void* into, std::size_t count);

/// The fastest kernel for this processor; nullptr where MPI does not define the operator on the type (MPI 4.1, sections
/// 6.9.2 and 6.9.4).
[[nodiscard]] Kernel find(Operation operation, Element element) noexcept;

/// The kernel of one level; nullptr also where the processor, or this build, lacks the level.
[[nodiscard]] Kernel find(Operation operation, Element element, InstructionSet level) noexcept;

/// From how many bytes on a result in a third buffer goes past the caches, which could not keep three such operands.
[[nodiscard]] std::size_t streaming_bytes() noexcept;

/// Another number, for tests and measurements. Not while a kernel runs.
void set_streaming_bytes(std::size_t bytes) noexcept;

/// Bytes from one element to the next.
[[nodiscard]] std::size_t extent(Element element) noexcept;

/// What find() dispatches to on this processor: "avx512", "avx2" or "baseline".
[[nodiscard]] const char* instruction_set() noexcept;

}  // namespace rondo::kernels
