// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/library_messages.hpp"

#include <thread>

namespace rondo::mpi {
namespace {

// MPI_Waitsome of MPICH 5 and Intel MPI keeps its core to the end of the time slice, unlike MPI_Wait and MPI_Waitall.
// Where ranks share cores, the awaited rank may be waiting for that core: rounds took milliseconds.
constexpr int polls_before_yield = 100;
constexpr int polls_before_freed = 10000;

}  // namespace

/// Reserves room for one more message: nothing that follows its beginning can fail for want of memory.
void LibraryMessages::make_room() {
    requests_.reserve(requests_.size() + 1);
    messages_.reserve(requests_.capacity());
}

int LibraryMessages::send(Rank to, const void* elements, Count count, std::uint32_t index) {
    make_room();
    MPI_Request request;
    int error = MPI_ERR_COUNT;  // without large counts such calls go to the library's collective
    if (count <= most_now) {
        error = library().Isend(elements, static_cast<int>(count & counted_), type_->handle, to, tag_, comm_, &request);
    } else {
#ifdef RONDO_HAVE_LARGE_COUNT_API
        error = library().Isend_c(elements, count, type_->handle, to, tag_, comm_, &request);
#endif
    }
    if (error == MPI_SUCCESS) keep(request, {index, false});
    return error;
}

int LibraryMessages::receive(Rank from, void* elements, Count count, std::uint32_t index) {
    make_room();
    MPI_Request request;
    int error = MPI_ERR_COUNT;
    if (count <= most_now) {
        error =
            library().Irecv(elements, static_cast<int>(count & counted_), type_->handle, from, tag_, comm_, &request);
    } else {
#ifdef RONDO_HAVE_LARGE_COUNT_API
        error = library().Irecv_c(elements, count, type_->handle, from, tag_, comm_, &request);
#endif
    }
    if (error == MPI_SUCCESS) keep(request, {index, true});
    return error;
}

/// Tests for completed messages. `completed`: how many there are; `indices_` has their positions.
int LibraryMessages::test_some(int& completed, [[maybe_unused]] bool may_wait) {
    if (indices_.size() < requests_.size()) {
        indices_.resize(requests_.size());
        statuses_.resize(requests_.size());
    }
    if (inside_progress && request_is_complete != nullptr) return test_each(completed);
    const auto under_way = static_cast<int>(requests_.size());
#ifdef RONDO_ABI_SIMGRID
    // Its clock stands still between calls, so that each test has to take simulated time, and a turn of the simulator.
    const auto complete_some = may_wait ? PMPI_Waitsome : library().Testsome;
#else
    const auto complete_some = library().Testsome;
#endif
    const int error = complete_some(under_way, requests_.data(), &completed, indices_.data(), statuses_.data());
    if (error == MPI_SUCCESS) return MPI_SUCCESS;
    int error_class = error;
    library().Error_class(error, &error_class);
    for (int i = 0; error_class == MPI_ERR_IN_STATUS && i < completed; ++i) {
        const int own = statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
        if (own != MPI_SUCCESS) return own;
    }
    return error;
}

/// Does the same where the library must not go on: it does not for a request that is complete.
int LibraryMessages::test_each(int& completed) {
    completed = 0;
    int first_error = MPI_SUCCESS;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (request_is_complete(requests_[i]) == 0) continue;
        int flag = 0;
        const int error = library().Test(&requests_[i], &flag, MPI_STATUS_IGNORE);
        if (error != MPI_SUCCESS && first_error == MPI_SUCCESS) first_error = error;
        if (flag != 0) indices_[static_cast<std::size_t>(completed++)] = static_cast<int>(i);
    }
    return first_error;
}

void LibraryMessages::forget_completed() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == library().request_null) continue;
        requests_[kept] = requests_[i];
        messages_[kept++] = messages_[i];
    }
    requests_.resize(kept);
    messages_.resize(kept);
}

void LibraryMessages::give_way(std::int64_t polls) {
    if (polls >= polls_before_yield) std::this_thread::yield();
}

/// Sends are left to finish by themselves: the peer may have failed, so nothing is waited for without end. Receives are
/// cancelled. One that has found its message cannot be; it gets the time to complete, as it may write into the user's
/// memory until then, unless the library must not be asked to go on. If its sender has died in the midst of it, the
/// library has to deal with that.
void LibraryMessages::abandon() {
    const bool must_not_go_on = inside_progress && request_is_complete != nullptr;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
        if (requests_[i] == library().request_null) continue;
        if (messages_[i].is_received) {
            library().Cancel(&requests_[i]);
            int completed = 0;
            for (int polls = 1; polls <= polls_before_freed && completed == 0; ++polls) {
                if (must_not_go_on && request_is_complete(requests_[i]) == 0) break;
                if (library().Test(&requests_[i], &completed, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
                give_way(polls);
            }
        }
        if (requests_[i] != library().request_null) library().Request_free(&requests_[i]);
    }
    requests_.clear();
    messages_.clear();
}

}  // namespace rondo::mpi
