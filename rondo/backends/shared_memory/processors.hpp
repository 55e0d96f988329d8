// SPDX-License-Identifier: BSD-3-Clause
// What a process may compute on. Who polls memory keeps a processor busy.
#pragma once

#include <sched.h>

#include <string>

namespace rondo::shared_memory {

/// Those that this process may run on; none if the system does not say.
cpu_set_t own_processors();

/// How many at once, on average, the control groups of this process allow (cpu.max of version 2): the least of all
/// groups around it, rounded down. INT_MAX if they allow all. `root`: of the file system.
int processors_allowed(const std::string& root = "");

}  // namespace rondo::shared_memory
