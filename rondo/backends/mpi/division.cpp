// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/division.hpp"

namespace rondo::mpi {
namespace {

bool are_even(const PartCounts& counts, Count unit, Count whole) {
    const Parts even(Block(0, whole, Buffer::output), counts.size());
    for (Rank rank = 0; rank < counts.size(); ++rank) {
        if (even[rank].count != counts[rank] * unit) return false;
    }
    return true;
}

}  // namespace

Division Division::of(const PartCounts& parts, Count unit) {
    if (parts.plainly_equal()) return {parts[0] < 0 ? -1 : parts[0] * unit * parts.size(), 0};
    Count whole = 0;
    std::uint64_t hash = 0x9E3779B97F4A7C15U;
    bool differ = false;
    for (Rank rank = 0; rank < parts.size(); ++rank) {
        const Count count = parts[rank] * unit;
        if (count < 0) return {-1, 0};
        differ = differ || parts[rank] != parts[0];
        whole += count;
        hash = (hash ^ static_cast<std::uint64_t>(count)) * 0xBF58476D1CE4E5B9U;
        hash ^= hash >> 29;
    }
    if (!differ || are_even(parts, unit, whole)) return {whole, 0};
    return {whole, static_cast<std::uint32_t>(hash) | 1U};
}

std::vector<Count> starts_of(const PartCounts& parts, Count unit) {
    std::vector<Count> starts{0};
    for (Rank rank = 0; rank < parts.size(); ++rank) starts.push_back(starts.back() + parts[rank] * unit);
    return starts;
}

bool starts_at(const PartCounts& parts, Count unit, std::span<const Count> starts) {
    Count start = 0;
    for (Rank rank = 0; rank < parts.size(); ++rank) {
        if (starts[static_cast<std::size_t>(rank)] != start) return false;
        start += parts[rank] * unit;
    }
    return starts.back() == start;
}

}  // namespace rondo::mpi
