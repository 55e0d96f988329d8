// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/boot_id.hpp"

#include <unistd.h>

#include <fstream>

namespace rondo {

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string line;
    std::getline(file, line);
    return line;
}

std::string machine_identity() {
    std::string identity = boot_id();
    char host[256] = "";
    if (identity.empty() && ::gethostname(host, sizeof host - 1) == 0) identity = host;
    return identity;
}

}  // namespace rondo
