// SPDX-License-Identifier: BSD-3-Clause
// Ranks for tests: each is a process of its own, so that it has globals of its own, as in a program. What they send
// each other lies in memory that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace rondo::mpi::made_up {

inline constexpr int most_ranks = 16;

/// Plays the role in so many processes, each with a made-up library (made_up_library.hpp) in which it is a rank.
/// Failures of theirs are failures of the test. Returns when all have ended; none waits in vain for more than a few
/// seconds. `ends_by_exit`: destructors of the process run, too. Nothing is played in a test that has failed before.
void play(int ranks, const std::function<void()>& role, bool ends_by_exit = false);

/// In a role: which rank of the world it is, and of how many.
int rank();
int size();

/// What a rank has sent. It lies where the sender has put it for as long as the test lasts.
struct Message {
    Message* next;
    int from;
    std::uint64_t context;
    int tag;
    std::size_t bytes;
    alignas(16) std::byte data[16];  // and what follows
};

/// Sends without waiting for anybody. Ranks are those of the world.
void post(int to, std::uint64_t context, int tag, const void* data, std::size_t bytes);
/// The first message that fits, which stays there; nullptr if there is none.
const Message* look(int from, std::uint64_t context, int tag);
/// The same, which is gone then.
const Message* take(int from, std::uint64_t context, int tag);
/// Lets the other ranks go on, until there is a message that was not there when `posted` was asked for.
std::uint64_t posted();
void wait_for_more(std::uint64_t than);

}  // namespace rondo::mpi::made_up
