// SPDX-License-Identifier: BSD-3-Clause
// How a collective's header lists its algorithms: one line each, from which everything else follows.
#pragma once

#include "rondo/core/algorithm_info.hpp"

// For each `name`: the schedule `name(call)`, for composition, and its description `name_info`.
#define RONDO_DECLARE_ALGORITHM(name) \
    Schedule name(const Call& call);  \
    extern const AlgorithmInfo name##_info;

#define RONDO_ALGORITHM_ADDRESS(name) &name##_info,
