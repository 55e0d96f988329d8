// SPDX-License-Identifier: BSD-3-Clause
// All collectives and their algorithms, by name.
#pragma once

#include <span>
#include <string_view>

#include "rondo/core/algorithm_info.hpp"

namespace rondo {

/// What a call has besides its vector.
struct Traits {
    bool root;
    bool operation;  ///< false: data are moved, nothing is combined
};

struct Collective {
    std::string_view name;
    std::string_view summary;
    std::span<const AlgorithmInfo* const> algorithms;
    Traits has;

    [[nodiscard]] const AlgorithmInfo* algorithm(std::string_view algorithm_name) const;
};

/// In alphabetical order.
std::span<const Collective> collectives();

/// nullptr for an unknown name.
const Collective* find_collective(std::string_view name);

}  // namespace rondo
