// SPDX-License-Identifier: BSD-3-Clause
// How many calls went to the library's own functions, and why: what `rondo_left_to_library` says.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rondo/algorithms/registry.hpp"

namespace rondo::interposer {

/// Calls of one collective that were left to the library since `forget`.
struct LeftCalls {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<const char*> reason{""};

    /// Counts a call. The reason is never freed.
    void note(const char* why) {
        calls.fetch_add(1, std::memory_order_relaxed);
        reason.store(why, std::memory_order_relaxed);
    }
    void forget() {
        calls = 0;
        reason = "";
    }
};
/// One for each collective, by its index in the registry.
inline std::array<LeftCalls, number_of_collectives> left_calls_of;

}  // namespace rondo::interposer
