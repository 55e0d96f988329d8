// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/left_calls.hpp"

#include <array>
#include <atomic>

#include "rondo/interposer/instructions.hpp"

namespace rondo::interposer {
namespace {

/// Calls of one collective.
struct Left {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<const char*> reason{""};
};
std::array<Left, number_of_collectives> left;

}  // namespace

void note_left_call(std::size_t collective, const char* reason) {
    left[collective].calls.fetch_add(1, std::memory_order_relaxed);
    left[collective].reason.store(reason, std::memory_order_relaxed);
}

void forget_left_calls(std::size_t collective) {
    left[collective].calls = 0;
    left[collective].reason = "";
}

std::uint64_t left_calls(std::size_t collective) { return left[collective].calls; }
const char* reason_of_left_call(std::size_t collective) { return left[collective].reason; }

}  // namespace rondo::interposer
