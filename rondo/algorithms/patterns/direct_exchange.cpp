// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/direct_exchange.hpp"

#include <vector>

namespace rondo {
namespace {

/// Where parts differ, it cannot be agreed to leave a call alone that has a part too long for some libraries, which
/// count in ints.
Segments pieces(const Call& call, Block part) {
    constexpr Count longest = Count{1} << 30;
    return {part, call.has_equal_parts() ? part.count : longest};
}

}  // namespace

Schedule keep(const Call& call, const Outgoing& outgoing) {
    const auto [r, p] = call.ranks();
    if (!call.in_place()) {
        co_yield copy(call.outgoing(r)).into(call.incoming(r));
    } else if (call.has_equal_parts()) {
        co_yield copy(call.input()).into(outgoing.kept(call.input()));
    } else {
        for (Rank to = 0; to < p; ++to) {  // not what lies between them
            if (to != r) co_yield copy(call.outgoing(to)).into(outgoing[to]);
        }
    }
}

Schedule in_rounds(const Call& call, Count messages) {
    const auto [r, p] = call.ranks();
    const Outgoing outgoing(call);
    Schedule keeping = keep(call, outgoing);
    co_yield steps_of(keeping);
    std::vector<Transfer> round;
    for (Rank distance = 1; distance < p; ++distance) {
        const Rank to = (r + distance) % p, from = (r - distance + p) % p;
        const Segments to_receive = pieces(call, call.incoming(from)), to_send = pieces(call, outgoing[to]);
        for (Count i = 0; i < to_receive.size(); ++i) round.push_back(receive(to_receive[i], from));
        for (Count i = 0; i < to_send.size(); ++i) round.push_back(send(to_send[i], to));
        if (distance % messages != 0 && distance + 1 < p) continue;
        co_yield exchange(std::span<const Transfer>(round));
        round.clear();
    }
}

}  // namespace rondo
