// SPDX-License-Identifier: BSD-3-Clause
// Scatter and allgather: the root's vector is scattered in p parts along a binomial tree, then every rank gathers all
// parts, around a ring, or by recursive doubling where p is a power of two (doubling=1). [barnett1994building].
// Medium vectors: time about 2*beta*m. Rounds: ceil(log2 p) + p - 1, or 2*log2 p.
#include <bit>

#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/topology/rotation.hpp"
#include "rondo/topology/trees.hpp"

namespace rondo::bcast {

namespace {

constexpr Parameter parameters[] = {
    {.name = "doubling",
     .summary = "0: gather around a ring; 1: by recursive doubling, for powers of two",
     .minimum = 0,
     .maximum = 1,
     .standard = 0},
};

std::optional<std::string> no_power_of_two(const SharedFacts& facts, std::span<const Setting> settings) {
    const bool doubling = settings.front().value == 1;
    if (!doubling || std::has_single_bit(static_cast<std::uint32_t>(facts.size))) return std::nullopt;
    return "doubling=1 on " + std::to_string(facts.size) + " ranks, no power of two";
}

constexpr Requirement requirement = {"with doubling=1, a power of two of ranks", no_power_of_two};

/// Part i of the vector starts at place i.
Schedule scatter(const Call& call, const topology::Rotation& circle, const Parts& parts) {
    const auto [r, p] = call.ranks();
    const Rank place = circle.place_of(r), own_skip = topology::binomial_skip(place, p);
    const auto subtree = [&](Rank root, Rank skip) { return parts.range(root, std::min(root + skip, p)); };
    if (place > 0) co_yield exchange(receive(subtree(place, own_skip), circle.rank_at(place - own_skip)));
    for (Rank skip = own_skip / 2; skip > 0; skip /= 2) {
        co_yield exchange(send(subtree(place + skip, skip), circle.rank_at(place + skip)));
    }
}

// In both, nobody sends to the root, which has everything.

Schedule gather_around_ring(const Call& call, const topology::Rotation& circle, const Parts& parts) {
    const auto [r, p] = call.ranks();
    const Rank place = circle.place_of(r), before = circle.rank_at(place - 1), after = circle.rank_at(place + 1);
    const auto part = [&, p = p](Rank index) { return parts[index < 0 ? index + p : index]; };
    for (Rank i = 0; i + 1 < p; ++i) {
        co_yield exchange(send(part(place - i), after), receive(part(place - i - 1), before));
    }
}

Schedule gather_by_doubling(const Call& call, const topology::Rotation& circle, const Parts& parts) {
    const auto [r, p] = call.ranks();
    const Rank place = circle.place_of(r);
    for (Rank span = 1; span < p; span *= 2) {
        const Rank partner = place ^ span, own = place & ~(span - 1), theirs = partner & ~(span - 1);
        const Rank to = partner == 0 ? no_rank : partner, from = place == 0 ? no_rank : partner;
        co_yield exchange(send(parts.range(own, own + span), circle.rank_at(to)),
                          receive(parts.range(theirs, theirs + span), circle.rank_at(from)));
    }
}

}  // namespace

Schedule scatter_allgather(const Call& call) {
    const Rank p = call.ranks().second;
    const topology::Rotation circle(call.facts().root, 0, p);
    const Parts parts(call.output(), p);
    Schedule down = scatter(call, circle, parts);
    co_yield steps_of(down);
    Schedule around = call.setting("doubling") == 1 ? gather_by_doubling(call, circle, parts)
                                                    : gather_around_ring(call, circle, parts);
    co_yield steps_of(around);
}

const AlgorithmInfo scatter_allgather_info = {
    .collective = "bcast",
    .name = "scatter_allgather",
    .summary = "a part for each rank, then all gather all parts: for medium vectors",
    .citation = "barnett1994building",
    .parameters = parameters,
    .requirements = {&requirement, 1},
    .tolerates_in_place = true,
    .schedule = scatter_allgather,
};

}  // namespace rondo::bcast
