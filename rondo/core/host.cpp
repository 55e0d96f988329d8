// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/host.hpp"

#include <unistd.h>

#include <fstream>

namespace rondo {

std::string host_name() {
    char host[256] = "";
    ::gethostname(host, sizeof host - 1);
    return host;
}

std::string boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string line;
    std::getline(file, line);
    return line;
}

std::string machine_identity() {
    std::string identity = boot_id();
    return identity.empty() ? host_name() : identity;
}

}  // namespace rondo
