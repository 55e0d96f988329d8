// SPDX-License-Identifier: BSD-3-Clause
// The family of doubling exclusive scans, by the number q' of rounds that send inclusive partial results. A member
// pays one operator application for each such round after the first, and saves rounds: q'=1 is 1-doubling, q'=2
// 123-doubling, q'=q two-op doubling. With the smallest q' that reaches the lower bound of q = ceil(log2 p) rounds,
// at most q+q'-2 applications. Short vectors: every round sends the whole vector. Lands in the output.
// Generalises [traff2025exscan], section 2.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "rondo/algorithms/exscan/exscan.hpp"

namespace rondo::exscan {
namespace {

/// Smallest q' with 2^q - 2^(q-q') >= p-1, the span of a member after q rounds.
int fewest_inclusive_rounds(Rank p) {
    const auto whole = std::int64_t{std::bit_ceil(static_cast<std::uint32_t>(p))};
    int rounds = 1;
    while (whole - (whole >> rounds) < p - 1) ++rounds;
    return rounds;
}

constexpr Parameter parameters[] = {
    {.name = "inclusive_rounds",
     .summary = "rounds that send E+V; 0: the fewest that reach ceil(log2 p) rounds in all",
     .minimum = 0,
     .maximum = 31,
     .standard = 0},
};

}  // namespace

Schedule doubling(const Call& call, int inclusive_rounds) {
    const auto [r, p] = call.ranks();
    const Block own = call.input(), partial = call.output();  // V and E; rank 0 has no E
    const Block incoming = call.scratch(), inclusive = call.scratch();

    // In a round with this skip, E spans the skip-1 ranks before this one, E (+) V therefore skip.
    Rank skip = 1;
    for (int round = 0; round < inclusive_rounds && skip < p; ++round, skip *= 2) {
        const bool first = skip == 1, extends = r > 0 && !first;
        if (extends && r + skip < p) co_yield combine(partial, own).into(inclusive);
        co_yield exchange(send(extends ? inclusive : own, r + skip), receive(first ? partial : incoming, r - skip));
        if (!first && r >= skip) co_yield combine(incoming, partial).into(partial);
    }

    // From here on E alone is sent, and its span doubles. Rank 0 has nothing more to say.
    if (r == 0) co_return;
    for (Rank span = skip - 1; span < p - 1; span *= 2) {
        const Rank from = r > span ? r - span : no_rank;
        co_yield exchange(send(partial, r + span), receive(incoming, from));
        if (from != no_rank) co_yield combine(incoming, partial).into(partial);
    }
}

Schedule prefix_family(const Call& call) {
    const auto wanted = static_cast<int>(call.setting("inclusive_rounds"));
    return doubling(call, wanted > 0 ? wanted : fewest_inclusive_rounds(call.ranks().second));
}

const AlgorithmInfo prefix_family_info = {
    .collective = "exscan",
    .name = "prefix_family",
    .summary = "doubling with a chosen number of inclusive rounds: ceil(log2 p) rounds, few operations",
    .citation = "traff2025exscan",
    .parameters = parameters,
    .schedule = prefix_family,
};

}  // namespace rondo::exscan
