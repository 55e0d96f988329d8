// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/memory.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <sstream>

#include "testbed/failure.hpp"
#include "testbed/files.hpp"
#include "testbed/ring.hpp"

namespace rondo::testbed {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::string text_of(const std::string& path) {
    try {
        return read_file(path);
    } catch (const Failure&) {
        return "";
    }
}

/// The number behind a word: in a file of lines "word number", or the file's only one.
std::optional<std::uint64_t> number_in(const std::string& text, const std::string& word = "") {
    std::istringstream words(text);
    for (std::string each; !word.empty() && each != word;) {
        if (!(words >> each)) return std::nullopt;
    }
    std::uint64_t number = 0;
    if (!(words >> number)) return std::nullopt;  // "max"
    return number;
}

/// Names of a control group's files, which differ between the versions.
struct GroupFiles {
    const char *limit, *used, *reclaimable;
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file"};

std::uint64_t left_in(const std::string& group, const GroupFiles& files) {
    const auto limit = number_in(text_of(group + "/" + files.limit));
    const auto used = number_in(text_of(group + "/" + files.used));
    if (!limit || !used) return unlimited;
    const std::uint64_t files_kept = number_in(text_of(group + "/memory.stat"), files.reclaimable).value_or(0);
    const std::uint64_t taken = *used - std::min(files_kept, *used);
    return *limit - std::min(taken, *limit);
}

/// A group's limit and those of all above it. In a container the path may be that outside: then only the top is there.
std::uint64_t left_below(const std::string& top, std::string path, const GroupFiles& files) {
    std::uint64_t left = left_in(top, files);
    for (; path.size() > 1; path.resize(path.rfind('/'))) left = std::min(left, left_in(top + path, files));
    return left;
}

}  // namespace

std::uint64_t memory_left(const std::string& root) {
    std::uint64_t left = unlimited;
    if (const auto kibibytes = number_in(text_of(root + "/proc/meminfo"), "MemAvailable:")) left = *kibibytes << 10U;
    std::istringstream groups(text_of(root + "/proc/self/cgroup"));  // lines "number:controllers:path"
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
        if (controllers.empty()) left = std::min(left, left_below(root + "/sys/fs/cgroup", path, version_2));
        if (controllers == "memory") left = std::min(left, left_below(root + "/sys/fs/cgroup/memory", path, version_1));
    }
    return left;
}

std::string memory_text(std::uint64_t bytes) {
    return std::to_string((bytes >> 20U) + ((bytes & 0xFFFFFU) != 0 ? 1 : 0)) + " MiB";
}

void require_memory(const Shape& shape, std::uint64_t left) {
    const std::uint64_t needed = ring_bytes(shape);
    if (needed <= left) return;
    throw Failure("a cluster of " + std::to_string(shape.nodes) + " nodes takes " + memory_text(needed) +
                  " of memory for packets on their way, and " + memory_text(left) +
                  " are left here; take fewer nodes, or a lower latency or rate, or end other programs");
}

}  // namespace rondo::testbed
