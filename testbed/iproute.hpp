// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace rondo::testbed {

/// Path of the program ip of iproute2. Throws Failure if there is none.
std::string find_ip();

/// Has one `ip` run commands, one a line, in the calling process's network namespace. Throws Failure with its first
/// complaint.
void run_ip(const std::string& commands);

}  // namespace rondo::testbed
