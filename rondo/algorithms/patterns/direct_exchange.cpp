// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/direct_exchange.hpp"

#include <vector>

namespace rondo {
namespace {

/// The messages of a part. Where not all ranks know how long it is, they cannot agree to leave a call alone that has a
/// part too long for some libraries, which count in ints. Both ends know.
Segments pieces(const Call& call, Block part) {
    constexpr Count longest = Count{1} << 30;
    return {part, call.has_shared_lengths() ? part.count : longest};
}

/// Adds the messages of a part. False if it has none.
bool add_transfers(const Call& call, Block part, Rank peer, Direction direction, std::vector<Transfer>& round) {
    const Segments messages = pieces(call, part);
    for (Count i = 0; i < messages.size(); ++i) round.push_back({messages[i], peer, direction});
    return messages.size() > 0;
}

}  // namespace

Schedule keep(const Call& call, const Outgoing& outgoing) {
    const auto [r, p] = call.ranks();
    if (!call.in_place()) {
        co_yield copy(call.outgoing(r)).into(call.incoming(r));
    } else if (call.has_shared_lengths()) {
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
        add_transfers(call, call.incoming(from), from, Direction::receive, round);
        add_transfers(call, outgoing[to], to, Direction::send, round);
        if (distance % messages != 0 && distance + 1 < p) continue;
        co_yield exchange(std::span<const Transfer>(round));
        round.clear();
    }
}

Schedule with_root(const Call& call, Direction of_root, Count messages) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const bool gathers = of_root == Direction::receive;
    std::vector<Transfer> round;
    if (r != root) {
        if (gathers) add_transfers(call, call.input(), root, Direction::send, round);
        else add_transfers(call, call.output(), root, Direction::receive, round);
        co_yield exchange(std::span<const Transfer>(round));
        co_return;
    }
    Count parts = 0;  // in this round
    for (Rank each = 0; each < p; ++each) {
        const Block part = gathers ? call.incoming(each) : call.outgoing(each);
        if (each == root) {
            const Block from = gathers ? call.input() : part, into = gathers ? part : call.output();
            co_yield copy(from).into(into);
            continue;
        }
        if (!add_transfers(call, part, each, of_root, round) || ++parts < messages) continue;
        co_yield exchange(std::span<const Transfer>(round));
        round.clear();
        parts = 0;
    }
    if (parts > 0) co_yield exchange(std::span<const Transfer>(round));
}

}  // namespace rondo
