// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/domains.hpp"

#include <cstddef>
#include <fstream>
#include <map>

namespace rondo::shared_memory {
namespace {

constexpr int nobody = -1;

int first_of(const cpu_set_t& processors) {
    for (int each = 0; each < CPU_SETSIZE; ++each) {
        if (CPU_ISSET(each, &processors)) return each;
    }
    return nobody;
}

/// The numbers in a file such as "0-3,8-11"; none if it cannot be read. (cpuset(7), "List format".)
cpu_set_t numbers_in(const std::string& path) {
    cpu_set_t numbers;
    CPU_ZERO(&numbers);
    std::ifstream file(path);
    for (int first = 0; file >> first;) {
        int last = first;
        if (file.peek() == '-') file.ignore() >> last;
        for (int each = first; each >= 0 && each <= last && each < CPU_SETSIZE; ++each) CPU_SET(each, &numbers);
        if (file.peek() == ',') file.ignore();
    }
    return numbers;
}

/// The first processor of a part, if it has all of these.
int part_with(const cpu_set_t& part, const cpu_set_t& processors) {
    cpu_set_t both;
    CPU_AND(&both, &part, &processors);
    return CPU_EQUAL(&both, &processors) ? first_of(part) : nobody;
}

int cache_with(const cpu_set_t& processors, const std::string& processor) {
    constexpr int most_caches = 10, wanted = 3;
    for (int each = 0; each < most_caches; ++each) {
        const std::string cache = processor + "/cache/index" + std::to_string(each);
        std::ifstream file(cache + "/level");
        if (int level = 0; file >> level && level == wanted) {
            return part_with(numbers_in(cache + "/shared_cpu_list"), processors);
        }
    }
    return nobody;
}

int numa_node_with(const cpu_set_t& processors, const std::string& nodes) {
    const cpu_set_t known = numbers_in(nodes + "/online");
    for (int each = 0; each < CPU_SETSIZE; ++each) {
        if (!CPU_ISSET(each, &known)) continue;
        const int found = part_with(numbers_in(nodes + "/node" + std::to_string(each) + "/cpulist"), processors);
        if (found != nobody) return found;
    }
    return nobody;
}

}  // namespace

// Documentation/ABI/stable/sysfs-devices-system-cpu and -node of Linux.
Parts parts_of(const cpu_set_t& processors, const std::string& root) {
    const int first = first_of(processors);
    if (first == nobody) return {nobody, nobody, nobody};
    const std::string system = root + "/sys/devices/system";
    const std::string processor = system + "/cpu/cpu" + std::to_string(first);
    return {cache_with(processors, processor), numa_node_with(processors, system + "/node"),
            part_with(numbers_in(processor + "/topology/core_siblings_list"), processors)};
}

std::vector<Rank> domains_of(std::span<const Rank> node_of, std::span<const Parts> parts_of) {
    std::map<Rank, std::vector<std::size_t>> ranks_of;
    for (std::size_t rank = 0; rank < node_of.size(); ++rank) ranks_of[node_of[rank]].push_back(rank);
    std::vector<Rank> domain_of(node_of.begin(), node_of.end());
    for (const auto& [node, ranks] : ranks_of) {
        std::size_t most = 1;
        for (std::size_t kind = 0; kind < kinds_of_parts; ++kind) {
            std::map<int, Rank> first_in;
            for (const std::size_t rank : ranks) first_in.try_emplace(parts_of[rank][kind], static_cast<Rank>(rank));
            if (first_in.contains(nobody) || first_in.size() <= most || 2 * first_in.size() > ranks.size()) continue;
            most = first_in.size();
            for (const std::size_t rank : ranks) domain_of[rank] = first_in[parts_of[rank][kind]];
        }
    }
    return domain_of;
}

}  // namespace rondo::shared_memory
