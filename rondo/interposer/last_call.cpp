// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/last_call.hpp"

#include <array>
#include <bit>

namespace rondo::interposer {
namespace {

constexpr std::size_t places_beside = 32;  // 8 KiB for each thread
RONDO_THREAD_LOCAL constinit std::array<LastCall, places_beside> beside;

LastCall& place_beside(const void* function, const CallWords& call) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    std::uint64_t hash = std::bit_cast<std::uintptr_t>(function);
    for (const std::uint64_t word : {std::uint64_t{call.comm}, static_cast<std::uint64_t>(call.count),
                                     std::uint64_t{call.datatype ^ call.op}, static_cast<std::uint64_t>(call.root)}) {
        hash = (std::rotl(hash, 5) ^ word) * spread;
    }
    return beside[static_cast<std::size_t>(hash >> 32) % places_beside];
}

}  // namespace

LastCall* kept_beside(const void* function, const LastCall& last, const CallWords& call) {
    LastCall& kept = place_beside(function, call);
    // Communicators share places. Where the rank is another one, words mean something else.
    return kept.function == function && kept.rank == last.rank ? &kept : nullptr;
}

void keep_beside(const void* function, const LastCall& last, const CallWords& call) {
    LastCall& old = place_beside(function, call);
    if (old.function == function && old.words == call) old.forget(call);
    const std::uint64_t now = mpi::era();
    if ((last.served_in != now && last.handed_on_in != now) || last.words == call) return;
    LastCall& kept = place_beside(function, last.words);
    kept = last;
    kept.function = function;
}

}  // namespace rondo::interposer
