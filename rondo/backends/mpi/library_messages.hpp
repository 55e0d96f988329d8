// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

/// True while the library's engine of progress calls Rondo in this thread (progress.hpp): the library must not be asked
/// to go on then.
inline RONDO_THREAD_LOCAL constinit bool inside_progress = false;
/// Tells, without going on, whether a request is complete; nullptr if the library has no such function, and may be
/// asked to go on from inside itself.
inline int (*request_is_complete)(MPI_Request) = nullptr;

/// The messages of an operation that the MPI library carries. Ranks are those of the communicator.
class LibraryMessages {
  public:
    /// Begins a call with elements of that type, which is borrowed. `comm`: Rondo's own communicator.
    void begin(const Datatype& type, int tag, MPI_Comm comm) {
        type_ = &type;
        counted_ = type.size > 0 ? ~Count{0} : 0;
        tag_ = tag;
        comm_ = comm;
    }
    /// Begins a message. `index`: the number by which `poll` reports it. Returns an MPI error code; throws
    /// std::bad_alloc, before it begins.
    int send(Rank to, const void* elements, Count count, std::uint32_t index);
    int receive(Rank from, void* elements, Count count, std::uint32_t index);

    /// Sends or receives at once, without a request: at most `most_now` elements, with nothing else under way. Waits.
    int send_now(Rank to, const void* elements, Count count) {
        return library().Send(elements, static_cast<int>(count & counted_), type_->handle, to, tag_, comm_);
    }
    int receive_now(Rank from, void* elements, Count count) {
        return library().Recv(elements, static_cast<int>(count & counted_), type_->handle, from, tag_, comm_,
                              MPI_STATUS_IGNORE);
    }
    static constexpr Count most_now = std::numeric_limits<int>::max();

    /// Calls `complete` with the index of each message that is complete. Returns an MPI error code. `may_wait`: until
    /// there is one, where time is simulated.
    template <class Complete>
    int poll(Complete&& complete, bool may_wait = false) {
        int completed = 0;
        if (const int error = test_some(completed, may_wait); error != MPI_SUCCESS) return error;
        for (int i = 0; i < completed; ++i) complete(messages_[position(i)].index);
        if (completed > 0) forget_completed();
        return MPI_SUCCESS;
    }
    /// Waits for the only message under way, and tells its index.
    int wait(std::uint32_t& index) {
        index = messages_.front().index;
        const int error = library().Wait(requests_.data(), MPI_STATUS_IGNORE);
        requests_.clear();
        messages_.clear();
        return error;
    }

    [[nodiscard]] bool idle() const { return requests_.empty(); }
    [[nodiscard]] bool is_one_under_way() const { return requests_.size() == 1; }
    /// Gives way to whoever needs this core, after so many polls in vain, counted from 1.
    static void give_way(std::int64_t polls);
    /// Ends all messages, as far as the library lets it.
    void abandon();

  private:
    struct Message {
        std::uint32_t index;
        bool is_received;
    };

    void make_room();
    void keep(MPI_Request request, Message message) {
        requests_.push_back(request);
        messages_.push_back(message);
    }
    int test_some(int& completed, bool may_wait);
    int test_each(int& completed);
    [[nodiscard]] std::size_t position(int completed) const {
        return static_cast<std::size_t>(indices_[static_cast<std::size_t>(completed)]);
    }
    void forget_completed();

    const Datatype* type_ = nullptr;
    Count counted_ = ~Count{0};  // mask of counts: 0 if elements have no bytes, which are not counted
    MPI_Comm comm_{};
    int tag_ = 0;
    std::vector<MPI_Request> requests_;  // requests under way
    std::vector<Message> messages_;      // the message of each request
    std::vector<int> indices_;           // positions of completed requests
    std::vector<MPI_Status> statuses_;
};

}  // namespace rondo::mpi
