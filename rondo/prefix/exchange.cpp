// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/prefix/exchange.hpp"

#include <limits>
#include <new>
#include <numeric>
#include <utility>

#include "rondo/backends/mpi/plan_store.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/pipeline.hpp"

namespace rondo::prefix {
namespace {

using mpi::library;

int exchange_key = MPI_KEYVAL_INVALID;

int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
    *flag = 0;
    return MPI_SUCCESS;
}

int delete_exchange(MPI_Comm, int, void* exchange, void*) {
    delete static_cast<Exchange*>(exchange);
    return MPI_SUCCESS;
}

constexpr std::uint32_t tags = 1 << 14;  // MPI guarantees twice as many

constexpr std::size_t reserve_bytes = std::size_t{1} << 16;

Choice chosen(const SharedFacts& facts, bool agreed, const Guidance& guidance) {
    Choice choice;
    if (agreed && guidance.choice && guidance.choice->algorithm->unmet(facts, guidance.choice->settings) == nullptr) {
        choice = *guidance.choice;
    } else {
        choice.algorithm =
            &quickest(facts.size, facts.element_bytes, facts.op.commutative, agreed ? guidance.machine : Machine());
        choice.settings = choice.algorithm->open_settings();
    }
    for (Setting& setting : choice.settings) {  // a total is one element: nothing cuts it
        const bool is_segment = setting.name == segment_parameter.name;
        if (is_segment && setting.value == automatic) setting.value = facts.element_bytes;
    }
    return choice;
}

}  // namespace

bool prepare_exchanges() {
    return library().Comm_create_keyval(copy_nothing, delete_exchange, &exchange_key, nullptr) == MPI_SUCCESS;
}

void end_exchanges() {
    void* kept = nullptr;
    int is_there = 0;
    const MPI_Comm world = library().comm_world;
    if (library().Comm_get_attr(world, exchange_key, static_cast<void*>(&kept), &is_there) == MPI_SUCCESS &&
        is_there != 0) {
        library().Comm_delete_attr(world, exchange_key);
    }
    library().Comm_free_keyval(&exchange_key);
}

Failure Exchange::of(MPI_Comm comm, const Guidance& guidance, Exchange*& found, bool& told) {
    void* kept = nullptr;
    int is_there = 0;
    told = true;
    if (const int error = library().Comm_get_attr(comm, exchange_key, static_cast<void*>(&kept), &is_there);
        error != MPI_SUCCESS) {
        return {error};
    }
    if (is_there != 0) {
        found = static_cast<Exchange*>(kept);
        return {};
    }
    int inter = 0;
    if (const int error = library().Comm_test_inter(comm, &inter); error != MPI_SUCCESS) return {error};
    if (inter != 0) {
        told = false;
        return {MPI_ERR_COMM, Cause::inter_comm};
    }
    std::unique_ptr<Exchange> fresh(new Exchange);
    if (const int error = fresh->set_up(comm, guidance); error != MPI_SUCCESS) return {error};
    const int error = library().Comm_set_attr(comm, exchange_key, fresh.get());
    if (error == MPI_SUCCESS) found = fresh.release();
    return {error};
}

/// Not by MPI_Comm_dup, which would call what others have set as attributes.
int Exchange::set_up(MPI_Comm comm, const Guidance& guidance) {
    messages_ = library().comm_null;
    library().Comm_rank(comm, &rank_);
    library().Comm_size(comm, &size_);
    reserve_ = std::make_unique_for_overwrite<char[]>(reserve_bytes);
    ranks_.resize(static_cast<std::size_t>(size_));
    std::iota(ranks_.begin(), ranks_.end(), 0);
    MPI_Group group;
    if (const int error = library().Comm_group(comm, &group); error != MPI_SUCCESS) return error;
    const int error = library().Comm_create(comm, group, &messages_);
    library().Group_free(&group);
    if (error != MPI_SUCCESS) return error;
    library().Comm_set_errhandler(messages_, library().errors_return);
    const auto hash = static_cast<long long>(guidance.fingerprint >> 1);
    long long votes[2] = {hash, -hash};
    if (const int said = library().Allreduce(MPI_IN_PLACE, votes, 2, MPI_LONG_LONG, MPI_MIN, messages_);
        said != MPI_SUCCESS) {
        return said;
    }
    agreed_ = votes[0] == -votes[1];
    route_ = {
        .communicator = messages_, .ranks = ranks_, .rank = rank_, .tag = 0, .node = nullptr, .is_inside_node = false};
    return MPI_SUCCESS;
}

