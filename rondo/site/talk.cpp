// SPDX-License-Identifier: BSD-3-Clause
// What programs may say to Rondo while they run: the library for their ABI hears it, once it is there.
#include "rondo.h"

#include <cstdio>

#include "rondo/core/switch.hpp"
#include "rondo/site/functions.hpp"

namespace {

void say_that_nobody_hears(char* message, int size) {
    if (message == nullptr || size <= 0) return;
    std::snprintf(message, static_cast<std::size_t>(size), "%s", rondo::nobody_there);
}

template <class Type>
Type* heard_as(const char* name, Type* /*itself*/) {
    return reinterpret_cast<Type*>(rondo::site::of_rondo(name));
}

}  // namespace

#define RONDO_EXPORT extern "C" [[gnu::visibility("default")]]

RONDO_EXPORT int rondo_choose(const char* collective, const char* choice, char* message, int size) {
    if (auto* const choose = heard_as("rondo_choose", rondo_choose)) return choose(collective, choice, message, size);
    say_that_nobody_hears(message, size);
    return 1;
}

RONDO_EXPORT long long rondo_left_to_library(const char* collective, char* message, int size) {
    if (auto* const left = heard_as("rondo_left_to_library", rondo_left_to_library))
        return left(collective, message, size);
    say_that_nobody_hears(message, size);
    return -1;
}

RONDO_EXPORT unsigned long long rondo_served_again() {
    auto* const served = heard_as("rondo_served_again", rondo_served_again);
    return served != nullptr ? served() : 0;
}

RONDO_EXPORT int rondo_domains(const int* ranks, int size) {
    auto* const domains = heard_as("rondo_domains", rondo_domains);
    return domains != nullptr ? domains(ranks, size) : 1;
}

RONDO_EXPORT int rondo_shares_memory() {
    auto* const shares = heard_as("rondo_shares_memory", rondo_shares_memory);
    return shares != nullptr ? shares() : 0;
}
