// SPDX-License-Identifier: BSD-3-Clause
// What messages cost on this machine, where the user has not said so: the first job on several nodes measures it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rondo/selection/machine.hpp"

namespace rondo::interposer {

/// The figures that a job has measured between two nodes with this MPI library. If there are none, and it may, this one
/// measures them where it has several nodes. They are kept in the directory, as a machine file, and are never measured
/// again: choices depend on them, and so do the last bits of sums. So nothing is measured that cannot be kept.
/// Communicates: called in MPI_Init, on all ranks, after it is known where they are. The answer is equal on all.
std::optional<Machine> measured_machine(const std::string& directory, std::string_view library_version,
                                        bool may_measure);

}  // namespace rondo::interposer
