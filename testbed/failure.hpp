// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace rondo::testbed {

/// What the user reads, in one line: what was wrong and what to do. Ends the program with exit code 1.
class Failure : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The failure of a system call that has just set errno.
inline Failure system_failure(const std::string& what) { return Failure(what + ": " + std::strerror(errno)); }

}  // namespace rondo::testbed
