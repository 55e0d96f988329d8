// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/core/algorithm_info.hpp"
#include "rondo/topology/trees.hpp"

namespace rondo {

inline constexpr Parameter tree_shape_parameter = {
    .name = "tree",
    .summary = "0: balanced; 1: Fibonacci, the child that is served first has the larger subtree",
    .minimum = 0,
    .maximum = 1,
    .standard = 0,
};

inline topology::TreeShape tree_shape(const Call& call) {
    return static_cast<topology::TreeShape>(call.setting(tree_shape_parameter.name));
}

}  // namespace rondo
