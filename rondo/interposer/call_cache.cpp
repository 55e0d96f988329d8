// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/call_cache.hpp"

#include <bit>
#include <new>
#include <type_traits>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/interposer/forwarded_anywhere.hpp"
#include "rondo/interposer/thread_end.hpp"

namespace rondo::interposer {
namespace {

constexpr std::size_t table_size = victims + places * mpi::cached_symbols;
constinit const CachedCall nobodys_cached_calls[table_size];

/// A thread keeps its calls here. A pointer to the first of them is a pointer to the whole memory.
struct Memory {
    CachedCall calls[table_size];
    ForwardedAnywhere forwarded;
};
static_assert(std::is_standard_layout_v<Memory>);

/// This thread's memory; nullptr without one.
Memory* own_memory() noexcept {
    if (cached_calls == nobodys_cached_calls) return nullptr;
    return reinterpret_cast<Memory*>(const_cast<CachedCall*>(cached_calls));
}

/// Frees what a thread remembers that ends. Should it call MPI once more, it remembers anew.
void give_back(void* memory) {
    cached_calls = nobodys_cached_calls;
    delete static_cast<Memory*>(memory);
}

std::size_t victim_place(const void* function, const CacheKey& call) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    std::uint64_t hash = std::bit_cast<std::uintptr_t>(function);
    for (const std::uint64_t word : {std::uint64_t{call.comm}, static_cast<std::uint64_t>(call.count),
                                     std::uint64_t{call.datatype ^ call.op}, static_cast<std::uint64_t>(call.root)}) {
        hash = (std::rotl(hash, 5) ^ word) * spread;
    }
    return static_cast<std::size_t>(hash >> 32) % victims;
}

}  // namespace

RONDO_THREAD_LOCAL constinit std::uint64_t served_again = 0;
RONDO_THREAD_LOCAL constinit const CachedCall* cached_calls = nobodys_cached_calls;

CachedCall* own_cached_calls() noexcept {
    if (Memory* const own = own_memory()) return own->calls;
    static const AtThreadEnd at_end(&give_back);
    auto* const memory = new (std::nothrow) Memory;
    if (memory == nullptr || !at_end.keep(memory)) {
        delete memory;
        return nullptr;
    }
    cached_calls = memory->calls;
    return memory->calls;
}

ForwardedAnywhere* forwarded_anywhere() noexcept {
    Memory* const own = own_memory();
    return own != nullptr ? &own->forwarded : nullptr;
}

CachedCall* find_victim(const void* function, const CachedCall& in_place, const CacheKey& call) {
    const CachedCall& kept = cached_calls[victim_place(function, call)];
    // Communicators share places. A key made for another rank may leave out other arguments.
    const bool is_kept = kept.function == function && kept.rank == in_place.rank;
    return is_kept ? const_cast<CachedCall*>(&kept) : nullptr;  // this thread's own: shared entries have no function
}

void evict(const void* function, const CachedCall& in_place, const CacheKey& call) {
    CachedCall* const own = own_cached_calls();  // the thread has some
    CachedCall& old = own[victim_place(function, call)];
    if (old.function == function && old.key == call) old.forget(call);
    if (!in_place.goes_anywhere() || in_place.key == call) return;
    CachedCall& kept = own[victim_place(function, in_place.key)];
    kept = in_place;
    kept.function = function;
}

}  // namespace rondo::interposer
