// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/node.hpp"
#include "rondo/backends/shared_memory/transfers.hpp"

namespace rondo::mpi {

/// The messages of an operation inside its node. Memory carries the bytes of the elements' signature: which way a
/// message takes depends on the ranks at its ends alone, not on how one of them describes its data.
class NodeMessages {
  public:
    /// Elements are handed to the consumer only if they lie as packed.
    NodeMessages(Node& node, shared_memory::Consumer& consumer)
        : node_(node), transfers_(node.neighbours(), &consumer) {}

    /// Begins a call with elements of that type, which is borrowed. `self`: this process in `comm`, Rondo's own
    /// communicator.
    void begin(const Datatype& type, int tag, MPI_Comm comm, Rank self);
    /// Begins a message to or from a rank of the node; `index`: the number by which `poll` reports it. `complete`: it
    /// is complete already. Returns an MPI error code; throws std::bad_alloc.
    int send(int neighbour, void* elements, Count count, std::uint32_t index, bool& complete);
    int receive(int neighbour, void* elements, Count count, std::uint32_t index);

    /// Sends or receives at once: at most `most_inline` bytes of elements that lie as packed, with nothing else under
    /// way. Waits.
    int send_now(int neighbour, const void* elements, Count count);
    int receive_now(int neighbour, void* elements, Count count);

    /// Calls `complete` with the index of each message that is complete. `moved`: some data moved. Returns an MPI error
    /// code.
    template <class Complete>
    int poll(bool& moved, Complete&& complete) {
        const shared_memory::Transfers::Progress progress = transfers_.poll();
        moved = progress.moved;
        for (const std::uint32_t index : progress.completed) {
            if (!as_packed_) {
                if (const int error = unpack_received(index); error != MPI_SUCCESS) return error;
            }
            complete(index);
        }
        return has_failed() ? code_of_failure() : MPI_SUCCESS;
    }
    /// True if elements lie one behind the other in memory, as they travel.
    [[nodiscard]] bool as_packed() const { return as_packed_; }
    /// True if nothing is under way.
    [[nodiscard]] bool idle() const { return transfers_.idle(); }
    /// Gives way to the library, and to whoever needs this core, after so many polls in vain, counted from 1. From time
    /// to time looks whether an awaited process has ended, which `poll` reports.
    void give_way(std::int64_t polls);
    /// Ends all messages here and now.
    void abandon();

  private:
    using Clock = std::chrono::steady_clock;

    struct Packed {
        std::uint32_t index;
        void* received;  // nullptr if the message is sent
        Count count;
        std::unique_ptr<char[]> bytes;
    };

    [[nodiscard]] std::size_t bytes_of(Count count) const { return static_cast<std::size_t>(count * type_->size); }
    char* make_room(std::uint32_t index, void* received, Count count);
    int unpack_received(std::uint32_t index);
    void look_for_ended();
    [[nodiscard]] bool has_failed() const { return transfers_.failure() != nullptr || misses_somebody_; }
    [[nodiscard]] int code_of_failure() const;

    Node& node_;
    shared_memory::Transfers transfers_;
    const Datatype* type_ = nullptr;
    MPI_Comm comm_{};
    Rank self_ = 0;
    int tag_ = 0;
    Clock::time_point next_look_{};  // the next look for neighbours that have ended
    int ended_ = -1;                 // one that had ended at the last look, in this wait
    bool misses_somebody_ = false;   // true if an ended neighbour has left nothing that could still arrive
    bool as_packed_ = true;          // the elements lie as packed
    std::vector<Packed> packed_;
};

}  // namespace rondo::mpi
