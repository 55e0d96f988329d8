// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {

/// Messages of an operation that the MPI library carries. Ranks are those of the communicator.
class LibraryMessages {
  public:
    /// A call with elements of that type, which is borrowed. `comm`: Rondo's own.
    void begin(const Datatype& type, int tag, MPI_Comm comm) {
        type_ = &type;
        counted_ = type.size > 0 ? ~Count{0} : 0;
        tag_ = tag;
        comm_ = comm;
    }
    /// `index`: what `poll` calls the message. Returns an MPI error code; throws std::bad_alloc, before it begins.
    int send(Rank to, const void* elements, Count count, std::uint32_t index);
    int receive(Rank from, void* elements, Count count, std::uint32_t index);

    /// The same for at most `most_now` elements, by who has nothing else under way: no request is needed. They wait.
    int send_now(Rank to, const void* elements, Count count) {
        return library().Send(elements, static_cast<int>(count & counted_), type_->handle, to, tag_, comm_);
    }
    int receive_now(Rank from, void* elements, Count count) {
        return library().Recv(elements, static_cast<int>(count & counted_), type_->handle, from, tag_, comm_,
                              MPI_STATUS_IGNORE);
    }
    static constexpr Count most_now = std::numeric_limits<int>::max();

    /// Calls `complete` with the index of each message that is. Returns an MPI error code.
    template <class Complete>
    int poll(Complete&& complete) {
        int completed = 0;
        if (const int error = test_some(completed); error != MPI_SUCCESS) return error;
        for (int i = 0; i < completed; ++i) complete(messages_[position(i)].index);
        if (completed > 0) forget_completed();
        return MPI_SUCCESS;
    }
    /// Waits for the only one under way, and tells its index.
    int wait(std::uint32_t& index) {
        index = messages_.front().index;
        const int error = library().Wait(requests_.data(), MPI_STATUS_IGNORE);
        requests_.clear();
        messages_.clear();
        return error;
    }

    [[nodiscard]] bool idle() const { return requests_.empty(); }
    [[nodiscard]] bool is_one_under_way() const { return requests_.size() == 1; }
    /// After so many polls in vain, counted from 1: to whoever needs this core.
    static void give_way(std::int64_t polls);
    /// Ends everything, as far as the library lets it.
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
    int test_some(int& completed);
    [[nodiscard]] std::size_t position(int completed) const {
        return static_cast<std::size_t>(indices_[static_cast<std::size_t>(completed)]);
    }
    void forget_completed();

    const Datatype* type_ = nullptr;
    Count counted_ = ~Count{0};  // mask of counts: elements of no bytes are not counted
    MPI_Comm comm_{};
    int tag_ = 0;
    std::vector<MPI_Request> requests_;  // under way
    std::vector<Message> messages_;      // of each request
    std::vector<int> indices_;           // of completed requests
    std::vector<MPI_Status> statuses_;
};

}  // namespace rondo::mpi
