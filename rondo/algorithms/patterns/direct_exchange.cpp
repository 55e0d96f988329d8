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

/// Adds the messages of a part.
void add_transfers(const Call& call, Block part, Rank peer, Direction direction, std::vector<Transfer>& round) {
    const Segments messages = pieces(call, part);
    for (Count i = 0; i < messages.size(); ++i) round.push_back({messages[i], peer, direction});
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
    const Outgoing outgoing(call);
    Schedule keeping = keep(call, outgoing);
    co_yield steps_of(keeping);
    Schedule exchanging = straight(call, outgoing, messages);
    co_yield steps_of(exchanging);
}

Schedule straight(const Call& call, const Outgoing& outgoing, Count messages, Count longer_than) {
    const auto [r, p] = call.ranks();
    std::vector<Transfer> round;
    const auto add = [&](Block part, Rank peer, Direction direction) {
        if (part.count > longer_than) add_transfers(call, part, peer, direction, round);
    };
    for (Rank distance = 1; distance < p; ++distance) {
        const Rank to = (r + distance) % p, from = (r - distance + p) % p;
        add(call.incoming(from), from, Direction::receive);
        add(outgoing[to], to, Direction::send);
        if (distance % messages != 0 && distance + 1 < p) continue;
        co_yield exchange(std::span<const Transfer>(round));
        round.clear();
    }
}

Schedule with_root(const Call& call, Direction of_root, Count messages, Count longer_than) {
    const auto [r, p] = call.ranks();
    const Rank root = call.facts().root;
    const bool gathers = of_root == Direction::receive;
    const auto is_long = [&](Block part) { return part.count > longer_than; };
    std::vector<Transfer> round;
    if (r != root) {
        const Block own = gathers ? call.input() : call.output();
        if (is_long(own)) add_transfers(call, own, root, gathers ? Direction::send : Direction::receive, round);
        co_yield exchange(std::span<const Transfer>(round));
        co_return;
    }
    Count parts = 0;  // in this round
    for (Rank each = 0; each < p; ++each) {
        const Block part = gathers ? call.incoming(each) : call.outgoing(each);
        if (!is_long(part)) continue;
        if (each == root) {
            const Block from = gathers ? call.input() : part, into = gathers ? part : call.output();
            co_yield copy(from).into(into);
            continue;
        }
        add_transfers(call, part, each, of_root, round);
        if (++parts < messages) continue;
        co_yield exchange(std::span<const Transfer>(round));
        round.clear();
        parts = 0;
    }
    if (parts > 0) co_yield exchange(std::span<const Transfer>(round));
}

}  // namespace rondo
