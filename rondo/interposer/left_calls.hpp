// SPDX-License-Identifier: BSD-3-Clause
// How many calls went to the library's own functions, and why: what `rondo_left_to_library` says.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rondo/algorithms/registry.hpp"

namespace rondo::interposer {

/// Calls of one collective.
struct LeftCalls {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<const char*> reason{""};

    /// One more. The reason lives for ever.
    void note(const char* why) {
        calls.fetch_add(1, std::memory_order_relaxed);
        reason.store(why, std::memory_order_relaxed);
    }
};
/// By the index in the registry.
inline std::array<LeftCalls, number_of_collectives> left_calls_of;

void forget_left_calls(std::size_t collective);

/// Since they were forgotten.
std::uint64_t left_calls(std::size_t collective);
/// Of the last of them.
const char* reason_of_left_call(std::size_t collective);

}  // namespace rondo::interposer
