// SPDX-License-Identifier: BSD-3-Clause
// Schedules in files, as other tools write them: MSCCL's XML.
#pragma once

#include <string>
#include <string_view>

#include "rondo/core/algorithm_info.hpp"
#include "rondo/written/msccl.hpp"

namespace rondo {

/// The algorithm in a file, called "file:<path>". Throws Error: "<path>: what was wrong". Whether it keeps the promise
/// of its collective is not looked at: see written_proof.hpp.
const AlgorithmInfo& written_algorithm(std::string_view path);

/// What stands in the file. Throws Error as `written_algorithm`.
written::MscclProgram written_program(const std::string& path);

}  // namespace rondo
