// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/profiler/communicators.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/profiler/file.hpp"
#include "rondo/profiler/recorder.hpp"

namespace rondo::profiler {
namespace {

constexpr std::size_t most_groups = 1U << 16U;  // whose communicators are told apart

using Kind = std::tuple<Text, Text, int, int, int>;  // name, made by, size, nodes, ranks on the fullest

struct Known {
    std::vector<int> first_on_node;  // of each rank of the world
    std::map<MPI_Comm, Communicator> communicators;
    std::map<MPI_Comm, const char*> announced;
    std::map<Kind, std::uint32_t> kinds;
    std::map<std::uint64_t, std::uint32_t> of_group;  // how many communicators there were
};

/// Never destroyed: other libraries may still call MPI while the process ends.
Known& known() {
    static Known& all = *new Known;
    return all;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 29U;
}

/// The ranks of MPI_COMM_WORLD that are in a communicator, in its order; MPI_UNDEFINED for those of other worlds.
std::vector<int> world_ranks(MPI_Comm handle, int size) {
    const mpi::Library& library = mpi::library();
    std::vector<int> ranks(static_cast<std::size_t>(size)), theirs(ranks.size(), MPI_UNDEFINED);
    std::iota(ranks.begin(), ranks.end(), 0);
    MPI_Group group{}, world{};
    if (library.Comm_group(handle, &group) != MPI_SUCCESS) return theirs;
    if (library.Comm_group(library.comm_world, &world) == MPI_SUCCESS) {
        library.Group_translate_ranks(group, size, ranks.data(), world, theirs.data());
        library.Group_free(&world);
    }
    library.Group_free(&group);
    return theirs;
}

struct Placement {
    int nodes = 0, ranks_per_node = 0;
};

Placement placement_of(const std::vector<int>& ranks) {
    std::map<int, int> on_node;
    for (const int rank : ranks) {
        const bool is_known = rank >= 0 && static_cast<std::size_t>(rank) < known().first_on_node.size();
        ++on_node[is_known ? known().first_on_node[static_cast<std::size_t>(rank)] : -1];
    }
    Placement result{static_cast<int>(on_node.size()), 0};
    for (const auto& [node, count] : on_node) result.ranks_per_node = std::max(result.ranks_per_node, count);
    return result;
}

std::string name_of_communicator(MPI_Comm handle) {
    char text[MPI_MAX_OBJECT_NAME] = "";
    int length = 0;
    if (mpi::library().Comm_get_name(handle, text, &length) != MPI_SUCCESS) return "";
    return text;
}

/// The number of communicators like this one in the file; the last place is for all for which there is none.
std::uint32_t kind_of(MPI_Comm handle, const char* made_by, int size, const Placement& placement) {
    Known& all = known();
    Header& header = recorder.image->header;
    auto& kinds = recorder.image->communicators;
    const Kind key{keep(name_of_communicator(handle)), keep(made_by), size, placement.nodes, placement.ranks_per_node};
    const auto found = all.kinds.find(key);
    std::uint32_t number = 0;
    if (found != all.kinds.end()) {
        number = found->second;
    } else if (header.communicators + 1 < kinds.size()) {
        number = header.communicators;
        kinds[number] = {std::get<0>(key), std::get<1>(key), size, placement.nodes, placement.ranks_per_node, 0, {}};
        all.kinds.emplace(key, number);
        ++header.communicators;
    } else {
        number = static_cast<std::uint32_t>(kinds.size() - 1);
        header.communicators = static_cast<std::uint32_t>(kinds.size());
    }
    ++kinds[number].number;
    return number;
}

/// What all ranks of a communicator compute alike: who they are, and the how many-th communicator they have. Those with
/// the same ranks are made in the same order on all of them. none: they cannot.
std::uint32_t instance_of(const std::vector<int>& ranks, const char* made_by, std::uint32_t kind, int rank) {
    Header& header = recorder.image->header;
    if (ranks.size() < 2 || std::ranges::count(ranks, MPI_UNDEFINED) > 0) return none;
    std::uint64_t group = 1;
    for (const int each : ranks) group = mixed(group, static_cast<std::uint64_t>(each) + 1);
    for (const char* letter = made_by; *letter != 0; ++letter)
        group = mixed(group, static_cast<unsigned char>(*letter));
    auto& of_group = known().of_group;
    auto found = of_group.find(group);
    if (found == of_group.end() && of_group.size() < most_groups) found = of_group.emplace(group, 0).first;
    if (found == of_group.end() || header.instances == recorder.image->instances.size()) {
        ++header.instances_without_place;
        return none;
    }
    recorder.image->instances[header.instances] = {
        mixed(group, ++found->second), kind, rank, static_cast<int>(ranks.size()), {}};
    return header.instances++;
}

Communicator make(MPI_Comm handle, const char* made_by) {
    const mpi::Library& library = mpi::library();
    Communicator result;
    result.made_by = made_by;
    int is_inter = 0;
    library.Comm_size(handle, &result.size);
    library.Comm_rank(handle, &result.rank);
    library.Comm_test_inter(handle, &is_inter);
    if (is_inter != 0) library.Comm_remote_size(handle, &result.remote_size);
    const std::vector<int> ranks = world_ranks(handle, result.size);
    result.kind = kind_of(handle, made_by, result.size, placement_of(ranks));
    if (is_inter == 0) result.instance = instance_of(ranks, made_by, result.kind, result.rank);
    return result;
}

const char* maker_of_unknown(MPI_Comm handle) {
    if (handle == mpi::library().comm_world) return "MPI_COMM_WORLD";
    if (handle == mpi::library().comm_self) return "MPI_COMM_SELF";
    const auto found = known().announced.find(handle);
    return found != known().announced.end() ? found->second : "";
}

}  // namespace

void know_nodes(std::vector<int> first_on_node) { known().first_on_node = std::move(first_on_node); }

Communicator& communicator_of(MPI_Comm handle) {
    auto& all = known().communicators;
    const auto found = all.find(handle);
    if (found != all.end()) return found->second;
    return all.emplace(handle, make(handle, maker_of_unknown(handle))).first->second;
}

void made(MPI_Comm handle, const char* made_by) {
    if (handle == mpi::library().comm_null) return;
    known().communicators.insert_or_assign(handle, make(handle, made_by));
    mpi::end_epoch();
}

void renamed(MPI_Comm handle) {
    mpi::end_epoch();
    const auto found = known().communicators.find(handle);
    if (found == known().communicators.end()) return;
    Communicator& communicator = found->second;
    const CommunicatorKind before = recorder.image->communicators[communicator.kind];
    --recorder.image->communicators[communicator.kind].number;
    communicator.kind = kind_of(handle, communicator.made_by, communicator.size, {before.nodes, before.ranks_per_node});
}

void announced(MPI_Comm handle, const char* made_by) { known().announced.insert_or_assign(handle, made_by); }

void forgotten(MPI_Comm handle) {
    mpi::end_epoch();
    known().communicators.erase(handle);
    known().announced.erase(handle);
}

}  // namespace rondo::profiler
