// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/topology/cyclic_groups.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace rondo::topology {
namespace {

struct Turn {
    Rank to, from;
    bool replaces;
    friend bool operator==(const Turn&, const Turn&) = default;
};

std::vector<Turn> turns(Rank rank, Rank size) {
    std::vector<Turn> all;
    for (CyclicPath path(rank, size); !path.done(); path.descend()) {
        all.push_back({path.to(), path.from(), path.from() != no_rank && path.replaces()});
    }
    return all;
}

std::ostream& operator<<(std::ostream& out, const Turn& turn) {
    return out << turn.to << "<-" << turn.from << "/" << turn.replaces;
}

TEST(cyclic_groups, follow_the_closed_form_for_powers_of_two) {
    for (Rank size = 2; size <= 1024; size *= 2) {
        for (Rank rank = 0; rank < size; ++rank) {
            const std::vector<Turn> all = turns(rank, size);
            Rank skip = 1;
            for (const Turn& turn : all) {
                const bool last = 2 * skip == size;
                const Rank to = (rank - skip + size) % size, from = (rank + skip) % size;
                EXPECT_EQ(turn.to, last && to == 0 ? no_rank : to);
                EXPECT_EQ(turn.from, last && rank == 0 ? no_rank : from);
                EXPECT_EQ(turn.replaces, rank > 0 && rank + skip <= size && size < rank + 2 * skip);
                skip *= 2;
            }
            EXPECT_EQ(skip, size);
        }
    }
}

TEST(cyclic_groups, of_five_ranks_are_those_of_the_worked_example) {
    const Turn idle{no_rank, no_rank, false};
    EXPECT_EQ(turns(0, 5), (std::vector<Turn>{{3, 1, false}, {2, 2, false}, {4, no_rank, false}}));
    EXPECT_EQ(turns(1, 5), (std::vector<Turn>{{0, 2, false}, {3, 3, true}}));
    EXPECT_EQ(turns(2, 5), (std::vector<Turn>{{1, 3, false}, {0, 0, true}}));
    EXPECT_EQ(turns(3, 5), (std::vector<Turn>{{2, 0, true}, {1, 1, false}}));
    EXPECT_EQ(turns(4, 5), (std::vector<Turn>{idle, idle, {no_rank, 0, true}}));
}

TEST(cyclic_groups, agree_at_both_ends_of_every_message) {
    for (Rank size = 1; size <= 300; ++size) {
        std::vector<std::vector<Turn>> all;
        all.reserve(static_cast<std::size_t>(size));
        for (Rank rank = 0; rank < size; ++rank) all.push_back(turns(rank, size));
        for (Rank rank = 0; rank < size; ++rank) {
            for (std::size_t round = 0; round < all[static_cast<std::size_t>(rank)].size(); ++round) {
                const Turn& turn = all[static_cast<std::size_t>(rank)][round];
                if (turn.to != no_rank) EXPECT_EQ(all[static_cast<std::size_t>(turn.to)].at(round).from, rank);
                if (turn.from != no_rank) EXPECT_EQ(all[static_cast<std::size_t>(turn.from)].at(round).to, rank);
            }
        }
    }
}

}  // namespace
}  // namespace rondo::topology
