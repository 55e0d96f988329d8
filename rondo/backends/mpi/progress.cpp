// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/progress.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/pending_call.hpp"

namespace rondo::mpi {
namespace {

// MPICH: one hook for each call. Without the types of <mpi.h>, which older ones lack.
using Thing = void*;
constexpr int no_progress = 0, done = 1;  // MPIX_ASYNC_NOPROGRESS, MPIX_ASYNC_DONE
constexpr int no_stream = 0x3c000000;     // MPIX_STREAM_NULL
int (*async_start)(int (*poll)(Thing), void* state, int stream) = nullptr;
void* (*async_state)(Thing) = nullptr;
int (*stream_progress)(int stream) = nullptr;

// Open MPI: one hook for all calls.
int (*progress_register)(int (*hook)()) = nullptr;
int (*progress_unregister)(int (*hook)()) = nullptr;
void (*progress)() = nullptr;
std::atomic<bool> is_registered{false};

/// Lets a call go on, from inside the library. True if it is over. What Rondo calls may call the engine, which calls
/// Rondo again: such calls do nothing.
bool poll_inside(PendingCall& call) {
    const struct Inside {
        Inside() { inside_progress = true; }
        ~Inside() { inside_progress = false; }  // also after an exception of the program's operator
    } inside;
    return call.poll();
}

int poll_thing(Thing thing) {
    if (inside_progress) return no_progress;
    return poll_inside(*static_cast<PendingCall*>(async_state(thing))) ? done : no_progress;
}

template <class Function>
void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(definition_in_library(name));
}

}  // namespace

/// The calls under way with Open MPI, in whose engine several threads may be at once. Adding one needs no memory: it
/// has a request already.
class PendingCalls {
  public:
    static void add(PendingCall& call) {
        ++number;
        call.next_ = added.load(std::memory_order_relaxed);
        while (!added.compare_exchange_weak(call.next_, &call, std::memory_order_release)) {
        }
    }
    /// Lets all go on, unless another thread does. Returns how many are over.
    static int poll() {
        if (number.load(std::memory_order_relaxed) == 0 || inside_progress) return 0;
        const std::unique_lock lock(polling, std::try_to_lock);
        if (!lock.owns_lock()) return 0;
        take_added();
        int completed = 0;
        for (PendingCall** link = &first; *link != nullptr;) {
            PendingCall* const next = (*link)->next_;
            if (poll_inside(**link)) {  // it may be gone
                *link = next;
                ++completed;
            } else {
                link = &(*link)->next_;
            }
        }
        number -= completed;
        return completed;
    }

  private:
    static void take_added() {
        PendingCall* each = added.exchange(nullptr, std::memory_order_acquire);
        while (each != nullptr) {
            PendingCall* const next = std::exchange(each->next_, first);
            first = each;
            each = next;
        }
    }

    static inline std::atomic<int> number{0};
    static inline std::atomic<PendingCall*> added{nullptr};  // since the last poll
    static inline std::mutex polling;
    static inline PendingCall* first = nullptr;  // for the thread that polls
};

void find_progress_engine() {
    find(async_start, "PMPIX_Async_start");
    find(async_state, "MPIX_Async_get_state");
    find(stream_progress, "PMPIX_Stream_progress");
    find(request_is_complete, "PMPIX_Request_is_complete");
    find(progress_register, "opal_progress_register");
    find(progress_unregister, "opal_progress_unregister");
    find(progress, "opal_progress");
}

bool has_progress_engine() {
    return (async_start != nullptr && async_state != nullptr && stream_progress != nullptr &&
            request_is_complete != nullptr) ||
           (progress_register != nullptr && progress_unregister != nullptr && progress != nullptr);
}

void progress_with_library(PendingCall& call) {
    if (async_start != nullptr) {
        const int error = async_start(poll_thing, &call, no_stream);
        while (error != MPI_SUCCESS && !call.poll()) std::this_thread::yield();  // without memory, the call waits
        return;
    }
    PendingCalls::add(call);
    if (!is_registered.exchange(true)) progress_register(PendingCalls::poll);
}

void let_library_go_on() {
    if (stream_progress != nullptr) stream_progress(no_stream);
    else progress();
    std::this_thread::yield();
}

namespace {

/// MPI_Waitall for the requests that are not null. Those have an empty status.
int wait_for_others(std::span<MPI_Request> requests, MPI_Status* statuses) {
    const MPI_Request none = library().request_null;
    std::vector<std::size_t> places;
    std::vector<MPI_Request> others;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i] == none) continue;
        places.push_back(i);
        others.push_back(requests[i]);
    }
    const bool wanted = statuses != MPI_STATUSES_IGNORE;
    std::vector<MPI_Status> told(wanted ? others.size() : 0);
    const int error =
        library().Waitall(static_cast<int>(others.size()), others.data(), wanted ? told.data() : MPI_STATUSES_IGNORE);
    for (std::size_t i = 0; wanted && i < requests.size(); ++i) {
        if (requests[i] != none) continue;
        MPI_Request null = none;
        int flag = 0;
        library().Test(&null, &flag, &statuses[i]);
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
        requests[places[i]] = others[i];
        if (wanted) statuses[places[i]] = told[i];
    }
    return error;
}

}  // namespace

/// Where MPI_REQUEST_NULL is among the requests, MPICH's MPI_Waitall takes generalized ones for complete, and ends the
/// program if they are not (MPIR_Waitall_state in 5.0.2). So the library gets the others alone.
int wait_all(int count, MPI_Request* requests, MPI_Status* statuses) {
    if (stream_progress != nullptr && PendingCall::number_with_requests() > 0 && count > 0 && requests != nullptr) {
        const std::span all(requests, static_cast<std::size_t>(count));
        try {
            if (std::ranges::find(all, library().request_null) != all.end()) return wait_for_others(all, statuses);
        } catch (const std::bad_alloc&) {  // thrown before anything was waited for
            return library().Waitall(count, requests, statuses);
        }
    }
    return library().Waitall(count, requests, statuses);
}

void leave_progress_engine() {
    if (is_registered.exchange(false)) progress_unregister(PendingCalls::poll);
}

}  // namespace rondo::mpi
