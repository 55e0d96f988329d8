// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/communicator.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "rondo/backends/mpi/device_memory.hpp"
#include "rondo/backends/mpi/era.hpp"
#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {
namespace {

constexpr std::size_t most_decisions = 256;
constexpr std::size_t most_plan_bytes = std::size_t{64} << 20;

/// Communicators are a scarce resource (MPICH has 2048 per process): most shall be the program's.
constexpr int most_duplicates = 256;
std::atomic<int> duplicates{0};

int state_key = MPI_KEYVAL_INVALID;
int finalize_key = MPI_KEYVAL_INVALID;
std::atomic<bool> finalizing{false};

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

int delete_state(MPI_Comm, int, void* state, void*) {
    end_era();
    delete static_cast<Communicator*>(state);
    return MPI_SUCCESS;
}

/// MPI_Finalize deletes the attributes of MPI_COMM_SELF before anything else.
int note_finalize(MPI_Comm, int, void*, void*) {
    finalizing = true;
    return MPI_SUCCESS;
}

/// While it lives, errors on a communicator come back as codes, whatever handler the user has set.
class ErrorsReturned {
  public:
    explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
        library().Comm_get_errhandler(comm, &users_);
        library().Comm_set_errhandler(comm, library().errors_return);
    }
    ErrorsReturned(const ErrorsReturned&) = delete;
    ErrorsReturned& operator=(const ErrorsReturned&) = delete;
    ~ErrorsReturned() {
        library().Comm_set_errhandler(comm_, users_);
        library().Errhandler_free(&users_);
    }

  private:
    MPI_Comm comm_;
    MPI_Errhandler users_{};
};

/// Ranks that were spawned, or joined from another program, may not have Rondo: they would not vote. A group that spans
/// two worlds has an outsider for everybody, so all members see it alike.
bool within_one_world(MPI_Comm comm, int size) {
    MPI_Group group, world;
    if (library().Comm_group(comm, &group) != MPI_SUCCESS) return false;
    std::vector<int> ranks(static_cast<std::size_t>(size)), in_world(ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    bool within = false;
    if (library().Comm_group(library().comm_world, &world) == MPI_SUCCESS) {
        within = library().Group_translate_ranks(group, size, ranks.data(), world, in_world.data()) == MPI_SUCCESS &&
                 std::find(in_world.begin(), in_world.end(), MPI_UNDEFINED) == in_world.end();
        library().Group_free(&world);
    }
    library().Group_free(&group);
    return within;
}

/// The least value over all ranks, for each of three. False if the library could not tell.
bool all_minimum(MPI_Comm comm, long long (&values)[3]) {
    return library().Allreduce(MPI_IN_PLACE, values, 3, MPI_LONG_LONG, MPI_MIN, comm) == MPI_SUCCESS;
}

}  // namespace

std::size_t CallKeyHash::operator()(const CallKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.count);
    for (const std::uint64_t part :
         {static_cast<std::uint64_t>(key.element_bytes),
          std::uint64_t{key.division} << 32 | std::uint64_t{key.choice} << 16 | key.collective,
          static_cast<std::uint64_t>(key.root) << 3 | std::uint64_t{key.commutative} << 2 |
              std::uint64_t{key.in_place} << 1 | std::uint64_t{key.over_int}}) {
        hash = (hash ^ part) * 0x9E3779B97F4A7C15U;
        hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
}

bool prepare_communicators() {
    return library().Comm_create_keyval(copy_nothing, delete_state, &state_key, nullptr) == MPI_SUCCESS &&
           library().Comm_create_keyval(copy_nothing, note_finalize, &finalize_key, nullptr) == MPI_SUCCESS &&
           library().Comm_set_attr(library().comm_self, finalize_key, nullptr) == MPI_SUCCESS;
}

Communicator* Communicator::of(MPI_Comm comm, std::uint64_t agreement) {
    void* state = nullptr;
    int found = 0;
    if (library().Comm_get_attr(comm, state_key, static_cast<void*>(&state), &found) != MPI_SUCCESS) return nullptr;
    if (found != 0) return static_cast<Communicator*>(state);
    std::unique_ptr<Communicator> fresh(new Communicator);
    fresh->set_up(comm, agreement);
    if (library().Comm_set_attr(comm, state_key, fresh.get()) != MPI_SUCCESS) return nullptr;
    return fresh.release();
}

void Communicator::set_up(MPI_Comm comm, std::uint64_t agreement) {
    int inter = 0;
    library().Comm_test_inter(comm, &inter);
    if (inter != 0) {
        native_reason_ = "inter-communicator";
        size_ = 0;
        return;
    }
    library().Comm_rank(comm, &rank_);
    library().Comm_size(comm, &size_);
    if (size_ == 1) {
        native_reason_ = "one process";
        return;
    }
    const ErrorsReturned errors_returned(comm);
    if (!within_one_world(comm, size_)) {
        native_reason_ = "processes of several programs";
        return;
    }
    const auto instructions = static_cast<long long>(agreement >> 1);
    long long votes[3] = {instructions, -instructions, device_runtime_loaded() ? -1 : 0};
    if (!all_minimum(comm, votes)) {
        native_reason_ = "the ranks could not be asked";
    } else if (votes[0] != -votes[1]) {
        ranks_disagree_ = true;
        native_reason_ = "the ranks were given different instructions";
    }
    devices_possible_ = votes[2] != 0;
}

bool Communicator::of_any_rank(bool fact) const {
    int any = fact ? 1 : 0;
    library().Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, private_);
    return any != 0;
}

