// SPDX-License-Identifier: BSD-3-Clause
// Bruck's all-to-all: a part for the rank d behind travels by the digits of d in base `radix`, in each round that of
// its own. Rounds: ceil(log_radix p), of up to radix - 1 messages; radix 2: m / 2 elements in each. Short vectors.
// [bruck1997efficient], section 3. Parts are counted by their distance: so they lie in scratch before the first round,
// and so they are put in order after the last. What travels together lies at equal distances, but for the last few: a
// message is packed, and unpacked, in two copies.
#include "rondo/algorithms/alltoall/alltoall.hpp"

namespace rondo::alltoall {
namespace {

/// The distances below p with one digit: runs of `weight` of them, every `radix` * `weight`; the last run may be cut.
struct WithDigit {
    WithDigit(Count digit, Count weight, Count radix, Rank p)
        : first(digit * weight), run(weight), period(weight * radix) {
        if (first >= p) return;
        whole_runs = (p - first) / period + ((p - first) % period >= run ? 1 : 0);
        rest = std::clamp<Count>(p - first - whole_runs * period, 0, run);
    }

    [[nodiscard]] Count count() const { return whole_runs * run + rest; }
    /// Those in whole runs, and the rest; `part`: elements at a distance. Where they lie among all parts in `line`.
    [[nodiscard]] BlockRow spread(Block line, Count part) const {
        return {line.part(first * part, whole_runs > 0 ? run * part : 0), whole_runs, period * part};
    }
    [[nodiscard]] Block spread_rest(Block line, Count part) const {
        return line.part((first + whole_runs * period) * (rest > 0 ? part : 0), rest * part);
    }
    /// And where they lie one after the other.
    [[nodiscard]] BlockRow packed(Block message, Count part) const {
        return {message.part(0, whole_runs > 0 ? run * part : 0), whole_runs, run * part};
    }
    [[nodiscard]] Block packed_rest(Block message, Count part) const {
        return message.part(whole_runs * run * part, rest * part);
    }

    Count first, run, period;
    Count whole_runs = 0, rest = 0;
};

/// One round: the parts whose distance has a digit other than 0 of this weight go that far.
Schedule round_of(const Call& call, Block line, Block outgoing, Block incoming, Count weight) {
    const auto [r, p] = call.ranks();
    const Count part = line.count / p, radix = call.setting("radix");
    Count packed = 0;
    const auto message = [&](const WithDigit& parts, Block among) {
        return among.part(packed * part, parts.count() * part);
    };
    for (Count digit = 1; digit < radix && digit * weight < p; ++digit) {
        const WithDigit parts(digit, weight, radix, p);
        const Block to_send = message(parts, outgoing);
        co_yield copy(parts.spread(line, part)).into(parts.packed(to_send, part));
        co_yield copy(parts.spread_rest(line, part)).into(parts.packed_rest(to_send, part));
        packed += parts.count();
    }
    packed = 0;
    for (Count digit = 1; digit < radix && digit * weight < p; ++digit) {
        const WithDigit parts(digit, weight, radix, p);
        const auto distance = static_cast<Rank>(digit * weight);
        co_yield exchange(send(message(parts, outgoing), (r + distance) % p),
                          receive(message(parts, incoming), (r - distance + p) % p));
        packed += parts.count();
    }
    packed = 0;
    for (Count digit = 1; digit < radix && digit * weight < p; ++digit) {
        const WithDigit parts(digit, weight, radix, p);
        const Block received = message(parts, incoming);
        co_yield copy(parts.packed(received, part)).into(parts.spread(line, part));
        co_yield copy(parts.packed_rest(received, part)).into(parts.spread_rest(line, part));
        packed += parts.count();
    }
}

}  // namespace

Schedule bruck(const Call& call) {
    const auto [r, p] = call.ranks();
    const Parts inputs = call.parts(call.input()), outputs = call.parts(call.output());
    const Block line = call.scratch(), outgoing = call.scratch(), incoming = call.scratch();
    const Parts parts = call.parts(line);  // by distance
    const Count part = line.count / p;

    co_yield copy(inputs.range(r, p)).into(parts.range(0, p - r));
    co_yield copy(inputs.range(0, r)).into(parts.range(p - r, p));
    for (Count weight = 1; weight < p; weight *= call.setting("radix")) {
        Schedule round = round_of(call, line, outgoing, incoming, weight);
        co_yield steps_of(round);
    }
    // What came over a distance d is from the rank d before.
    co_yield copy(BlockRow(parts[0], r + 1, part)).into(BlockRow(outputs[r], r + 1, -part));
    if (r + 1 < p)
        co_yield copy(BlockRow(parts[r + 1], p - r - 1, part)).into(BlockRow(outputs[p - 1], p - r - 1, -part));
}

const AlgorithmInfo bruck_info = {
    .collective = "alltoall",
    .name = "bruck",
    .summary = "parts travel by the digits of their distance: ceil(log_radix p) rounds; for short vectors",
    .citation = "bruck1997efficient",
    .parameters = {&radix_parameter, 1},
    .tolerates_in_place = true,
    .schedule = bruck,
};

}  // namespace rondo::alltoall
