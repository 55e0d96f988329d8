// SPDX-License-Identifier: BSD-3-Clause
// Binary tree: a reduction to rank 0 and a broadcast from there, both along a binomial tree, in rank order.
// [rabenseifner2004collective], section 3.3. Short vectors, whole in every message. Rounds: 2 ceil(log2 p).
#include "rondo/algorithms/allreduce/allreduce.hpp"
#include "rondo/algorithms/bcast/bcast.hpp"
#include "rondo/algorithms/reduce/reduce.hpp"

namespace rondo::allreduce {

Schedule binary_tree(const Call& call) {
    Schedule reduction = reduce::binomial(call);
    co_yield steps_of(reduction);
    const Call spreading = call.on(call.output(), call.output());
    Schedule broadcast = bcast::binomial(spreading);
    co_yield steps_of(broadcast);
}

const AlgorithmInfo binary_tree_info = {
    .collective = "allreduce",
    .name = "binary_tree",
    .summary = "whole vectors to rank 0 and back along a binomial tree: for short vectors, in rank order",
    .citation = "rabenseifner2004collective",
    .tolerates_in_place = true,
    .schedule = binary_tree,
};

}  // namespace rondo::allreduce