bool Communicator::can_communicate(MPI_Comm comm) {
    if (asked_for_duplicate_) return private_ != library().comm_null;
    asked_for_duplicate_ = true;
    const ErrorsReturned errors_returned(comm);
    long long room[3] = {duplicates < most_duplicates ? 1 : 0, 0, 0};
    if (!all_minimum(comm, room) || room[0] == 0) return false;
    long long made[3] = {duplicate(comm) ? 1 : 0, 0, 0};
    if (all_minimum(comm, made) && made[0] != 0) return true;
    give_back();  // some other rank has none
    return false;
}

/// From the group, not by MPI_Comm_dup: that would call the user's attribute callbacks.
bool Communicator::duplicate(MPI_Comm comm) {
    MPI_Group group;
    if (library().Comm_group(comm, &group) != MPI_SUCCESS) return false;
    const int error = library().Comm_create(comm, group, &private_);
    library().Group_free(&group);
    if (error != MPI_SUCCESS || private_ == library().comm_null) {
        private_ = library().comm_null;
        return false;
    }
    ++duplicates;
    library().Comm_set_errhandler(private_, library().errors_return);
    return true;
}

Rank Communicator::ranks_per_node(MPI_Comm comm) {
    if (ranks_per_node_ >= 0) return ranks_per_node_;
    const ErrorsReturned errors_returned(comm);
    MPI_Comm node;
    int on_node = 0;
    if (library().Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS) {
        library().Comm_size(node, &on_node);
        library().Comm_free(&node);
    }
    long long extremes[3] = {on_node, -on_node, 0};
    const bool regular = all_minimum(comm, extremes) && extremes[0] == -extremes[1];
    ranks_per_node_ = regular ? on_node : 0;
    return ranks_per_node_;
}

Communicator::~Communicator() { give_back(); }

void Communicator::give_back() {
    // In MPI_Finalize the library takes its communicators apart itself.
    if (private_ == library().comm_null || finalizing) return;
    library().Comm_free(&private_);
    private_ = library().comm_null;
    --duplicates;
}

Decision* Communicator::find(const CallKey& key) {
    if (last_key_ != nullptr && *last_key_ == key) return last_decision_;
    const auto found = decisions_.find(key);
    if (found == decisions_.end()) return nullptr;
    last_key_ = &found->first;
    last_decision_ = &found->second;
    return last_decision_;
}

Decision* Communicator::remember(const CallKey& key, Decision decision) {
    const std::size_t bytes = decision.bytes();
    const auto same = decisions_.find(key);
    if (same != decisions_.end()) plan_bytes_ -= same->second.bytes();
    if (decisions_.size() >= most_decisions || plan_bytes_ + bytes > most_plan_bytes) {
        last_key_ = nullptr;
        decisions_.clear();
        plan_bytes_ = 0;
    }
    plan_bytes_ += bytes;
    const auto place = decisions_.insert_or_assign(key, std::move(decision)).first;
    last_key_ = &place->first;
    last_decision_ = &place->second;
    return last_decision_;
}

int Communicator::run(const Plan& plan, const Operands& operands) {
    count_call();  // before anything can fail: all ranks count alike
    return execute(plan, operands);
}

int Communicator::run_on_bytes(const Plan& plan, const UserData& data, bool is_source) {
    count_call();
    if (lies_as_packed(data.type)) return execute(plan, {nullptr, data.buffer, byte_type(), nullptr});
    return run_packed(plan, data, is_source);
}

int Communicator::run_packed(const Plan& plan, const UserData& data, bool is_source) {
    Scratch packed(static_cast<std::size_t>(data.bytes()), Purpose::packing);
    if (is_source) {
        if (const int error = pack(data, packed.bytes(), private_); error != MPI_SUCCESS) {
            packed.give_back();
            return error;
        }
    }
    const int error = execute(plan, {nullptr, packed.bytes(), byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    const int unpacked = is_source ? MPI_SUCCESS : unpack(packed.bytes(), data, private_);
    packed.give_back();
    return unpacked;
}

int Communicator::run_on_parts(const Plan& plan, const Gathering& data, Count bytes) {
    count_call();
    char* whole = data.output();
    Scratch packed(whole != nullptr ? 0 : static_cast<std::size_t>(bytes), Purpose::packing);
    if (whole == nullptr) whole = packed.bytes();
    int error = data.enter(whole, private_);
    if (error != MPI_SUCCESS) {
        packed.give_back();
        return error;
    }
    error = execute(plan, {data.input(), whole, byte_type(), nullptr});
    if (error != MPI_SUCCESS) return error;
    error = data.leave(whole, private_);
    packed.give_back();
    return error;
}

/// A message to nobody has its arguments judged as any other.
bool Communicator::can_send(const void* data, const Datatype& type) const {
    return library().Send(data, 1, type.handle, MPI_PROC_NULL, 0, private_) == MPI_SUCCESS;
}

/// A tag below 0 is an error, also of a message to nobody.
bool Communicator::library_checks_arguments() const {
    constexpr int impossible_tag = -17;
    return library().Send(nullptr, 0, library().byte, MPI_PROC_NULL, impossible_tag, private_) != MPI_SUCCESS;
}

int Communicator::execute(const Plan& plan, const Operands& operands) {
    const Datatype& type = operands.type;
    Scratch scratch(static_cast<std::size_t>(type.span(plan.scratch())), Purpose::plan);
    const Binding binding{{const_cast<void*>(operands.input), operands.output, scratch.bytes() - type.true_lower_bound},
                          type,
                          operands.reduction,
                          private_,
                          rank_,
                          last_tag_};
    const int error = executor_.run(plan, binding);
    if (error == MPI_SUCCESS) scratch.give_back();
    return error;
}

}  // namespace rondo::mpi
