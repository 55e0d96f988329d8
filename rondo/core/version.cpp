// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/version.hpp"

namespace rondo {

const char* const version = RONDO_VERSION;

}  // namespace rondo
