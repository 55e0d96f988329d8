// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/algorithms/patterns/node_parts.hpp"

namespace rondo {
namespace {

/// Both blocks lie in the same place.
Block intersection(const Block& a, const Block& b) {
    const Count first = std::max(a.first, b.first), last = std::min(a.last(), b.last());
    return {first, std::max<Count>(0, last - first), a.buffer};
}

/// `range`, a range of `whole`, where `whole` stands at `place`.
Block moved(const Block& range, const Block& whole, const Block& place) {
    return range.empty() ? Block() : place.part(range.first - whole.first, range.count);
}

/// Of all elements that belong to the ranks of a node.
Count count_of_node(const Call& call, const Parts& parts, Rank node) {
    const Rank ranks = call.ranks_on_node(node);
    // Then they are one block, and nobody has to look at all ranks.
    if (call.nodes_in_rank_order()) {
        const Rank first = call.rank_at(node, 0);
        return parts.range(first, first + ranks).count;
    }
    Count count = 0;
    for (Rank number = 0; number < ranks; ++number) count += parts[call.rank_at(node, number)].count;
    return count;
}

/// The parts of the ranks of a node from number `first` on, up to where they no longer have equal lengths and
/// distances.
BlockRow row_of_parts(const Call& call, const Parts& parts, Rank node, Rank first) {
    BlockRow row = parts[call.rank_at(node, first)];
    for (Rank number = first + 1; number < call.ranks_on_node(node); ++number) {
        const Block part = parts[call.rank_at(node, number)];
        if (row.number == 1) row.distance = part.first - row.first.first;
        if (!(part == row[row.number])) break;
        ++row.number;
    }
    return row;
}

}  // namespace

Schedule divide_anew(const Call& node, Parts before, Block held, Parts after, Block wanted) {
    const auto [number, ranks] = node.ranks();
    const Block had = before[number], part = after[number];
    for (Rank distance = 0; distance < ranks; ++distance) {
        const Rank to = (number + distance) % ranks, from = (number - distance + ranks) % ranks;
        const Block outgoing = moved(intersection(had, after[to]), had, held);
        const Block incoming = moved(intersection(part, before[from]), part, wanted);
        if (distance == 0) co_yield copy(outgoing).into(incoming);
        else co_yield exchange(send(outgoing, to), receive(incoming, from));
    }
}

NodeOrder::NodeOrder(const Call& call, const Parts& parts) : nodes_{0}, ranks_{0} {
    for (Rank node = 0; node < call.nodes(); ++node) {
        nodes_.push_back(nodes_.back() + count_of_node(call, parts, node));
    }
    const Rank own_node = call.place(call.ranks().first).node;
    for (Rank number = 0; number < call.ranks_on_node(); ++number) {
        ranks_.push_back(ranks_.back() + parts[call.rank_at(own_node, number)].count);
    }
}

Schedule sort_by_nodes(const Call& call, Parts parts, Block sorted) {
    Count at = 0;
    for (Rank node = 0; node < call.nodes(); ++node) {
        for (Rank number = 0; number < call.ranks_on_node(node);) {
            const BlockRow row = row_of_parts(call, parts, node, number);
            const Count length = row.first.count;
            co_yield copy(row).into(BlockRow(sorted.part(at, length), row.number, length));
            at += row.number * length;
            number += static_cast<Rank>(row.number);
        }
    }
}

Schedule sort_by_ranks(const Call& call, Block sorted, Parts parts) {
    Count at = 0;
    for (Rank node = 0; node < call.nodes(); ++node) {
        for (Rank number = 0; number < call.ranks_on_node(node); ++number) {
            const Block part = parts[call.rank_at(node, number)];
            co_yield copy(sorted.part(at, part.count)).into(part);
            at += part.count;
        }
    }
}

/// Parts of ranks at equal distances are copied as one row.
Schedule put_parts(const Call& call, BlockRow parts, std::span<const Rank> senders) {
    for (std::size_t first = 0, last = 0; first < senders.size(); first = last) {
        const Rank distance = first + 1 < senders.size() ? senders[first + 1] - senders[first] : 0;
        for (last = first + 1; last < senders.size() && senders[last] - senders[last - 1] == distance;) ++last;
        const auto number = static_cast<Count>(last - first);
        const BlockRow from(parts[static_cast<Count>(first)], number, parts.distance);
        co_yield copy(from).into(BlockRow(call.incoming(senders[first]), number, distance * parts.first.count));
    }
}

}  // namespace rondo
