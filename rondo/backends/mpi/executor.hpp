// SPDX-License-Identifier: BSD-3-Clause
// Dataflow execution of a plan over MPI point-to-point messages.
#pragma once

#include <span>
#include <vector>

#include "rondo/backends/mpi/reduction.hpp"
#include "rondo/core/scoreboard.hpp"

namespace rondo::mpi {

/// What the relative addresses of a plan mean in one call. Borrowed for the length of the call.
struct Binding {
    /// Where element 0 of each buffer stands, by Buffer. The input is only read.
    void* base[buffers];
    const Datatype& type;         ///< of an element
    const Reduction* reduction;   ///< nullptr where nothing is combined
    MPI_Comm communicator;        ///< Rondo's own: no other messages are on it
    std::span<const Rank> ranks;  ///< of the ranks that the plan speaks of, their numbers in it
    Rank rank;                    ///< this process, as the plan has it
    int tag;                      ///< other than that of the last calls: what a failed call left behind matches nothing

    [[nodiscard]] Rank number(Rank each) const { return ranks[static_cast<std::size_t>(each)]; }
};

/// Runs plans, one at a time. Starts steps in order, completes them out of order; receives are posted ahead within the
/// limits of the scoreboard. Its own memory grows to that of the largest plan and stays.
class Executor {
  public:
    /// Returns an MPI error code. After an error the buffers hold anything, and receives have been cancelled.
    int run(const Plan& plan, const Binding& binding);

  private:
    int run();
    [[nodiscard]] static bool is_one_message(const Plan& plan);
    [[nodiscard]] static bool fits_alone(const Action& action);
    int start_transfer(const Action& action, std::uint32_t index);
    int run_alone(const Action& action);
    int run_local(const Action& action);
    int complete_some(bool wait);
    int complete_only();
    int copy(const void* from, void* into, Count count) const;
    void abandon();

    [[nodiscard]] char* address(const Block& block) const {
        return static_cast<char*>(binding_->base[static_cast<std::size_t>(block.buffer)]) +
               block.first * binding_->type.extent;
    }

    Scoreboard scoreboard_;
    const Plan* plan_ = nullptr;
    const Binding* binding_ = nullptr;
    std::vector<MPI_Request> requests_;   // under way
    std::vector<std::uint32_t> actions_;  // of each request
    std::vector<int> indices_;
    std::vector<MPI_Status> statuses_;
};

}  // namespace rondo::mpi
