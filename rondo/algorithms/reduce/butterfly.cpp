// SPDX-License-Identifier: BSD-3-Clause
// Butterfly reduction: recursive halving between neighbours of distance 1, 2, 4, ..., so that partial sums stay in rank
// order; then the root gathers the parts on the same paths. Ranks beyond a power of two hand their vector to a
// neighbour first. [rabenseifner2004more]. Rounds: 2*floor(log2 p), one more if p is no power of two. Volume: about
// 2*m, up to 3*m then. Operations: m elements, up to 2*m.
#include <array>
#include <bit>

#include "rondo/algorithms/reduce/reduce.hpp"

namespace rondo::reduce {

namespace {

/// The ranks that stay: the first `extra` pairs of neighbours have one survivor each, which is the root if it is one.
struct Survivors {
    Rank extra, root, size;

    explicit Survivors(const CallFacts& facts)
        : extra(facts.size - static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(facts.size)))),
          root(facts.root), size(facts.size - extra) {}
    [[nodiscard]] Rank number_of(Rank rank) const { return rank < 2 * extra ? rank / 2 : rank - extra; }
    [[nodiscard]] Rank rank_of(Rank number) const {
        if (number >= extra) return number + extra;
        return 2 * number + 1 == root ? root : 2 * number;
    }
};

}  // namespace

Schedule butterfly(const Call& call) {
    const auto [r, p] = call.ranks();
    const Survivors survivors(call.facts());
    const bool is_root = r == survivors.root;
    const Block sums = is_root ? call.output() : call.scratch(), arrivals = call.scratch();
    const Rank number = survivors.number_of(r), neighbour = r ^ 1;
    Block partial = call.input();

    if (r < 2 * survivors.extra) {
        if (survivors.rank_of(number) != r) {
            co_yield exchange(send(partial, neighbour));
            co_return;
        }
        co_yield exchange(receive(arrivals, neighbour));
        if (neighbour < r) co_yield combine(arrivals, partial).into(sums);
        else co_yield combine(partial, arrivals).into(sums);
        partial = sums;
    }

    // A rank keeps the half of its own side, and so on; `kept[level]` is what it had before the round.
    std::array<Block, 32> kept;
    Block whole(0, call.count(), Buffer::scratch);
    const auto of = [](const Block& block, const Block& range) { return block.part(range.first, range.count); };
    std::size_t level = 0;
    for (Rank distance = 1; distance < survivors.size; distance *= 2, ++level) {
        kept.at(level) = whole;
        const Rank other = number ^ distance, partner = survivors.rank_of(other);
        const Parts halves(whole, 2);
        const Block mine = halves[number < other ? 0 : 1], theirs = halves[number < other ? 1 : 0];
        co_yield exchange(send(of(partial, theirs), partner), receive(of(arrivals, mine), partner));
        if (other < number) co_yield combine(of(arrivals, mine), of(partial, mine)).into(of(sums, mine));
        else co_yield combine(of(partial, mine), of(arrivals, mine)).into(of(sums, mine));
        partial = sums;
        whole = mine;
    }

    const Rank top = survivors.number_of(survivors.root);
    for (Rank distance = survivors.size / 2; distance > 0; distance /= 2) {
        const Rank other = number ^ distance, partner = survivors.rank_of(other);
        if ((number & distance) != (top & distance)) {
            co_yield exchange(send(of(partial, whole), partner));
            co_return;
        }
        const Block all = kept.at(--level);
        const Block theirs = Parts(all, 2)[number < other ? 1 : 0];
        co_yield exchange(receive(of(sums, theirs), partner));
        whole = all;
    }
    if (p == 1) co_yield copy(partial).into(call.output());
}

const AlgorithmInfo butterfly_info = {
    .collective = "reduce",
    .name = "butterfly",
    .summary = "halving between neighbours, then a gather: for medium vectors, in rank order",
    .citation = "rabenseifner2004more",
    .tolerates_in_place = true,
    .schedule = butterfly,
};

}  // namespace rondo::reduce
