// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/registry.hpp"

#include "rondo/algorithms/exscan/exscan.hpp"
#include "rondo/algorithms/scan/scan.hpp"

namespace rondo {
namespace {

constexpr Collective all[] = {
    {"exscan", exscan::summary, exscan::algorithms},
    {"scan", scan::summary, scan::algorithms},
};

}  // namespace

std::span<const Collective> collectives() { return all; }

const Collective* find_collective(std::string_view name) {
    for (const Collective& collective : all) {
        if (collective.name == name) return &collective;
    }
    return nullptr;
}

const AlgorithmInfo* Collective::algorithm(std::string_view algorithm_name) const {
    for (const AlgorithmInfo* info : algorithms) {
        if (info->name == algorithm_name) return info;
    }
    return nullptr;
}

}  // namespace rondo
