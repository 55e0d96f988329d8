// SPDX-License-Identifier: BSD-3-Clause
// The plans of this process, shared by all communicators that are alike.
#pragma once

#include <cstddef>
#include <memory>

#include "rondo/core/plan.hpp"

namespace rondo::mpi {

/// The plan of an algorithm for this call, which is kept for the next such call, on whichever communicator. The least
/// recently used plans are forgotten where all together would take more memory than `limit_plan_memory` says; whoever
/// still holds one keeps it alive. Throws std::bad_alloc, or Error by the algorithm.
std::shared_ptr<const Plan> plan_of(const Call& call, const AlgorithmInfo& algorithm,
                                    std::span<const Setting> settings);

/// Limits the bytes of all plans that are kept. The last one that was made is always among them.
void limit_plan_memory(std::size_t bytes);

}  // namespace rondo::mpi
