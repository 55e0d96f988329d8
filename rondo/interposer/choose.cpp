// SPDX-License-Identifier: BSD-3-Clause
#include "rondo.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/world.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/switch.hpp"
#include "rondo/interposer/call_cache.hpp"
#include "rondo/interposer/left_calls.hpp"
#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {
namespace {

void say(const char* text, char* message, int size) {
    if (message != nullptr && size > 0) std::snprintf(message, static_cast<std::size_t>(size), "%s", text);
}

/// Throws Error if the algorithm uses nodes and none are known: it would take each rank for a node, and not be what its
/// name says.
void require_nodes(const Choice& wanted, std::string_view collective) {
    int ranks = 1;
    mpi::library().Comm_size(mpi::library().comm_world, &ranks);
    if (!wanted.uses_nodes() || ranks == 1 || mpi::world().knows_nodes()) return;
    const std::string name(wanted.is_predicted ? by_the_model : wanted.algorithm->name);
    throw Error(name + " uses nodes, which Rondo finds in MPI_Init if it is asked to: start with " +
                variable_of(collective) + "=" + name + ", or with RONDO_NODES");
}

void choose(const char* collective, const char* choice, const void* caller) {
    const Collective& subject = require_collective(collective == nullptr ? "" : collective);
    std::optional<Choice> wanted;
    if (choice != nullptr && *choice != '\0') wanted = parse_choice(subject, choice);
    Runtime* here = runtime_to_instruct(caller);
    if (here == nullptr) throw Error(nobody_there);
    const std::string& left_out_by = here->instructions.left_out_by();
    if (!left_out_by.empty()) throw Error("this program is left to the MPI library, by " + left_out_by);
    if (wanted) require_nodes(*wanted, subject.name);
    const std::size_t index = index_of(subject);
    here->instructions.override_choice(index, std::move(wanted));
    mpi::end_epoch();
    left_calls_of[index].forget();
}

}  // namespace
}  // namespace rondo::interposer

#define RONDO_EXPORT extern "C" __attribute__((visibility("default")))

RONDO_EXPORT int rondo_choose(const char* collective, const char* choice, char* message, int size) {
    try {
        rondo::interposer::choose(collective, choice, __builtin_return_address(0));
        return 0;
    } catch (const std::exception& error) {
        rondo::interposer::say(error.what(), message, size);
        return 1;
    }
}

RONDO_EXPORT unsigned long long rondo_served_again() { return rondo::interposer::served_again; }

RONDO_EXPORT int rondo_domains(const int* ranks, int size) {
    const rondo::mpi::World& world = rondo::mpi::world();
    if (ranks == nullptr || size < 1) return 1;
    const std::span<const rondo::Rank> some(ranks, static_cast<std::size_t>(size));
    const auto exists = [&](rondo::Rank rank) { return rank >= 0 && rank < world.size(); };
    return std::ranges::all_of(some, exists) ? world.spread(some).domains.most : 1;
}

RONDO_EXPORT int rondo_shares_memory() { return rondo::mpi::world().shares_memory() ? 1 : 0; }

RONDO_EXPORT long long rondo_left_to_library(const char* collective, char* message, int size) {
    using namespace rondo::interposer;
    try {
        const rondo::Collective& subject = rondo::require_collective(collective == nullptr ? "" : collective);
        const LeftCalls& left = left_calls_of[index_of(subject)];
        say(left.reason, message, size);
        return static_cast<long long>(left.calls);
    } catch (const std::exception& error) {
        say(error.what(), message, size);
        return -1;
    }
}
