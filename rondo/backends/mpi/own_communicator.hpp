// SPDX-License-Identifier: BSD-3-Clause
// A communicator of Rondo's own for the nonblocking calls on one of the program's, made without waiting for other
// ranks.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

class OwnCommunicator {
  public:
    /// True if the library duplicates communicators while other nonblocking calls are made on them. Open MPI's
    /// duplication is several of these calls, made when each rank comes to it: they get in the way of the program's.
#ifdef RONDO_ABI_OPENMPI
    static constexpr bool can_be_made = false;
#else
    static constexpr bool can_be_made = true;
#endif

    /// Begins to duplicate a communicator: collective over it, as a nonblocking call is. Throws std::bad_alloc.
    explicit OwnCommunicator(MPI_Comm original);
    OwnCommunicator(const OwnCommunicator&) = delete;
    OwnCommunicator& operator=(const OwnCommunicator&) = delete;
    /// Frees it, or has `free_own_communicators` do so if it is not made yet.
    ~OwnCommunicator();

    /// True if it is made, or cannot be made: then there is an error. Any thread may ask.
    bool is_ready();
    [[nodiscard]] MPI_Comm get() const { return made_->comm; }
    [[nodiscard]] int error() const { return made_->error; }

  private:
    bool ask();
    friend void free_own_communicators();

    struct Made {
        MPI_Comm comm = library().comm_null;
        MPI_Request request = library().request_null;
        int error = MPI_SUCCESS;
        std::unique_ptr<Made> next;  // in the list of those that nobody owns
    };
    static std::unique_ptr<Made> unowned;
    static std::mutex unowned_mutex;

    std::unique_ptr<Made> made_;  // the library writes into it
    std::atomic<bool> is_ready_{false};
    std::mutex asking_;  // held by the thread that asks the library
};

/// Waits for communicators whose owners are gone, and frees them. Called in MPI_Finalize.
void free_own_communicators();

}  // namespace rondo::mpi
