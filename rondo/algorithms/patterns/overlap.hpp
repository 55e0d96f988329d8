// SPDX-License-Identifier: BSD-3-Clause
// When full-lane algorithms that move parts let nodes and lanes work at once: for one node after the other, so that
// one hands on what the other has brought. That takes more messages, which long ones pay for.
#pragma once

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/call.hpp"

namespace rondo {

inline constexpr Parameter overlap_parameter = {
    .name = "overlap",
    .summary = "bytes of a message inside a node from which on nodes and lanes work at once",
    .minimum = 1,
    .maximum = Count{1} << 40,
    .standard = Count{8} << 10,
    .unit = Unit::bytes,
};

/// Has a rank so much to hand on inside a node for each other node, in the mean? Of a vector that has to cross it.
[[nodiscard]] inline bool overlaps(const Call& call) {
    return call.facts().bytes() >= call.setting(overlap_parameter.name) * call.nodes() * call.lanes();
}

}  // namespace rondo
