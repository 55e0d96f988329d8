// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/pending_call.hpp"

#include <new>

#include "rondo/backends/mpi/progress.hpp"

namespace rondo::mpi {
namespace {

/// Pieces of local work that are done before the library gets its processor back.
constexpr int most_pieces = 4;

}  // namespace

KeptHandles::~KeptHandles() {
    for (MPI_Datatype type : types_) library().Type_free(&type);
}

/// MPI_Type_dup would call back tools that have set attributes.
int KeptHandles::keep(Datatype& type) {
    if (type.predefined || type.size == 0) return MPI_SUCCESS;
    types_.push_back(library().datatype_null);
    int error = library().Type_contiguous(1, type.handle, &types_.back());
    if (error != MPI_SUCCESS) {
        types_.pop_back();
        return error;
    }
    error = library().Type_commit(&types_.back());
    type.handle = types_.back();
    return error;
}

/// A datatype stays as long as one that is made of it.
int KeptHandles::keep(MPI_Op op, const Datatype& type) {
    operator_.keep(op);
    Datatype same = type;
    return keep(same);
}

int PendingCall::begin(std::unique_ptr<PendingCall> call, MPI_Request* request) {
    Communicator& communicator = call->communicator_;
    const int error = library().Grequest_start(query, release, cancel, call.get(), request);
    if (error != MPI_SUCCESS) {
        communicator.skip_call();
        return error;
    }
    ++with_requests;
    PendingCall& begun = *call.release();  // it is the request's
    begun.request_ = *request;
    begun.route_ = communicator.begin_call();
    begun.note(begun.keep_handles_or_fail());
    begun.go_on();
    return MPI_SUCCESS;
}

PendingCall::~PendingCall() {
    if (owner_ != nullptr && !has_ever_failed_) communicator_.give_back_number(number_);
}

int PendingCall::persist(Owner& owner, std::uint32_t number) {
    owner_ = &owner;
    number_ = number;
    return keep_handles_or_fail();
}

void PendingCall::start_again() {
    take_over();
    route_ = communicator_.route_of_start(number_, starts_++, own_ == nullptr);
    error_ = MPI_SUCCESS;
    is_started_ = is_running_ = has_failed_ = false;
    go_on();
}

/// Keeps handles. Returns an MPI error code.
int PendingCall::keep_handles_or_fail() {
    try {
        return keep_handles();
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    }
}

void PendingCall::go_on() {
    if (!poll()) progress_with_library(*this);
}

int PendingCall::run(const Plan& plan, const Operands& operands) {
    if (plan.actions().empty()) return MPI_SUCCESS;
    operation_.start(plan, operands, route_);
    is_running_ = true;
    return MPI_SUCCESS;
}

bool PendingCall::poll() {
    try {
        if (!is_started_ && !start_plan()) return false;
        if (is_running_ && !advance()) return false;
    } catch (const std::bad_alloc&) {
        has_failed_ = true;
        note(MPI_ERR_NO_MEM);
    }
    complete();
    return true;
}

/// False if there is no communicator for the messages yet.
bool PendingCall::start_plan() {
    if (own_ != nullptr) {
        if (!own_->is_ready()) return false;
        note(own_->error());
        route_.communicator = own_->get();
    }
    is_started_ = true;
    has_failed_ = own_ != nullptr && own_->error() != MPI_SUCCESS;
    if (!has_failed_) note(start(*plan_));
    return true;
}

/// True if the plan has come to its end.
bool PendingCall::advance() {
    for (int pieces = 0; pieces < most_pieces; ++pieces) {
        if (operation_.progress()) {
            is_running_ = false;
            has_failed_ = operation_.error() != MPI_SUCCESS;
            note(operation_.error());
            return true;
        }
        if (!operation_.has_local_work()) break;
    }
    return false;
}

/// After an error of the plan, messages may still use the buffers, and what they hold is undefined.
void PendingCall::complete() {
    if (has_failed_) {
        has_ever_failed_ = true;
        communicator_.leave_messages();
    } else if (buffers_ != nullptr) {
        note(buffers_->leave(world().messages()));
    }
    error_ = finish(error_);
    Owner* const owner = owner_;
    const MPI_Request request = request_;
    const int error = error_;
    if (owner == nullptr) communicator_.end_call();
    hand_over();
    if (owner != nullptr) owner->complete(error);
    else library().Grequest_complete(request);
}

int PendingCall::query(void* call, MPI_Status* status) {
    library().Status_set_elements(status, library().byte, 0);
    library().Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    static_cast<PendingCall*>(call)->take_over();
    return static_cast<PendingCall*>(call)->error_;
}

int PendingCall::release(void* call) {
    static_cast<PendingCall*>(call)->take_over();
    delete static_cast<PendingCall*>(call);
    --with_requests;
    return MPI_SUCCESS;
}

/// MPI has no cancelling of collectives.
int PendingCall::cancel(void* /*call*/, int /*is_complete*/) { return MPI_SUCCESS; }

}  // namespace rondo::mpi
