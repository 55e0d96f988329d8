// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/progress.hpp"

#include <cstddef>
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

// Open MPI: one hook for all calls.
int (*progress_register)(int (*hook)()) = nullptr;
int (*progress_unregister)(int (*hook)()) = nullptr;
bool is_registered = false;
std::vector<PendingCall*> pending;

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

int poll_all() {
    if (pending.empty() || inside_progress) return 0;
    int completed = 0;
    for (std::size_t i = 0; i < pending.size();) {
        if (poll_inside(*pending[i])) {
            pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
            ++completed;
        } else {
            ++i;
        }
    }
    return completed;
}

template <class Function>
void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(definition_in_library(name));
}

}  // namespace

void find_progress_engine() {
    find(async_start, "PMPIX_Async_start");
    find(async_state, "MPIX_Async_get_state");
    find(request_is_complete, "PMPIX_Request_is_complete");
    find(progress_register, "opal_progress_register");
    find(progress_unregister, "opal_progress_unregister");
}

bool has_progress_engine() {
    return (async_start != nullptr && async_state != nullptr && request_is_complete != nullptr) ||
           (progress_register != nullptr && progress_unregister != nullptr);
}

void progress_with_library(PendingCall& call) {
    if (async_start != nullptr) {
        async_start(poll_thing, &call, no_stream);
        return;
    }
    pending.push_back(&call);
    if (!std::exchange(is_registered, true)) progress_register(poll_all);
}

void leave_progress_engine() {
    if (std::exchange(is_registered, false)) progress_unregister(poll_all);
}

}  // namespace rondo::mpi
