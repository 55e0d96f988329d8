// SPDX-License-Identifier: BSD-3-Clause
// The table, and what is about the process and its communicators.
#include "tests/backends/mpi/made_up_library.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>

#include "tests/backends/mpi/made_up_objects.hpp"

namespace rondo::mpi::made_up {
namespace {

/// Counts calls, and fails where it shall.
template <auto function>
struct Counted;
template <class... Arguments, int (*function)(Arguments...)>
struct Counted<function> {
    static inline const char* name = nullptr;
    static int call(Arguments... arguments) {
        ++state().calls[name];
        const auto failing = state().failing.find(name);
        if (failing != state().failing.end() && failing->second.after-- <= 0 && failing->second.times-- > 0) {
            return failing->second.code;
        }
        return function(arguments...);
    }
};

template <auto function>
auto counted(const char* name) {
    Counted<function>::name = name;
    return &Counted<function>::call;
}

Communicator* find(MPI_Comm comm) { return state().communicators.find(comm); }

std::uint64_t context_of_child(Communicator& parent, std::uint64_t colour) {
    std::uint64_t context = (parent.context ^ ++parent.children) * 0x9E3779B97F4A7C15U;
    context ^= context >> 31;
    return (context ^ colour) * 0xBF58476D1CE4E5B9U;
}

/// Of world ranks; MPI_COMM_NULL where this one is not among them.
MPI_Comm make(MPI_Comm parent, std::vector<int> ranks, std::uint64_t colour) {
    Communicator& before = *find(parent);
    const std::uint64_t context = context_of_child(before, colour);
    const auto own = std::ranges::find(ranks, rank());
    if (own == ranks.end()) return MPI_COMM_NULL;
    const int place = static_cast<int>(own - ranks.begin());
    return state().communicators.add(
        {.ranks = std::move(ranks), .rank = place, .context = context, .errors = before.errors});
}

void add_world(MPI_Comm handle, std::vector<int> ranks) {
    const auto own = std::ranges::find(ranks, rank());
    const int place = static_cast<int>(own - ranks.begin());
    const std::uint64_t context = ranks.size();
    state().communicators.add(
        handle, {.ranks = std::move(ranks), .rank = place, .context = context, .errors = MPI_ERRORS_ARE_FATAL});
}

void delete_attributes(MPI_Comm comm) {
    while (!find(comm)->attributes.empty()) {
        const auto [key, value] = find(comm)->attributes.back();
        find(comm)->attributes.pop_back();
        const Key& known = state().keys.at(key);
        known.erase(comm, key, value, known.extra);
    }
}

}  // namespace

/// Never destroyed: destructors of the process may call MPI.
State& state() {
    static State& the_state = *new State;
    return the_state;
}

Behaviour& behaviour() { return state().behaviour; }

Library table() {
    Library library;
#define RONDO_MADE_UP(name) library.name = counted<&functions::name>(#name);
    RONDO_MPI_FUNCTIONS(RONDO_MADE_UP)
    RONDO_FUNCTIONS_BY_HAND(RONDO_MADE_UP)
    RONDO_SERVED_FUNCTIONS(RONDO_MADE_UP)
    RONDO_MPI_LARGE_COUNT_FUNCTIONS(RONDO_MADE_UP)
#undef RONDO_MADE_UP
    return library;
}

void install() {
    std::vector<int> all(static_cast<std::size_t>(size()));
    std::iota(all.begin(), all.end(), 0);
    add_world(MPI_COMM_WORLD, std::move(all));
    add_world(MPI_COMM_SELF, {rank()});
    add_predefined();
    connect_to(table());
}

int calls(const std::string& function) { return state().calls[function]; }

std::size_t longest_allreduce() { return state().longest_allreduce; }

void fail(const std::string& function, int code, int times, int after) {
    state().failing[function] = {code, after, times};
}

std::vector<Handled>& handled() { return state().handled; }

void handle_errors(MPI_Comm comm, std::function<void(int)> handler) {
    find(comm)->errors = MPI_ERRORS_RETURN;
    find(comm)->handler = std::move(handler);
}

void return_errors(MPI_Comm comm) { find(comm)->errors = MPI_ERRORS_RETURN; }

int raise(MPI_Comm comm, int code) {
    const Communicator* const known = find(comm);
    const Communicator& told = known != nullptr ? *known : *find(MPI_COMM_WORLD);
    state().handled.push_back({comm, code});
    if (told.errors == MPI_ERRORS_ARE_FATAL) {
        std::fprintf(stderr, "rank %d: MPI ends the program: error %d\n", rank(), code);
        std::fflush(stdout);
        ::_exit(1);
    }
    const auto handler = told.handler;  // it may free the communicator
    if (handler) handler(code);
    return code;
}

MPI_Comm duplicate(MPI_Comm comm) { return make(comm, find(comm)->ranks, 0); }

MPI_Comm split(MPI_Comm comm, const std::vector<int>& colours) {
    const Communicator& all = *find(comm);
    const int own = colours[static_cast<std::size_t>(all.rank)];
    std::vector<int> ranks;
    for (std::size_t each = 0; each < all.ranks.size(); ++each) {
        if (colours[each] == own) ranks.push_back(all.ranks[each]);
    }
    return make(comm, std::move(ranks), static_cast<std::uint64_t>(own) + 1);
}

MPI_Comm make_inter(MPI_Comm comm) {
    std::vector<int> colours(find(comm)->ranks.size());
    for (std::size_t each = 0; each < colours.size(); ++each) colours[each] = static_cast<int>(each % 2);
    const MPI_Comm made = split(comm, colours);
    find(made)->is_inter = true;
    find(made)->remote_size = static_cast<int>(colours.size() - find(made)->ranks.size());
    return made;
}

void free(MPI_Comm comm) { table().Comm_free(&comm); }

void finalize() {
    delete_attributes(MPI_COMM_SELF);
    delete_attributes(MPI_COMM_WORLD);
    state().is_finalized = true;
}

std::size_t left() {
    const auto keys = static_cast<std::size_t>(
        std::ranges::count_if(state().keys, [](const auto& each) { return !each.second.is_freed; }));
    return state().communicators.size() + state().groups.size() + state().types.size() + state().requests.size() + keys;
}

namespace functions {

int Init(int*, char***) {
    state().is_initialised = true;
    return MPI_SUCCESS;
}
int Init_thread(int*, char***, int, int* provided) {
    state().is_initialised = true;
    *provided = behaviour().threads;
    return MPI_SUCCESS;
}
int Initialized(int* flag) { return *flag = state().is_initialised ? 1 : 0, MPI_SUCCESS; }
int Finalized(int* flag) { return *flag = state().is_finalized ? 1 : 0, MPI_SUCCESS; }
int Query_thread(int* provided) { return *provided = behaviour().threads, MPI_SUCCESS; }

int Get_library_version(char* version, int* length) {
    *length = static_cast<int>(behaviour().version.size());
    std::memcpy(version, behaviour().version.c_str(), behaviour().version.size() + 1);
    return MPI_SUCCESS;
}
int Error_class(int code, int* error_class) { return *error_class = code, MPI_SUCCESS; }
int Error_string(int code, char* text, int* length) {
    *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "made-up error %d", code);
    return MPI_SUCCESS;
}
int Errhandler_free(MPI_Errhandler* handler) { return *handler = MPI_ERRHANDLER_NULL, MPI_SUCCESS; }

int Comm_rank(MPI_Comm comm, int* rank) {
    const Communicator* const known = find(comm);
    return known == nullptr ? raise(comm, MPI_ERR_COMM) : (*rank = known->rank, MPI_SUCCESS);
}
int Comm_size(MPI_Comm comm, int* size) {
    const Communicator* const known = find(comm);
    return known == nullptr ? raise(comm, MPI_ERR_COMM) : (*size = static_cast<int>(known->ranks.size()), MPI_SUCCESS);
}
int Comm_remote_size(MPI_Comm comm, int* size) { return *size = find(comm)->remote_size, MPI_SUCCESS; }
int Comm_test_inter(MPI_Comm comm, int* flag) {
    const Communicator* const known = find(comm);
    return known == nullptr ? raise(comm, MPI_ERR_COMM) : (*flag = known->is_inter ? 1 : 0, MPI_SUCCESS);
}
int Comm_get_parent(MPI_Comm* parent) { return *parent = MPI_COMM_NULL, MPI_SUCCESS; }
int Comm_get_name(MPI_Comm comm, char* name, int* length) {
    *length = std::snprintf(name, MPI_MAX_OBJECT_NAME, "%s", comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "");
    return MPI_SUCCESS;
}

int Comm_group(MPI_Comm comm, MPI_Group* group) { return *group = state().groups.add(find(comm)->ranks), MPI_SUCCESS; }
int Group_free(MPI_Group* group) {
    state().groups.remove(*group);
    return *group = MPI_GROUP_NULL, MPI_SUCCESS;
}
int Group_translate_ranks(MPI_Group from, int count, const int ranks[], MPI_Group into, int result[]) {
    const std::vector<int>&source = *state().groups.find(from), &target = *state().groups.find(into);
    for (int i = 0; i < count; ++i) {
        const auto found = std::ranges::find(target, source[static_cast<std::size_t>(ranks[i])]);
        result[i] = found != target.end() ? static_cast<int>(found - target.begin()) : MPI_UNDEFINED;
    }
    return MPI_SUCCESS;
}

int Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
    return *made = make(comm, *state().groups.find(group), 0), MPI_SUCCESS;
}
int Comm_split_type(MPI_Comm comm, int, int, MPI_Info, MPI_Comm* made) {
    const std::vector<int>& nodes = behaviour().node_of;
    const auto node = [&](int each) { return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(each)]; };
    std::vector<int> ranks;
    for (const int each : find(comm)->ranks) {
        if (node(each) == node(rank())) ranks.push_back(each);
    }
    return *made = make(comm, std::move(ranks), static_cast<std::uint64_t>(node(rank())) + 1), MPI_SUCCESS;
}
int Comm_free(MPI_Comm* comm) {
    if (find(*comm) == nullptr) return raise(*comm, MPI_ERR_COMM);
    delete_attributes(*comm);
    state().communicators.remove(*comm);
    return *comm = MPI_COMM_NULL, MPI_SUCCESS;
}

int Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function* erase, int* key, void* extra) {
    state().keys[*key = state().next_key++] = {erase, extra};
    return MPI_SUCCESS;
}
int Comm_free_keyval(int* key) {
    state().keys.at(*key).is_freed = true;
    return *key = MPI_KEYVAL_INVALID, MPI_SUCCESS;
}
int Comm_set_attr(MPI_Comm comm, int key, void* value) {
    Communicator* const known = find(comm);
    if (known == nullptr) return raise(comm, MPI_ERR_COMM);
    if (!state().keys.contains(key) || state().keys.at(key).is_freed) return raise(comm, MPI_ERR_KEYVAL);
    Comm_delete_attr(comm, key);
    known->attributes.emplace_back(key, value);
    return MPI_SUCCESS;
}
int Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
    const Communicator* const known = find(comm);
    if (known == nullptr) return raise(comm, MPI_ERR_COMM);
    *found = 0;
    if (key == MPI_TAG_UB) {
        *static_cast<int**>(value) = &behaviour().largest_tag;
        *found = 1;
    }
    for (const auto& [each, kept] : known->attributes) {
        if (each != key) continue;
        *static_cast<void**>(value) = kept;
        *found = 1;
    }
    return MPI_SUCCESS;
}
int Comm_delete_attr(MPI_Comm comm, int key) {
    auto& attributes = find(comm)->attributes;
    const auto found = std::ranges::find(attributes, key, &std::pair<int, void*>::first);
    if (found == attributes.end()) return MPI_SUCCESS;
    void* const value = found->second;
    attributes.erase(found);
    return state().keys.at(key).erase(comm, key, value, state().keys.at(key).extra);
}

int Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler) { return *handler = find(comm)->errors, MPI_SUCCESS; }
int Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) { return find(comm)->errors = handler, MPI_SUCCESS; }
int Comm_call_errhandler(MPI_Comm comm, int code) { return raise(comm, code), MPI_SUCCESS; }

}  // namespace functions
}  // namespace rondo::mpi::made_up
