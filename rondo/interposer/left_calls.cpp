// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/left_calls.hpp"

namespace rondo::interposer {

void forget_left_calls(std::size_t collective) {
    left_calls_of[collective].calls = 0;
    left_calls_of[collective].reason = "";
}

std::uint64_t left_calls(std::size_t collective) { return left_calls_of[collective].calls; }
const char* reason_of_left_call(std::size_t collective) { return left_calls_of[collective].reason; }

}  // namespace rondo::interposer
