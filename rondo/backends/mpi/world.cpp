// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <numeric>
#include <string_view>

#include "rondo/backends/mpi/reduction.hpp"
#include "rondo/backends/mpi/roll_call_of_world.hpp"
#include "rondo/backends/shared_memory/domains.hpp"
#include "rondo/backends/shared_memory/processors.hpp"
#include "rondo/backends/shared_memory/region.hpp"
#include "rondo/core/fingerprint.hpp"

namespace rondo::mpi {
namespace {

constexpr int guaranteed_tag = 32767;

/// Has errors on a communicator returned as codes while it lives. Nobody else may be able to use the communicator then.
class ErrorsReturned {
  public:
    explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
        library().Comm_get_errhandler(comm, &before_);
        library().Comm_set_errhandler(comm, library().errors_return);
    }
    ErrorsReturned(const ErrorsReturned&) = delete;
    ErrorsReturned& operator=(const ErrorsReturned&) = delete;
    ~ErrorsReturned() {
        library().Comm_set_errhandler(comm_, before_);
        library().Errhandler_free(&before_);
    }

  private:
    MPI_Comm comm_;
    MPI_Errhandler before_{};
};

/// Replaces each value by the least over all ranks. False if the library could not tell.
template <std::size_t size>
bool all_minimum(MPI_Comm comm, long long (&values)[size]) {
    return library().Allreduce(MPI_IN_PLACE, values, size, MPI_LONG_LONG, MPI_MIN, comm) == MPI_SUCCESS;
}

int largest_tag() {
    int* largest = nullptr;
    int found = 0;
    library().Comm_get_attr(library().comm_world, MPI_TAG_UB, static_cast<void*>(&largest), &found);
    return found != 0 ? std::max(*largest, guaranteed_tag) : guaranteed_tag;
}

/// A hash that is not negative, so that ranks can compare it by its least and its greatest value.
long long hash_of(std::string_view name) {
    Fingerprint fingerprint;
    fingerprint.add(name);
    return static_cast<long long>(fingerprint.value() >> 1);
}

/// True if these ranks of one machine have as many processors together as they are. Equal on all of them. A rank that
/// cannot tell its processors adds none.
bool has_processor_for_each(MPI_Comm comm, int ranks) {
    static_assert(sizeof(cpu_set_t) % sizeof(std::uint64_t) == 0);
    cpu_set_t processors = shared_memory::own_processors();
    constexpr int words = sizeof processors / sizeof(std::uint64_t);
    return library().Allreduce(MPI_IN_PLACE, &processors, words, MPI_UINT64_T, MPI_BOR, comm) == MPI_SUCCESS &&
           ranks <= CPU_COUNT(&processors);
}

}  // namespace

bool was_spawned() {
    MPI_Comm parent = library().comm_null;
    return library().Comm_get_parent(&parent) != MPI_SUCCESS || parent != library().comm_null;
}

World& world() {
    static World& the_world = *new World;
    return the_world;
}

struct World::Votes {
    bool ranks_agree;
    int tags;  // of a context, at most
    bool are_on_one_host, are_on_one_machine, may_share_memory;
};

