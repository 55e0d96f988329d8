// SPDX-License-Identifier: BSD-3-Clause
// How many calls went to the library's own functions, and why: what `rondo_left_to_library` says.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rondo/algorithms/registry.hpp"

namespace rondo::interposer {

/// Calls of one collective that were left to the library.
struct LeftCalls {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<const char*> reason{""};

    /// Counts a call. The reason is never freed.
    void note(const char* why) {
        calls.fetch_add(1, std::memory_order_relaxed);
        reason.store(why, std::memory_order_relaxed);
    }
};
/// One for each collective, by its index in the registry.
inline std::array<LeftCalls, number_of_collectives> left_calls_of;

void forget_left_calls(std::size_t collective);

/// Calls of a collective left to the library since forget_left_calls.
std::uint64_t left_calls(std::size_t collective);
/// The reason of the last call left to the library.
const char* reason_of_left_call(std::size_t collective);

}  // namespace rondo::interposer
