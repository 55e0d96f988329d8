// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/own_communicator.hpp"

#include <utility>

#include "rondo/backends/mpi/library_messages.hpp"

namespace rondo::mpi {

std::unique_ptr<OwnCommunicator::Made> OwnCommunicator::unowned;
std::mutex OwnCommunicator::unowned_mutex;

OwnCommunicator::OwnCommunicator(MPI_Comm original) : made_(std::make_unique<Made>()) {
    made_->error = library().Comm_idup(original, &made_->comm, &made_->request);
}

OwnCommunicator::~OwnCommunicator() {
    if (made_->request != library().request_null) {
        const std::lock_guard lock(unowned_mutex);
        made_->next = std::exchange(unowned, nullptr);
        unowned = std::move(made_);
    } else if (made_->comm != library().comm_null) {
        library().Comm_free(&made_->comm);
    }
}

bool OwnCommunicator::is_ready() {
    if (is_ready_.load(std::memory_order_acquire)) return true;
    const std::unique_lock lock(asking_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    if (made_->request != library().request_null && !ask()) return false;
    is_ready_.store(true, std::memory_order_release);
    return true;
}

bool OwnCommunicator::ask() {
    // To test a request that is not complete lets the library go on. It may then call Rondo, which tests the request.
    if (request_is_complete == nullptr || request_is_complete(made_->request) == 0) return false;
    int completed = 0;
    made_->error = library().Test(&made_->request, &completed, MPI_STATUS_IGNORE);
    if (made_->error != MPI_SUCCESS) made_->request = library().request_null;
    return completed != 0 || made_->error != MPI_SUCCESS;
}

void free_own_communicators() {
    while (OwnCommunicator::unowned != nullptr) {
        const std::unique_ptr<OwnCommunicator::Made> made = std::move(OwnCommunicator::unowned);
        OwnCommunicator::unowned = std::move(made->next);
        if (library().Wait(&made->request, MPI_STATUS_IGNORE) == MPI_SUCCESS) library().Comm_free(&made->comm);
    }
}

}  // namespace rondo::mpi
