// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/last_call.hpp"

#include <pthread.h>

#include <bit>
#include <iterator>
#include <new>

#include "rondo/backends/mpi/wrapped_functions.hpp"

namespace rondo::interposer {
namespace {

constexpr std::size_t table_size = places_beside + places * std::size(mpi::symbols);
constinit const LastCall nobodys_last_calls[table_size];

/// Of a thread that ends. Should it call MPI once more, it gets a table once more.
void give_back(void* table) {
    last_calls = nobodys_last_calls;
    written_last_calls = nullptr;
    delete[] static_cast<LastCall*>(table);
}

struct Key {
    Key() noexcept : exists(pthread_key_create(&key, &give_back) == 0) {}
    pthread_key_t key{};
    bool exists;
};

std::size_t place_beside(const void* function, const CallWords& call) {
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    std::uint64_t hash = std::bit_cast<std::uintptr_t>(function);
    for (const std::uint64_t word : {std::uint64_t{call.comm}, static_cast<std::uint64_t>(call.count),
                                     std::uint64_t{call.datatype ^ call.op}, static_cast<std::uint64_t>(call.root)}) {
        hash = (std::rotl(hash, 5) ^ word) * spread;
    }
    return static_cast<std::size_t>(hash >> 32) % places_beside;
}

}  // namespace

RONDO_THREAD_LOCAL constinit std::uint64_t served_again = 0;
RONDO_THREAD_LOCAL constinit const LastCall* last_calls = nobodys_last_calls;
RONDO_THREAD_LOCAL constinit LastCall* written_last_calls = nullptr;

LastCall* make_last_calls() noexcept {
    static const Key key;
    if (!key.exists) return nullptr;
    auto* const table = new (std::nothrow) LastCall[table_size];
    if (table == nullptr) return nullptr;
    if (pthread_setspecific(key.key, table) != 0) {
        delete[] table;
        return nullptr;
    }
    last_calls = written_last_calls = table;
    return table;
}

LastCall* kept_beside(const void* function, const LastCall& last, const CallWords& call) {
    const LastCall& kept = last_calls[place_beside(function, call)];
    // Communicators share places. Where the rank is another one, words mean something else.
    const bool is_kept = kept.function == function && kept.rank == last.rank;
    return is_kept ? const_cast<LastCall*>(&kept) : nullptr;  // one of this thread's own: the others have no function
}

void keep_beside(const void* function, const LastCall& last, const CallWords& call) {
    LastCall& old = written_last_calls[place_beside(function, call)];
    if (old.function == function && old.words == call) old.forget(call);
    const std::uint64_t now = mpi::epoch();
    const bool is_known = last.served_in == now || last.handed_on_in == now || last.counted_in == now;
    if (!is_known || last.words == call) return;
    LastCall& kept = written_last_calls[place_beside(function, last.words)];
    kept = last;
    kept.function = function;
}

}  // namespace rondo::interposer
