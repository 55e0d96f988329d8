// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/growing_runs.hpp"

#include <algorithm>
#include <ranges>

#include "rondo/topology/bine.hpp"

namespace rondo {

GrowingRuns GrowingRuns::along_skips(const Parts& parts, Rank rank, std::span<const Rank> skips) {
    const Rank size = skips.back();
    GrowingRuns runs{RotatedParts(parts, rank), {}};
    for (std::size_t round = 0; round + 1 < skips.size(); ++round) {
        const Rank skip = skips[round], end = skips[round + 1];
        const Rank to = rank < skip ? rank - skip + size : rank - skip, from = (rank + skip) % size;
        runs.rounds.push_back({to, from, {0, end - skip}, {skip, end}});
    }
    return runs;
}

GrowingRuns GrowingRuns::bine(const Parts& parts, const Fold& fold, Rank rank) {
    const Rank size = fold.size(), number = fold.number_of(rank);
    const topology::BineButterfly butterfly(size);
    int last = 0;
    while ((std::int64_t{2} << last) < size) ++last;
    const Rank ahead = butterfly.behind(number, last), first = (number - ahead + size) % size;
    GrowingRuns runs{RotatedParts(parts, first, fold), {}};
    for (int round = 0; round <= last; ++round) {
        const Rank partner = fold.rank_of(butterfly.partner(number, round)), span = Rank{1} << round;
        const Rank begin = ahead - butterfly.behind(number, round), end = begin + span;
        const bool is_ahead = butterfly.is_ahead(number, round);
        const Run beside = is_ahead ? Run{end, end + span} : Run{begin - span, begin};
        runs.rounds.push_back({partner, partner, {begin, end}, beside});
    }
    // The windows of the last round may have parts in common: a rank receives what it lacks, and sends what its partner
    // does.
    RunRound& ending = runs.rounds.back();
    const Rank missing = size - ending.sent.last;
    const bool is_ahead = butterfly.is_ahead(number, last);
    ending.received = {ending.sent.last, size};
    (is_ahead ? ending.sent.first : ending.sent.last) = is_ahead ? ending.sent.last - missing : missing;
    return runs;
}

namespace {

/// Two pieces of a run, from where they are to one line, or the other way round.
Schedule copy_pieces(const Call& /*call*/, std::array<Block, 2> pieces, Block line, bool into_line) {
    const Block lines[] = {line.part(0, pieces[0].count), line.part(pieces[0].count, pieces[1].count)};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Block from = into_line ? pieces.at(i) : lines[i], into = into_line ? lines[i] : pieces.at(i);
        co_yield copy(from).into(into);
    }
}

/// The first round sends from the input and combines it into what has arrived in `sums`: only parts sent there that go
/// past the end of the vector are copied before.
Schedule send_late(const Call& call, const GrowingRuns& runs, Block sums) {
    const RotatedParts& parts = runs.parts;
    const auto [to, from, kept, late] = runs.rounds.back();  // of the allgather
    const auto pieces = parts.pieces(late.first, late.last);
    const bool wrap = parts.wrap(late.first, late.last);
    const Block outgoing = wrap ? call.scratch(parts.count(late.first, late.last)) : parts.block(late.first, late.last);
    if (wrap) {
        Schedule together = copy_pieces(call, pieces, outgoing, true);
        co_yield steps_of(together);
    }
    co_yield exchange(send(outgoing, from), receive(parts.on_line(sums, kept.first, kept.last), to));
}

/// Adds this rank's input to what has arrived in `sums`, and copies it to where nothing has arrived.
Schedule add_input(const Call& call, const GrowingRuns& runs, Block sums) {
    const RotatedParts& parts = runs.parts;
    const Run early = runs.early(), kept = runs.rounds.back().sent;
    for (const Run alone : {Run{early.first, kept.first}, Run{kept.last, early.last}}) {
        Schedule inputs = copy_pieces(call, parts.pieces(alone.first, alone.last),
                                      parts.on_line(sums, alone.first, alone.last), true);
        co_yield steps_of(inputs);
    }
    const auto [front, back] = parts.pieces(kept.first, kept.last);
    const Block arrived = parts.on_line(sums, kept.first, kept.last);
    const Block front_sums = arrived.part(0, front.count), back_sums = arrived.part(front.count, back.count);
    co_yield combine(front, front_sums).into(front_sums);
    co_yield combine(back, back_sums).into(back_sums);
}

}  // namespace

Schedule grow(const Call& call, const GrowingRuns& runs, Block own) {
    const RotatedParts& parts = runs.parts;
    const Run early = runs.early(), late = runs.late();
    const bool early_wrap = parts.wrap(early.first, early.last), late_wrap = parts.wrap(late.first, late.last);
    const auto place = [&](Run run, bool wrap) {
        return wrap ? call.scratch(parts.count(run.first, run.last)) : parts.block(run.first, run.last);
    };
    const Block line = place(early, early_wrap), last_arrival = place(late, late_wrap);
    const auto on_line = [&](Run run) { return parts.on_line(line, run.first, run.last); };

    co_yield copy(own).into(on_line(runs.rounds.front().sent));
    for (const RunRound& round : runs.rounds) {
        const bool is_first = &round == &runs.rounds.front(), is_last = &round == &runs.rounds.back();
        const Block outgoing = is_first ? own : on_line(round.sent);
        const Block incoming = is_last ? last_arrival : on_line(round.received);
        co_yield exchange(send(outgoing, round.to), receive(incoming, round.from));
    }
    // Elements that came before the last round are copied while the last message is on its way.
    const Run rotated = early_wrap ? early : late;
    if (!early_wrap && !late_wrap) co_return;
    Schedule back =
        copy_pieces(call, parts.pieces(rotated.first, rotated.last), early_wrap ? line : last_arrival, false);
    co_yield steps_of(back);
}

Schedule shrink(const Call& call, const GrowingRuns& runs, Block result) {
    const Run early = runs.early();
    const Block sums = call.scratch(runs.parts.count(early.first, early.last)), own = runs.own();
    const auto on_line = [&](Run run) { return runs.parts.on_line(sums, run.first, run.last); };
    Schedule first = send_late(call, runs, sums);
    co_yield steps_of(first);

    const bool is_only = runs.rounds.size() == 1;
    if (is_only && (own == result || !overlap(own, result))) {
        co_yield combine(own, sums).into(result);
        co_return;
    }
    Schedule input = add_input(call, runs, sums);
    co_yield steps_of(input);
    if (is_only) co_yield copy(sums).into(result);
    for (const RunRound& round : std::views::reverse(std::span(runs.rounds).first(runs.rounds.size() - 1))) {
        const Block mine = on_line(round.sent), arrived = call.scratch(mine.count);
        co_yield exchange(send(on_line(round.received), round.from), receive(arrived, round.to));
        const Block into = &round == &runs.rounds.front() ? result : mine;
        co_yield combine(arrived, mine).into(into);
    }
}

}  // namespace rondo
