// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/decision.hpp"

#include <new>
#include <utility>

namespace rondo::mpi {

std::size_t CallKeyHash::operator()(const CallKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.count);
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(key.element_bytes),
          std::uint64_t{key.division} << 32 | std::uint64_t{key.choice} << 16 | key.collective,
          static_cast<std::uint64_t>(key.doubt) << 40 | static_cast<std::uint64_t>(key.root) << 3 |
              std::uint64_t{key.commutative} << 2 | std::uint64_t{key.in_place} << 1 | std::uint64_t{key.over_int}}) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

bool RecentDecisions::is_at(std::size_t index, const CallKey& key) const {
    const Place& here = place(index);
    return here.number != 0 && here.key == key;
}

const Decision* RecentDecisions::find(const CallKey& key) {
    if (is_at(last_, key)) return &place(last_).decision;
    for (std::uint8_t index = 0; others_ != nullptr && index < most; ++index) {
        if (!is_at(index, key)) continue;
        last_ = index;
        return &place(index).decision;
    }
    return nullptr;
}

const Decision& RecentDecisions::put(const CallKey& key, Decision decision, std::uint32_t& so_far) {
    if (first_.number != 0 && find(key) == nullptr) {
        if (others_ == nullptr) others_.reset(new (std::nothrow) Place[most - 1]);
        if (others_ != nullptr) last_ = static_cast<std::uint8_t>((last_ + 1U) % most);
    }
    std::uint32_t number = 0;
    do number = static_cast<std::uint32_t>(++so_far * most + last_);
    while (number == 0);
    Place& taken = place(last_);
    taken = {key, number, std::move(decision)};
    return taken.decision;
}

}  // namespace rondo::mpi
