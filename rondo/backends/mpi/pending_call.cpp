// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/pending_call.hpp"

#include <new>

#include "rondo/backends/mpi/progress.hpp"

namespace rondo::mpi {
namespace {

/// Pieces of local work that are done before the library gets its processor back.
constexpr int most_pieces = 4;

}  // namespace

KeptTypes::~KeptTypes() {
    for (MPI_Datatype type : kept_) library().Type_free(&type);
}

/// MPI_Type_dup would call back tools that have set attributes.
int KeptTypes::keep(Datatype& type) {
    if (type.predefined || type.size == 0) return MPI_SUCCESS;
    kept_.reserve(kept_.size() + 1);
    MPI_Datatype same;
    int error = library().Type_contiguous(1, type.handle, &same);
    if (error == MPI_SUCCESS) {
        kept_.push_back(same);
        error = library().Type_commit(&kept_.back());
        type.handle = kept_.back();
    }
    return error;
}

int PendingCall::begin(std::unique_ptr<PendingCall> call, MPI_Request* request) {
    PendingCall& begun = *call;
    Communicator& communicator = begun.communicator_;
    const int error = library().Grequest_start(query, free, cancel, &begun, request);
    if (error != MPI_SUCCESS) {
        communicator.skip_call();
        return error;
    }
    begun.request_ = *request;
    begun.route_ = communicator.begin_call();
    try {
        const int failure = begun.start(*begun.plan_);
        if (begun.error_ == MPI_SUCCESS) begun.error_ = failure;
    } catch (const std::bad_alloc&) {
        begun.error_ = MPI_ERR_NO_MEM;
    }
    static_cast<void>(call.release());  // it is the request's
    if (!begun.poll()) progress_with_library(begun);
    return MPI_SUCCESS;
}

int PendingCall::run(const Plan& plan, const Operands& operands) {
    if (!plan.actions().empty()) {
        operation_.start(plan, operands, route_);
        is_started_ = true;
    }
    return MPI_SUCCESS;
}

bool PendingCall::poll() {
    if (is_started_ && !advance()) return false;
    complete();
    return true;
}

/// True if the plan has come to its end.
bool PendingCall::advance() {
    try {
        for (int pieces = 0; pieces < most_pieces; ++pieces) {
            if (operation_.progress()) {
                if (error_ == MPI_SUCCESS) error_ = operation_.error();
                return true;
            }
            if (!operation_.has_local_work()) break;
        }
        return false;
    } catch (const std::bad_alloc&) {
        error_ = MPI_ERR_NO_MEM;
        return true;
    }
}

/// After an error of the plan, messages may still use the buffers.
void PendingCall::complete() {
    const bool has_failed = is_started_ ? operation_.error() != MPI_SUCCESS : error_ != MPI_SUCCESS;
    if (has_failed) {
        communicator_.leave_messages();
    } else if (buffers_ != nullptr) {
        const int left = buffers_->leave(world().messages());
        if (error_ == MPI_SUCCESS) error_ = left;
    }
    error_ = finish(error_);
    communicator_.end_call();
    library().Grequest_complete(request_);
}

int PendingCall::query(void* call, MPI_Status* status) {
    library().Status_set_elements(status, library().byte, 0);
    library().Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return static_cast<PendingCall*>(call)->error_;
}

int PendingCall::free(void* call) {
    delete static_cast<PendingCall*>(call);
    return MPI_SUCCESS;
}

/// MPI has no cancelling of collectives.
int PendingCall::cancel(void* /*call*/, int /*is_complete*/) { return MPI_SUCCESS; }

}  // namespace rondo::mpi