void World::agree(std::uint64_t instructions, bool ask_for_nodes, MemorySharing sharing, const std::string& machine) {
    const MPI_Comm all = library().comm_world;
    messages_ = library().comm_null;
    const ErrorsReturned errors_returned(all);
#ifdef RONDO_ABI_OPENMPI
    // Errors of MPI_Reduce_local are reported there. MPICH, too, asks MPI_COMM_SELF first, but only once somebody has
    // set its handler, which cannot be unset: until then it asks MPI_COMM_WORLD.
    const ErrorsReturned errors_of_self(library().comm_self);
#endif
    library().Comm_rank(all, &rank_);
    library().Comm_size(all, &size_);
    if (size_ == 1 || library().Comm_group(all, &group_) != MPI_SUCCESS) return;
    ranks_.resize(static_cast<std::size_t>(size_));
    std::iota(ranks_.begin(), ranks_.end(), 0);
    const std::optional<Votes> votes = vote(instructions, sharing, machine);
    if (!votes) return;
    agreed_ = true;
    ranks_disagree_ = !votes->ranks_agree;
    if (ranks_disagree_ || !make_communicator(votes->tags)) return;
    const bool may_share_by_itself = votes->are_on_one_host && size_ <= most_sharing_ranks && votes->may_share_memory;
    if (sharing == MemorySharing::automatic && !may_share_by_itself) sharing = MemorySharing::off;
    if (ask_for_nodes || sharing != MemorySharing::off) find_nodes(sharing, votes->are_on_one_machine);
    if (!ask_for_nodes && sharing == MemorySharing::automatic) {
        // No instruction asks for nodes: a program's choices shall not depend on where it happens to run.
        node_of_.clear();
        domain_of_.clear();
        spread_ = {};
    }
}

/// The votes of all ranks; nothing if they could not be asked.
std::optional<World::Votes> World::vote(std::uint64_t instructions, MemorySharing sharing,
                                        const std::string& machine_name) {
    const auto hash = static_cast<long long>(instructions >> 1);
    int threads = MPI_THREAD_MULTIPLE;
    library().Query_thread(&threads);
    const long long host = hash_of(host_name()), machine = hash_of(machine_name);
    // All ranks vote, as the question who spawned them may fail on one. SimGrid aborts on it.
    const bool may_share =
        sharing == MemorySharing::automatic && !shared_memory::addresses_are_limited() && !was_spawned();
    const auto reductions = static_cast<long long>(compare_reductions() >> 1);
    const long long is_serial = threads < MPI_THREAD_MULTIPLE ? 1 : 0;
    long long votes[11] = {Contexts::most_tags(largest_tag()),
                           is_serial,
                           may_share ? 1 : 0,
                           hash,
                           -hash,
                           host,
                           -host,
                           reductions,
                           -reductions,
                           machine,
                           -machine};
    const auto is_equal = [&](int first) { return votes[first] == -votes[first + 1]; };
    const Roll roll = call_roll_of_world(ranks_, rank_, votes);
    misses_ranks_ = !roll.is_complete;
    hears_lower_ranks_ = roll.hears_lower_ranks;
    if (misses_ranks_) return std::nullopt;
    if (!is_equal(7)) distrust_reductions();
    is_serial_ = votes[1] != 0;
    return Votes{.ranks_agree = is_equal(3),
                 .tags = static_cast<int>(votes[0]),
                 .are_on_one_host = is_equal(5),
                 .are_on_one_machine = is_equal(9),
                 .may_share_memory = votes[2] != 0};
}

/// Makes the communicator for Rondo's messages, and contexts of so many tags. False, on all ranks, if the library makes
/// none.
bool World::make_communicator(int tags) {
    const MPI_Comm all = library().comm_world;
    // MPI_Comm_dup would call back tools that have set attributes already.
    MPI_Comm made = library().comm_null;
    if (library().Comm_create(all, group_, &made) != MPI_SUCCESS) made = library().comm_null;
    long long success[1] = {made != library().comm_null ? 1 : 0};
    if (!all_minimum(all, success) || success[0] == 0) {
        if (made != library().comm_null) library().Comm_free(&made);
        return false;
    }
    library().Comm_set_errhandler(made, library().errors_return);
    messages_ = made;
    contexts_.begin(tags);
    return true;
}

bool World::all_say(bool true_here) {
    long long least[1] = {true_here ? 1 : 0};
    return messages_ != library().comm_null && all_minimum(messages_, least) && least[0] != 0;
}

bool World::share_text(std::string& text) {
    if (messages_ == library().comm_null) return false;
    constexpr int root = 0, longest = 1 << 24;
    int length = static_cast<int>(std::min<std::size_t>(text.size(), longest));
    if (library().Bcast(&length, 1, MPI_INT, root, messages_) != MPI_SUCCESS) length = 0;
    if (length == 0) {
        text.clear();
        return true;
    }
    bool done = true;
    try {
        text.resize(static_cast<std::size_t>(length));
    } catch (const std::bad_alloc&) {
        done = false;
    }
    if (!all_say(done)) return false;
    return library().Bcast(text.data(), length, MPI_CHAR, root, messages_) == MPI_SUCCESS;
}

