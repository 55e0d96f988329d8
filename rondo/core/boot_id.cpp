// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/boot_id.hpp"

#include <fstream>

namespace rondo {

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace rondo