Exchange::~Exchange() {
    if (has_message_type_) library().Type_free(&message_.handle);
    if (messages_ != library().comm_null) library().Comm_free(&messages_);
}

int Exchange::describe_message(std::size_t bytes) {
    if (has_message_type_ && static_cast<std::size_t>(message_.size) == bytes) return MPI_SUCCESS;
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) return MPI_ERR_TYPE;
    if (has_message_type_) library().Type_free(&message_.handle);
    has_message_type_ = false;
    MPI_Datatype handle = library().datatype_null;
    int error = library().Type_contiguous(static_cast<int>(bytes), library().byte, &handle);
    if (error == MPI_SUCCESS) error = library().Type_commit(&handle);
    if (error != MPI_SUCCESS) return error;
    const auto size = static_cast<Count>(bytes);
    message_ = {.handle = handle, .size = size, .extent = size, .true_extent = size, .contiguous = true};
    has_message_type_ = true;
    return MPI_SUCCESS;
}

void Exchange::start_scan(const char* own, char* before, const TotalCombiner& combiner, bool commutative,
                          const Guidance& guidance) {
    const std::size_t bytes = combiner.bytes();
    if (describe_message(bytes) != MPI_SUCCESS) throw std::bad_alloc();
    if (scan_.plan == nullptr || scan_.bytes != bytes || scan_.commutative != commutative) {
        const SharedFacts facts = find_collective("exscan")->facts(
            {.size = size_, .count = 1, .element_bytes = static_cast<Count>(bytes), .op = {commutative}});
        const Choice choice = chosen(facts, agreed_, guidance);
        const Call call(facts, {.rank = rank_}, choice.settings);
        scan_ = {bytes, commutative, mpi::plan_of(call, *choice.algorithm, choice.settings)};
    }
    reduction_ = mpi::Reduction(combiner, commutative);
    operands_ = std::make_unique<mpi::Operands>(mpi::Operands{own, before, message_, &reduction_});
    start(*scan_.plan, 2 * calls_ % tags);
    ++calls_;
}

void Exchange::start_broadcast(char* total, std::size_t bytes) {
    if (broadcast_.plan == nullptr || broadcast_.bytes != bytes) {
        const Collective& collective = *find_collective("bcast");
        const SharedFacts facts = collective.facts(
            {.size = size_, .count = 1, .element_bytes = static_cast<Count>(bytes), .root = size_ - 1});
        const Call call(facts, {.rank = rank_, .in_place = true});
        broadcast_ = {bytes, true, mpi::plan_of(call, *collective.algorithm("binomial"), {})};
    }
    operands_ = std::make_unique<mpi::Operands>(mpi::Operands{nullptr, total, message_, nullptr});
    start(*broadcast_.plan, (2 * calls_ - 1) % tags);
}

void Exchange::start(const Plan& plan, std::uint32_t tag) {
    route_.tag = static_cast<int>(tag);
    plan_ = &plan;
    if (!plan.actions().empty()) operation_.start(plan, *operands_, route_);
}

/// Without anything to do, an operation has no beginning.
bool Exchange::progress(bool may_wait) {
    if (plan_->actions().empty()) return true;
    for (std::int64_t polls = 1;; ++polls) {
        if (operation_.progress()) return true;
        if (!may_wait) return false;
        mpi::LibraryMessages::give_way(polls);
    }
}

}  // namespace rondo::prefix
