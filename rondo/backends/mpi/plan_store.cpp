// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/plan_store.hpp"

#include <bit>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/least_recent.hpp"

namespace rondo::mpi {
namespace {

/// All facts that a plan depends on, one after the other.
using PlanKey = std::vector<Count>;

struct PlanKeyHash {
    std::size_t operator()(const PlanKey& key) const {
        std::uint64_t hash = key.size();
        for (const Count part : key) {
            hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15U;
            hash ^= hash >> 29;
        }
        return static_cast<std::size_t>(hash);
    }
};

/// Adds the nodes, numbered alike wherever they are alike. Algorithms that do not ask for nodes have no placement:
/// communicators share their plans wherever the ranks are.
void add_placement(const Placement* placement, PlanKey& key) {
    if (placement == nullptr || placement->is_regular()) {
        key.push_back(placement == nullptr ? 0 : placement->nodes());
        return;
    }
    key.push_back(-1);
    for (Rank rank = 0; rank < placement->size(); ++rank) key.push_back(placement->place(rank).node);
}

PlanKey key_of(const Call& call, const AlgorithmInfo& algorithm, std::span<const Setting> settings) {
    const SharedFacts& facts = call.facts();
    const LocalFacts& local = call.local();
    PlanKey key;
    key.reserve(8 + settings.size() + facts.starts.size());
    for (const Count part :
         {std::bit_cast<Count>(&algorithm), Count{facts.size}, facts.count, facts.element_bytes, Count{facts.root},
          Count{local.rank}, Count{facts.op.commutative} << 1 | Count{local.in_place}}) {
        key.push_back(part);
    }
    for (const Setting& setting : settings) key.push_back(setting.value);
    add_placement(facts.placement, key);
    key.insert(key.end(), facts.starts.begin(), facts.starts.end());
    for (const std::span<const Block> blocks : {local.outgoing, local.incoming}) {
        for (const Block& block : blocks) {
            key.push_back(block.first);
            key.push_back(block.count);
        }
    }
    return key;
}

std::size_t bytes_of(const PlanKey& key, const Plan& plan) { return plan.bytes() + key.size() * sizeof(Count); }

struct Store {
    std::mutex mutex;
    LeastRecent<PlanKey, std::shared_ptr<const Plan>, PlanKeyHash> plans;
    std::size_t bytes = 0;
    std::size_t limit = 0;  // set by `limit_plan_memory`

    /// Makes room for a plan. The caller holds the mutex.
    void make_room(std::size_t wanted) {
        while (plans.size() > 0 && bytes + wanted > limit) {
            bytes -= bytes_of(plans.oldest().first, *plans.oldest().second);
            plans.forget_oldest();
        }
    }
};

/// Returns the store, which is never destroyed: other libraries may call MPI while the process ends.
Store& store() {
    static Store& the_store = *new Store;
    return the_store;
}

}  // namespace

std::shared_ptr<const Plan> plan_of(const Call& call, const AlgorithmInfo& algorithm,
                                    std::span<const Setting> settings) {
    PlanKey key = key_of(call, algorithm, settings);
    Store& all = store();
    {
        const std::lock_guard lock(all.mutex);
        if (const auto* known = all.plans.find(key)) return known->second;
    }
    auto fresh = std::make_shared<const Plan>(Plan::of(call, algorithm));
    const std::lock_guard lock(all.mutex);
    if (const auto* known = all.plans.find(key)) return known->second;  // another thread was faster
    const std::size_t bytes = bytes_of(key, *fresh);
    all.make_room(bytes);
    all.plans.add(std::move(key), fresh);
    all.bytes += bytes;
    return fresh;
}

void limit_plan_memory(std::size_t bytes) {
    Store& all = store();
    const std::lock_guard lock(all.mutex);
    all.limit = bytes;
    all.make_room(0);
}

}  // namespace rondo::mpi
