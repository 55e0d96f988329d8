// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/processors.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace rondo::shared_memory {
namespace {

constexpr int all = std::numeric_limits<int>::max();

/// cgroups(7): "0::/user.slice/job", behind lines of version 1. Empty for the uppermost group.
std::string own_group(const std::string& root) {
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("0::/")) return line == "0::/" ? "" : line.substr(3);
    }
    return "";
}

/// "200000 100000": so many microseconds of every so many; or "max 100000".
int allowed_by(const std::string& limit) {
    std::ifstream file(limit);
    long long quota = 0, period = 0;
    if (!(file >> quota >> period) || quota < 0 || period <= 0) return all;
    return static_cast<int>(std::min<long long>(quota / period, all));
}

}  // namespace

cpu_set_t own_processors() {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    if (::sched_getaffinity(0, sizeof processors, &processors) != 0) CPU_ZERO(&processors);
    return processors;
}

/// In a container the group may have a name that is not to be seen there: then what is found above it counts.
int processors_allowed(const std::string& root) {
    const std::string groups = root + "/sys/fs/cgroup";
    int least = all;
    for (std::string group = own_group(root);; group.resize(group.rfind('/'))) {
        least = std::min(least, allowed_by(std::string(groups).append(group).append("/cpu.max")));
        if (group.empty()) return least;
    }
}

}  // namespace rondo::shared_memory
