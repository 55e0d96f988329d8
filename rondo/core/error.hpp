// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace rondo {

/// The one exception of the library. Its text says what was wrong, where, and what to do; it is converted once, at the
/// boundary to C, Python or the program.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& what) : std::runtime_error(what) {}
};

}  // namespace rondo
