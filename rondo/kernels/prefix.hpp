// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums of an array in memory, by a predefined operator, without MPI: passes over elements that lie one behind
// the other.
//
// How sums are associated is part of the contract, so that floating-point results have the same bits on every processor
// and whichever passes are made. The array is cut into blocks of `prefix_block` elements. In a block, elements are
// added one after the other: x_0 = v_0, x_j = x_{j-1} (+) v_j. The local sum is s_i = S (+) x_j, where S is the local
// sum up to the block. What the elements before the array come to, the prefix, is put in front of that: prefix (+) s_i.
// (Signed integers wrap around, as in kernels.hpp.)
#pragma once

#include <cstddef>

#include "rondo/kernels/kernels.hpp"

namespace rondo::kernels {

inline constexpr std::size_t prefix_block = 8;

/// How a pass that writes goes on. It takes the array in pieces: each but the last has a multiple of `prefix_block`
/// elements.
struct PrefixPass {
    void* sum;           ///< one element: the local sum so far, before and after the pass
    bool any;            ///< elements came before this piece: `sum` means something before the pass
    const void* prefix;  ///< one element that comes before the array; nullptr: none
    bool exclusive;      ///< element i gets the sum without its own value; the very first of all stays as it is
    bool past_caches;    ///< the array is longer than what caches keep; ignored where it is written in place
};

/// sum = sum (+) all elements; without `any`, what stands in `sum` means nothing before.
using ReducePass = void (*)(const void* from, std::size_t count, void* sum, bool any);
/// Writes the prefix sums of `count` elements to `into`, which is `from` or disjoint from it.
using ScanPass = void (*)(const void* from, void* into, std::size_t count, const PrefixPass& pass);

struct PrefixKernels {
    ReducePass reduce = nullptr;
    ScanPass scan = nullptr;
};

/// The passes for this processor. Null pointers where elements are not numbers or the operator is no sum, product,
/// minimum or maximum: then the kernels of kernels.hpp do it, one element at a time.
[[nodiscard]] PrefixKernels find_prefix(Operation operation, Element element) noexcept;

/// Those of one level; null also where the processor, or this build, lacks the level.
[[nodiscard]] PrefixKernels find_prefix(Operation operation, Element element, InstructionSet level) noexcept;

/// Writes the element that changes no other (0 for a sum, the lowest number for a maximum). False if there is none that
/// is known: for maxloc and minloc.
bool put_identity(Operation operation, Element element, void* into) noexcept;

}  // namespace rondo::kernels
