// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/halving.hpp"

#include <ranges>

#include "rondo/topology/bine.hpp"

namespace rondo {

void Halving::add(const Round& round) {
    rounds_.at(size_++) = round;
    part_ = round.kept;
}

void Halving::replace(Rank partner, Rank by) {
    for (Round& round : std::span(rounds_).first(size_)) {
        if (round.partner == partner) round.partner = by;
    }
}

template <class PartnerOf>
Halving Halving::from_nearest(const Fold& fold, Rank number, Count count, PartnerOf partner_of) {
    Halving halving(number, Block(0, count, Buffer::scratch));
    for (Rank bit = 1; bit < fold.size(); bit *= 2) {
        const Parts halves(halving.part_, 2);
        const int own = (number & bit) == 0 ? 0 : 1;
        halving.add({bit, fold.rank_of(partner_of(bit)), halves[own], halves[1 - own]});
    }
    return halving;
}

Halving Halving::nearest_first(const Fold& fold, Rank rank, Count count) {
    const Rank number = fold.number_of(rank);
    Halving halving = from_nearest(fold, number, count, [number](Rank bit) { return number ^ bit; });
    const auto differing = static_cast<std::uint32_t>(number ^ fold.root_number());
    halving.reached_ = static_cast<std::size_t>(std::bit_width(differing));
    return halving;
}

Halving Halving::bine(const Fold& fold, Rank rank, Count count) {
    const topology::BineButterfly butterfly(fold.size());
    const Rank number = fold.number_of(rank);
    Halving halving = from_nearest(fold, butterfly.part(number), count, [&](Rank bit) {
        return butterfly.partner(number, std::countr_zero(static_cast<std::uint32_t>(bit)));
    });
    halving.reached_ = static_cast<std::size_t>(butterfly.rounds_to(number, fold.root_number()));
    return halving;
}

Halving Halving::nearest_first(Rank first, Rank size, Rank rank, Count count, Rank root) {
    Halving halving = nearest_first(Fold(size, size, root), rank - first, count);
    for (Round& round : std::span(halving.rounds_).first(halving.size_)) round.partner += first;
    return halving;
}

Halving Halving::farthest_first(const Fold& fold, Rank rank, const Parts& parts) {
    const auto range = [&](Rank first, Rank size) {
        return parts.range(fold.first_of(first), fold.first_of(first + size));
    };
    Halving halving(fold.number_of(rank), range(0, fold.size()));
    for (Rank bit = fold.size() / 2; bit > 0; bit /= 2) {
        const Rank partner = halving.number_ ^ bit;
        halving.add(
            {bit, fold.rank_of(partner), range(halving.number_ & ~(bit - 1), bit), range(partner & ~(bit - 1), bit)});
    }
    return halving;
}

Schedule halve(const Call& call, const Halving& halving, Block partial, Block work, Block result) {
    for (const Halving::Round& round : halving.rounds()) {
        const Block own = within(partial, round.kept), arrived = call.scratch(round.kept.count);
        co_yield exchange(send(within(partial, round.given), round.partner), receive(arrived, round.partner));
        const bool is_last = &round == &halving.rounds().back();
        const Block sum = is_last ? result : within(work, round.kept);
        if (halving.precedes(round)) co_yield combine(own, arrived).into(sum);
        else co_yield combine(arrived, own).into(sum);
        partial = work;
    }
    if (halving.rounds().empty()) co_yield copy(partial).into(result);
}

Schedule regather(const Call& call, const Halving& halving, Block vector, Rank full) {
    for (const Halving::Round& round : std::views::reverse(halving.rounds())) {
        const Rank to = round.partner == full ? no_rank : round.partner;
        const Rank from = call.ranks().first == full ? no_rank : round.partner;
        co_yield exchange(send(within(vector, round.kept), to), receive(within(vector, round.given), from));
    }
}

Schedule collect(const Call& /*call*/, const Halving& halving, Block vector) {
    for (const Halving::Round& round : std::views::reverse(halving.departures())) {
        co_yield exchange(receive(within(vector, round.given), round.partner));
    }
    const Halving::Round* up = halving.arrival();
    if (up != nullptr) co_yield exchange(send(within(vector, up->kept), up->partner));
}

Schedule spread(const Call& /*call*/, const Halving& halving, Block vector) {
    const Halving::Round* up = halving.arrival();
    if (up != nullptr) co_yield exchange(receive(within(vector, up->kept), up->partner));
    for (const Halving::Round& round : halving.departures()) {
        co_yield exchange(send(within(vector, round.given), round.partner));
    }
}

Schedule eliminate(const Call& call, const Fold& fold, Block work) {
    const Rank r = call.ranks().first, neighbour = Fold::neighbour(r);
    const int own = r % 2;
    const Parts input(call.input(), 2), sums(work, 2);
    const Block arrived = call.scratch(sums[own].count);

    co_yield exchange(send(input[1 - own], neighbour), receive(arrived, neighbour));
    if (own == 0) co_yield combine(input[own], arrived).into(sums[own]);
    else co_yield combine(arrived, input[own]).into(sums[own]);
    if (fold.leaves(r)) co_yield exchange(send(sums[own], neighbour));
    else co_yield exchange(receive(sums[1 - own], neighbour));
}

}  // namespace rondo
