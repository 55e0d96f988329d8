// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/node.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "rondo/backends/shared_memory/processors.hpp"
#include "rondo/core/error.hpp"

namespace rondo::mpi {
/// What each rank tells the others on its node about itself.
struct NodeCard {
    shared_memory::RegionAddress address;
    cpu_set_t cores;    // the cores that it may run on
    int cores_allowed;  // how many of them at once
    Rank world_rank;
    bool has_region;
};

namespace {

/// True if `here` is true on all ranks.
bool all(bool here, MPI_Comm comm) {
    int flag = here ? 1 : 0;
    return library().Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_MIN, comm) == MPI_SUCCESS && flag == 1;
}

/// True if each rank can have a core of its own. The rank with the fewest takes the first that is free. That finds an
/// assignment if the sets of any two ranks are disjoint or nested; else it may miss one.
bool has_core_for_each(std::vector<cpu_set_t> choices) {
    std::ranges::sort(choices, {}, [](const cpu_set_t& cores) { return CPU_COUNT(&cores); });
    cpu_set_t taken;
    CPU_ZERO(&taken);
    for (const cpu_set_t& cores : choices) {
        int core = 0;
        while (core < CPU_SETSIZE && (!CPU_ISSET(core, &cores) || CPU_ISSET(core, &taken))) ++core;
        if (core == CPU_SETSIZE) return false;
        CPU_SET(core, &taken);
    }
    return true;
}

/// True if each rank has a core, and no limit is exceeded. All ranks that share a limit report it.
bool all_can_compute(const std::vector<NodeCard>& cards) {
    const auto count = static_cast<int>(cards.size());
    std::vector<cpu_set_t> choices(cards.size());
    std::ranges::transform(cards, choices.begin(), &NodeCard::cores);
    return std::ranges::all_of(cards, [&](const NodeCard& card) { return count <= card.cores_allowed; }) &&
           has_core_for_each(std::move(choices));
}

constexpr const char* messages_instead = "; messages of the library are used there";

/// Does something that a rank does alone: it may fail on this one, which the others then have to know.
template <class Do>
bool succeeds(Do&& act, std::string& complaint) {
    try {
        act();
        return true;
    } catch (const std::exception& fault) {
        if (complaint.empty()) complaint = std::string(fault.what()) + messages_instead;
        return false;
    }
}

}  // namespace

std::vector<Rank> Node::reached() const {
    std::vector<Rank> ranks;
    for (std::size_t each = 0; each < neighbour_of_.size(); ++each) {
        if (neighbour_of_[each] >= 0) ranks.push_back(static_cast<Rank>(each));
    }
    return ranks;
}

std::unique_ptr<Node> Node::meet(MPI_Comm comm, Rank world_rank, Rank world_size, bool needs_processors,
                                 bool is_oversubscribed, std::string& complaint) {
    int self = 0, count = 1;
    library().Comm_rank(comm, &self);
    library().Comm_size(comm, &count);
    if (count == 1) return nullptr;
    std::unique_ptr<Node> node;
    std::vector<NodeCard> cards;
    if (!all(succeeds([&] { cards.resize(static_cast<std::size_t>(count)); }, complaint), comm)) return nullptr;
    NodeCard own{.address = {},
                 .cores = shared_memory::own_processors(),
                 .cores_allowed = 0,
                 .world_rank = world_rank,
                 .has_region = false};
    const auto make_region = [&] {
        if (needs_processors) own.cores_allowed = shared_memory::processors_allowed();
        node.reset(new Node(self, count, world_rank, world_size));
    };
    own.has_region = succeeds(make_region, complaint);
    if (own.has_region) own.address = node->neighbours_.address();
    const bool told =
        library().Allgather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, comm) == MPI_SUCCESS;
    const auto connect = [&] {
        if (needs_processors && !all_can_compute(cards)) throw Error("not every rank has a processor of its own");
        for (int each = 0; each < count && node != nullptr; ++each) {
            const NodeCard& card = cards[static_cast<std::size_t>(each)];
            // On an oversubscribed node a rank that waits for a reader has the core that the reader needs.
            if (each != self && card.has_region) node->neighbours_.connect(each, card.address, !is_oversubscribed);
        }
    };
    bool success = told && succeeds(connect, complaint);
    // No rank settles before all have connected, and all do or none: else one would wait for messages of the library,
    // and its neighbour write into memory.
    if (!all(success, comm)) return nullptr;
    success = node == nullptr || succeeds([&] { node->neighbours_.settle(); }, complaint);
    if (!all(success, comm) || node == nullptr) return nullptr;
    node->is_oversubscribed_ = is_oversubscribed;
    return node->find_neighbours(cards, complaint) ? std::move(node) : nullptr;
}

/// Finds the ranks that are reached through memory. False if there is none.
bool Node::find_neighbours(std::span<const NodeCard> cards, std::string& complaint) {
    bool reaches_somebody = false;
    for (int each = 0; each < static_cast<int>(cards.size()); ++each) {
        const NodeCard& card = cards[static_cast<std::size_t>(each)];
        if (card.world_rank == world_rank_) continue;
        if (neighbours_.reaches(each)) {
            neighbour_of_[static_cast<std::size_t>(card.world_rank)] = each;
            reaches_somebody = true;
        } else if (complaint.empty() && card.has_region) {  // a rank without a region reports that itself
            complaint = neighbours_.reason(each) + messages_instead;
        }
    }
    return reaches_somebody;
}

bool Node::reaches_all(std::span<const Rank> world_ranks) const {
    return std::ranges::all_of(world_ranks, [&](Rank each) { return each == world_rank_ || neighbour(each) >= 0; });
}

}  // namespace rondo::mpi
