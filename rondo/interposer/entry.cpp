// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/entry.hpp"

namespace rondo::interposer {
namespace {

/// Where there is no memory to remember it.
[[gnu::noinline]] int serve_once(mpi::Function function, const Words& words, const void* caller) {
    LastCall forgotten;
    return serve_words(function, words, caller, forgotten);
}

}  // namespace

int serve_unknown(mpi::Function function, const Words& words, const CallWords& deciding, std::size_t first_place,
                  const void* caller) {
    LastCall* const own = own_last_calls();
    if (own == nullptr) return serve_once(function, words, caller);
    LastCall& last = own[first_place + place_of(deciding.comm)];
    keep_beside(own + first_place, last, deciding);
    last.forget(deciding);
    return serve_words(function, words, caller, last);
}

}  // namespace rondo::interposer