/// Finds the node of each rank. Collective over the messages' communicator. A rank on which something fails has no
/// node, which it tells the others all the same. `are_on_one_machine`: all ranks, whose nodes are
/// then containers, or emulated, if there are several; what has to do is the processors of all.
void World::find_nodes(MemorySharing sharing, bool are_on_one_machine) {
    MPI_Comm node;
    Rank first = rank_;
    // The numbers say that the node was found, who complains, that this rank reaches all others of its node, and that
    // there is a processor for each.
    long long known[4] = {0, size_, 0, !are_on_one_machine || has_processor_for_each(messages_, size_) ? 1 : 0};
    if (library().Comm_split_type(messages_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        library().Comm_set_errhandler(node, library().errors_return);
        known[0] = library().Bcast(&first, 1, MPI_INT, 0, node) == MPI_SUCCESS ? 1 : 0;
        int ranks = 0;
        library().Comm_size(node, &ranks);
        if (!are_on_one_machine && !has_processor_for_each(node, ranks)) known[3] = 0;
        if (shared_memory::processors_allowed() < ranks) known[3] = 0;  // what a container may use is about its ranks
        const bool is_automatic = sharing == MemorySharing::automatic;
        if (sharing == MemorySharing::on || (is_automatic && ranks == size_)) {
            node_ = Node::meet(node, rank_, size_, is_automatic, known[3] == 0, complaint_);
            if (is_automatic) complaint_.clear();
            const std::size_t reached = node_ != nullptr ? node_->reached().size() : 0;
            known[2] = reached + 1 == static_cast<std::size_t>(ranks) ? 1 : 0;
        }
        if (!complaint_.empty()) known[1] = rank_;
        library().Comm_free(&node);
    }
    struct Place {
        Rank first_on_node;
        shared_memory::Parts parts;
    };
    constexpr int ints = 1 + static_cast<int>(shared_memory::kinds_of_parts);
    static_assert(sizeof(Place) == ints * sizeof(int));
    const Place own = {first, shared_memory::parts_of(shared_memory::own_processors())};
    std::vector<Place> places(static_cast<std::size_t>(size_));
    const bool gathered =
        library().Allgather(&own, ints, MPI_INT, places.data(), ints, MPI_INT, messages_) == MPI_SUCCESS;
    if (!gathered) known[0] = 0;
    std::vector<Rank> nodes, domains;
    std::vector<shared_memory::Parts> parts;
    for (const Place& each : places) {
        nodes.push_back(each.first_on_node);
        parts.push_back(each.parts);
    }
    if (gathered) domains = shared_memory::domains_of(nodes, parts);
    if (domains == nodes) domains.clear();
    if (all_minimum(messages_, known) && known[0] != 0) {
        take_nodes(std::move(nodes), std::move(domains));
        shares_memory_ = known[2] != 0;
        is_oversubscribed_ = known[3] == 0;
    }
    if (known[1] != rank_) complaint_.clear();
}

bool World::impose(const Placement& placement) {
    if (!agreed_ || ranks_disagree_) return true;
    if (placement.is_of_domains() && spread_.nodes.most != 1) return false;
    std::vector<Rank> group_of;
    group_of.reserve(ranks_.size());
    for (const Rank rank : ranks_) group_of.push_back(placement.place(rank).node);
    if (placement.is_of_domains()) {
        take_nodes(node_of_, std::move(group_of));
    } else {
        shares_memory_ = false;  // unknown on such nodes
        take_nodes(std::move(group_of), {});
    }
    return true;
}

void World::take_nodes(std::vector<Rank> node_of, std::vector<Rank> domain_of) {
    node_of_ = std::move(node_of);
    domain_of_ = std::move(domain_of);
    ranks_in_.assign(node_of_.size(), 0);
    spread_ = spread(ranks_);
}

Rank World::first_rank_after_0(bool on_its_node) const {
    const std::vector<Rank>& group_of = on_its_node && !domain_of_.empty() ? domain_of_ : node_of_;
    for (std::size_t rank = 1; rank < group_of.size(); ++rank) {
        if ((group_of[rank] == group_of[0]) == on_its_node) return static_cast<Rank>(rank);
    }
    return no_rank;
}

std::optional<Placement> World::placement(std::span<const Rank> ranks) const {
    const Spread spread = this->spread(ranks);
    if (spread.nodes.most == 0) return std::nullopt;
    const bool has_domains = spread.domains.most > 1;
    if (!has_domains && spread.is_even() && spread.in_rank_order) {
        return Placement::regular(spread.nodes.most, spread.most_on_node.most);
    }
    const std::vector<Rank>& group_of = has_domains ? domain_of_ : node_of_;
    std::vector<Rank> groups(ranks.size());
    std::transform(ranks.begin(), ranks.end(), groups.begin(),
                   [&](Rank rank) { return group_of[static_cast<std::size_t>(rank)]; });
    const Placement placement = Placement::of(groups);
    return has_domains ? placement.as_domains() : placement;
}

World::Groups World::groups(std::span<const Rank> ranks, const std::vector<Rank>& group_of) const {
    const auto group_number = [&](Rank rank) {
        return static_cast<std::size_t>(group_of[static_cast<std::size_t>(rank)]);
    };
    const std::lock_guard lock(counting_);
    Groups found = {0, 0, 0, true};
    std::size_t last = 0;
    for (const Rank rank : ranks) {
        const std::size_t group = group_number(rank);
        if (ranks_in_[group]++ == 0) ++found.number;
        else if (group != last) found.in_rank_order = false;
        last = group;
    }
    found.fewest = found.most = ranks_in_[last];
    for (const Rank rank : ranks) {
        found.fewest = std::min(found.fewest, ranks_in_[group_number(rank)]);
        found.most = std::max(found.most, ranks_in_[group_number(rank)]);
    }
    for (const Rank rank : ranks) ranks_in_[group_number(rank)] = 0;
    return found;
}

Spread World::spread(std::span<const Rank> ranks) const {
    if (node_of_.empty() || ranks.empty()) return {};
    const Groups nodes = groups(ranks, node_of_);
    Spread spread = {.nodes = {nodes.number, nodes.number},
                     .fewest_on_node = {nodes.fewest, nodes.fewest},
                     .most_on_node = {nodes.most, nodes.most},
                     .in_rank_order = nodes.in_rank_order};
    if (nodes.number > 1 || domain_of_.empty()) return spread;
    const Groups domains = groups(ranks, domain_of_);
    if (domains.most > 1) spread.domains = {domains.number, domains.number};
    return spread;
}

Spread World::possible_spread(Rank ranks) const {
    if (node_of_.empty()) return {};
    if (ranks == size_) {
        Spread whole = spread_;
        whole.in_rank_order = false;  // the ranks may be in any order
        return whole;
    }
    Spread possible = Spread::possible(ranks, spread_.nodes.most, spread_.most_on_node.most);
    if (!domain_of_.empty()) possible.domains.most = ranks;
    return possible;
}

/// Ends the world. Freeing the communicator is as collective as MPI_Finalize: all do it. MPICH calls it an error where
/// a call that has failed on this rank has left messages, and then leaves it at that.
void World::end() {
    const ErrorsReturned errors_of_world(library().comm_world), errors_of_self(library().comm_self);
    if (messages_ != MPI_Comm{} && messages_ != library().comm_null) library().Comm_free(&messages_);
    if (group_ != MPI_Group{}) library().Group_free(&group_);
    messages_ = library().comm_null;
    contexts_.end();
    group_ = {};
}

}  // namespace rondo::mpi
