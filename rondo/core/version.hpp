// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace rondo {

/// The version of Rondo, as in "1.0.0".
extern const char* const version;

}  // namespace rondo
