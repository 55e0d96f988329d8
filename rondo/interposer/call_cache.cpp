// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/call_cache.hpp"

#include <bit>
#include <new>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/interposer/thread_end.hpp"

namespace rondo::interposer {
namespace {

constexpr std::size_t table_size = victims + places * mpi::cached_symbols;
constinit const CachedCall nobodys_cached_calls[table_size];

/// Frees the table of a thread that ends. Should the thread call MPI once more, it gets a new table.
void give_back(void* table) {
    cached_calls = nobodys_cached_calls;
    written_cached_calls = nullptr;
    delete[] static_cast<CachedCall*>(table);
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
RONDO_THREAD_LOCAL constinit CachedCall* written_cached_calls = nullptr;

CachedCall* make_cached_calls() noexcept {
    static const AtThreadEnd at_end(&give_back);
    auto* const table = new (std::nothrow) CachedCall[table_size];
    if (table == nullptr || !at_end.keep(table)) {
        delete[] table;
        return nullptr;
    }
    cached_calls = written_cached_calls = table;
    return table;
}

CachedCall* find_victim(const void* function, const CachedCall& in_place, const CacheKey& call) {
    const CachedCall& kept = cached_calls[victim_place(function, call)];
    // Communicators share places. A key made for another rank may leave out other arguments.
    const bool is_kept = kept.function == function && kept.rank == in_place.rank;
    return is_kept ? const_cast<CachedCall*>(&kept) : nullptr;  // this thread's own: shared entries have no function
}

void evict(const void* function, const CachedCall& in_place, const CacheKey& call) {
    CachedCall& old = written_cached_calls[victim_place(function, call)];
    if (old.function == function && old.key == call) old.forget(call);
    if (!in_place.goes_anywhere() || in_place.key == call) return;
    CachedCall& kept = written_cached_calls[victim_place(function, in_place.key)];
    kept = in_place;
    kept.function = function;
}

}  // namespace rondo::interposer
