// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/virtual/promise.hpp"

#include <string>

#include "rondo/core/error.hpp"

namespace rondo::virtual_machine {
namespace {

bool everyone(const SharedFacts& /*facts*/, Rank /*rank*/) { return true; }
bool only_the_root(const SharedFacts& facts, Rank rank) { return rank == facts.root; }

bool if_wanted(const Problem& problem, Rank /*rank*/) { return problem.in_place; }
bool if_wanted_at_the_root(const Problem& problem, Rank rank) { return problem.in_place && rank == problem.facts.root; }
bool never(const Problem& /*problem*/, Rank /*rank*/) { return false; }
bool always(const Problem& /*problem*/, Rank /*rank*/) { return true; }

Count first_of_part(const SharedFacts& facts, Rank rank) {
    return facts.parts(Block(0, facts.count, Buffer::input))[rank].first;
}

Symbol the_roots_input(const SharedFacts& facts, Rank /*rank*/, Rank /*part*/) { return Symbol::input_of(facts.root); }
Symbol the_parts_input(const SharedFacts& /*facts*/, Rank /*rank*/, Rank part) { return Symbol::input_of(part); }
Symbol the_parts_input_at_the_root(const SharedFacts& facts, Rank rank, Rank part) {
    return rank == facts.root ? Symbol::input_of(part) : Symbol();
}
Symbol all_before(const SharedFacts& /*facts*/, Rank rank, Rank /*part*/) {
    return rank > 0 ? Symbol::of_ranks(0, rank - 1) : Symbol();
}
Symbol all_up_to(const SharedFacts& /*facts*/, Rank rank, Rank /*part*/) { return Symbol::of_ranks(0, rank); }
Symbol all(const SharedFacts& facts, Rank /*rank*/, Rank /*part*/) { return Symbol::of_ranks(0, facts.size - 1); }
Symbol all_of_the_own_part(const SharedFacts& facts, Rank rank, Rank /*part*/) {
    return Symbol::of_ranks(0, facts.size - 1).moved(-first_of_part(facts, rank));
}
Symbol all_at_the_root(const SharedFacts& facts, Rank rank, Rank /*part*/) {
    return rank == facts.root ? Symbol::of_ranks(0, facts.size - 1) : Symbol();
}

constexpr Promise promises[] = {
    {"allgather", everyone, if_wanted, the_parts_input},
    {"allreduce", everyone, if_wanted, all},
    {"alltoall", everyone, if_wanted, the_parts_input},
    {"alltoallv", everyone, if_wanted, the_parts_input},
    {"barrier", everyone, never, the_parts_input, true},
    {"bcast", only_the_root, always, the_roots_input},
    {"exscan", everyone, if_wanted, all_before},
    {"gather", everyone, if_wanted_at_the_root, the_parts_input_at_the_root},
    {"gatherv", everyone, never, the_parts_input_at_the_root},
    {"reduce", everyone, if_wanted_at_the_root, all_at_the_root},
    {"reduce_scatter", everyone, if_wanted, all_of_the_own_part},
    {"scan", everyone, if_wanted, all_up_to},
    {"scatter", only_the_root, if_wanted_at_the_root, the_roots_input},
    {"scatterv", only_the_root, never, the_roots_input},
};

}  // namespace

const Promise& promise_of(std::string_view collective) {
    for (const Promise& promise : promises) {
        if (promise.collective == collective) return promise;
    }
    throw Error("the virtual backend does not know what " + std::string(collective) + " promises");
}

}  // namespace rondo::virtual_machine
