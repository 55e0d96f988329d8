// SPDX-License-Identifier: BSD-3-Clause
// k-lane: every part straight to its rank, one node after the other: in round i, all ranks of a node send to the ranks
// of the node i behind it, in steps in which no two of them send to the same. So all lanes of a node are in use, and
// each carries a message at a time. In the end, the ranks of a node exchange their parts. Steps: (N - 1) n + n - 1 on N
// nodes of up to n ranks; volume m (p - 1) / p, the least that is possible. [traff2020kported], section 2.3.
#include <algorithm>

#include "rondo/algorithms/alltoall/alltoall.hpp"
#include "rondo/algorithms/patterns/direct_exchange.hpp"

namespace rondo::alltoall {
namespace {

Rank most_ranks_on_a_node(const Call& call) {
    Rank most = 0;
    for (Rank node = 0; node < call.nodes(); ++node) most = std::max(most, call.ranks_on_node(node));
    return most;
}

}  // namespace

Schedule k_lane(const Call& call) {
    const auto [node, number] = call.place(call.ranks().first);
    const Rank nodes = call.nodes(), steps = most_ranks_on_a_node(call);
    const auto rank_on = [&](Rank its_node, Rank its_number) {
        return its_number < call.ranks_on_node(its_node) ? call.rank_at(its_node, its_number) : no_rank;
    };
    const Outgoing outgoing(call);
    Schedule keeping = keep(call, outgoing);
    co_yield steps_of(keeping);
    for (Rank distance = 1; distance <= nodes; ++distance) {  // the own one last
        const Rank next = (node + distance) % nodes, previous = (node - distance + nodes) % nodes;
        for (Rank step = distance < nodes ? 0 : 1; step < steps; ++step) {
            const Rank to = rank_on(next, (number + step) % steps);
            const Rank from = rank_on(previous, (number - step + steps) % steps);
            const Block sent = to == no_rank ? Block() : outgoing[to];
            const Block received = from == no_rank ? Block() : call.incoming(from);
            co_yield exchange(send(sent, to), receive(received, from));
        }
    }
}

const AlgorithmInfo k_lane_info = {
    .collective = "alltoall",
    .name = "k_lane",
    .summary = "with the ranks of one node after the other: for long vectors on nodes of several ranks",
    .citation = "traff2020kported",
    .tolerates_in_place = true,
    .uses_nodes = true,
    .schedule = k_lane,
};

}  // namespace rondo::alltoall
