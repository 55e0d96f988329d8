// SPDX-License-Identifier: BSD-3-Clause
// Dissemination: in every round a rank tells the ranks at `radix` - 1 distances who has entered, as far as it knows:
// of radix^k ranks before it after round k. [hensgen1988two], with radix 2. Rounds: ceil(log_radix p), of up to radix -
// 1 messages each, which do not depend on one another; no rank waits for more than that.
#include <algorithm>

#include "rondo/algorithms/barrier/barrier.hpp"

namespace rondo::barrier {

Schedule disseminate(const Call& call, Rank radix) {
    const auto [r, p] = call.ranks();
    const Block known = call.output();  // of this rank, of the one before it, and so on around the circle
    const Parts parts = call.parts(known);
    const auto elements_of = [&](Rank ranks) {
        const Rank before_0 = std::max(0, ranks - (r + 1));
        return parts.range(r + 1 + before_0 - ranks, r + 1).count + parts.range(p - before_0, p).count;
    };
    co_yield copy(call.input()).into(known.part(0, elements_of(1)));
    for (Rank ranks = 1; ranks < p; ranks *= radix) {
        for (Rank i = 1; i < radix && i * ranks < p; ++i) {
            const Rank skip = i * ranks, more = std::min(ranks, p - skip);
            const Count first = elements_of(skip);
            co_yield exchange(send(known.part(0, elements_of(more)), (r + skip) % p),
                              receive(known.part(first, elements_of(skip + more) - first), (r - skip + p) % p));
        }
    }
}

Schedule dissemination(const Call& call) { return disseminate(call, static_cast<Rank>(call.setting("radix"))); }

namespace {

constexpr Parameter parameters[] = {
    {.name = "radix",
     .summary = "who knows of r ranks knows of radix * r after the next round",
     .minimum = 2,
     .maximum = 64,
     .standard = 2},
};

}  // namespace

const AlgorithmInfo dissemination_info = {
    .collective = "barrier",
    .name = "dissemination",
    .summary = "every rank tells others at growing distances: ceil(log2 p) rounds for every p",
    .citation = "hensgen1988two",
    .parameters = parameters,
    .schedule = dissemination,
};

}  // namespace rondo::barrier
