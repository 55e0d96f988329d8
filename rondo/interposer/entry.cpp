// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/entry.hpp"

namespace rondo::interposer {

[[gnu::noinline]] int serve_once(mpi::Function function, const Words& words, const void* caller) {
    CachedCall forgotten;
    return serve_words(function, words, caller, forgotten);
}

int serve_unknown(mpi::Function function, const Words& words, const CacheKey& key, std::size_t first_place,
                  const void* caller) {
    CachedCall* const own = own_cached_calls();
    if (own == nullptr) return serve_once(function, words, caller);
    CachedCall& cached = own[first_place + place_of(key.comm)];
    evict(own + first_place, cached, key);
    cached.forget(key);
    return serve_words(function, words, caller, cached);
}

}  // namespace rondo::interposer
