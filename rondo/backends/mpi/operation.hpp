// SPDX-License-Identifier: BSD-3-Clause
// A collective under way on this rank: dataflow execution of a plan over MPI point-to-point messages, and over memory
// that ranks of a node share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "rondo/backends/mpi/library_messages.hpp"
#include "rondo/backends/mpi/node_messages.hpp"
#include "rondo/backends/mpi/reduction.hpp"
#include "rondo/backends/mpi/scratch.hpp"
#include "rondo/backends/mpi/trace.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo::mpi {

/// What a plan works on in one call.
struct Operands {
    const void* input;
    void* output;
    const Datatype& type;        ///< type of an element
    const Reduction* reduction;  ///< nullptr where nothing is combined
};

/// Where the messages of one call go.
struct Route {
    MPI_Comm communicator;        ///< Rondo's own: no other messages are on it
    std::span<const Rank> ranks;  ///< the ranks of the plan, by their numbers in the communicator
    Rank rank;                    ///< this process, by its number in the plan
    int tag;              ///< differs from that of the last calls: messages that a failed call left match nothing
    Node* node;           ///< ranks that are reached through memory; nullptr if there are none
    bool is_inside_node;  ///< true if all ranks are on one node and reached through memory

    [[nodiscard]] Rank number(Rank each) const { return ranks[static_cast<std::size_t>(each)]; }
};

/// Starts steps in order, completes them out of order; receives are posted ahead within the limits of the scoreboard.
/// Local work is done in pieces, between which messages move. One call at a time; memory for keeping score stays for
/// the next one.
class Operation : private shared_memory::Consumer {
  public:
    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Carries out a plan to its end. Returns an MPI error code. After an error the contents of the buffers are
    /// undefined, and receives have been cancelled.
    int run(const Plan& plan, const Operands& operands, const Route& route);

    /// Begins a plan; borrows it, the route, and what operands refer to, until `progress` has returned true.
    void start(const Plan& plan, const Operands& operands, const Route& route);
    /// Goes on as far as possible without waiting. True when the call is over, `error` says how. Not for two threads at
    /// once.
    bool progress() { return advance(false); }
    /// True if `progress` would not only look for messages.
    [[nodiscard]] bool has_local_work() const { return local_ != Action::none || scoreboard_.local_work_ready(); }
    /// The MPI error code of the call; MPI_SUCCESS while nothing has failed.
    [[nodiscard]] int error() const { return error_; }

  private:
    void bind(const Plan& plan, const Operands& operands, const Route& route);
    bool advance(bool may_wait);
    bool finish(int error);
    int start_transfers(bool may_wait);
    int start_transfer(const Action& action, std::uint32_t index);
    int run_alone(const Action& action);
    Count close_up_to_send(const Block& block);
    void complete(std::uint32_t index);
    /// Notes when an action starts, and adds it to the trace when it is over.
    void note_start(std::uint32_t index) {
        if (trace != nullptr) [[unlikely]]
            begin_event(index);
    }
    void note_end(std::uint32_t index) {
        if (trace != nullptr) [[unlikely]]
            end_event(index);
    }
    [[gnu::noinline]] void begin_event(std::uint32_t index);
    [[gnu::noinline]] void end_event(std::uint32_t index) const;
    int run_local(const Action& action) { return run_piece(action, 0, length_of(action)); }
    int run_piece(const Action& action, Count first, Count count);
    int copy_part(const Block& part, const Block& into, Count first, Count count) const;
    int copy_row(const BlockRow& from, const BlockRow& into, Count first, Count count) const;
    int advance_local();
    /// The elements of a local action.
    [[nodiscard]] Count length_of(const Action& action) const {
        return action.kind == ActionKind::copy ? action.block.count * plan_->pieces(action).number
                                               : Count{action.block.count};
    }
    int complete_only();
    int complete_some(bool wait);
    [[nodiscard]] bool waits_in_node() const { return route_->node != nullptr && !in_node_->idle(); }
    // These are not part of the path of calls whose messages the library carries.
    [[gnu::noinline]] void begin_in_node();
    [[gnu::noinline]] int run_in_node();
    int run_in_order();
    void run_by_score();
    int start_in_node(const Action& action, std::uint32_t index, int neighbour, bool& complete);
    int run_alone_in_node(const Action& action);
    bool wants(std::uint32_t index) override;
    void consume(std::uint32_t index, const std::byte* data, std::size_t first, std::size_t bytes) override;
    int complete_some_in_node(bool wait);
    int copy(const void* from, void* into, Count count) const;
    void abandon();

    /// The number of the peer among the neighbours; -1 if the library carries the messages.
    [[nodiscard]] int neighbour(const Action& transfer) const {
        return route_->node->neighbour(route_->number(transfer.peer));
    }
    [[nodiscard]] std::byte* bytes_at(const Block& block) const { return reinterpret_cast<std::byte*>(address(block)); }
    [[nodiscard]] char* address(const Block& block) const {
        return base_[static_cast<std::size_t>(block.buffer)] + block.first * type_->extent;
    }

    // The members up to `local_done_` are about the call under way.
    const Plan* plan_ = nullptr;
    char* base_[buffers] = {};  // address of element 0 in each buffer; the input is only read
    const Datatype* type_ = nullptr;
    const Reduction* reduction_ = nullptr;
    const Route* route_ = nullptr;
    Scratch scratch_;
    int error_ = MPI_SUCCESS;
    std::uint32_t local_ = Action::none;  // local action under way
    Count local_done_ = 0;                // elements of it that are done

    std::vector<std::uint64_t> started_;  // when each action started, if there is a trace

    Scoreboard scoreboard_;
    LibraryMessages messages_;
    std::unique_ptr<NodeMessages> in_node_;  // made when it is first needed
};

}  // namespace rondo::mpi
