// SPDX-License-Identifier: BSD-3-Clause
// One repetition: all ranks start together, make the call, and find out how long it took and whether it was right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "calls.hpp"
#include "computing.hpp"
#include "global_clock.hpp"
#include "machine.hpp"
#include "messages.hpp"
#include "network.hpp"
#include "plan.hpp"
#include "problem.hpp"

namespace rondo::bench {

/// What rank 0 tells all ranks to do.
struct Command {
    enum class Kind : std::int32_t { nothing, prepare, repeat, refresh_clock, end };

    Kind kind = Kind::nothing;
    std::int32_t candidate = 0;
    Form form = Form::blocking;
    Start start = Start::barrier;
    std::int64_t count = 0;  ///< of `prepare`
    double computing = 0;    ///< seconds, of `repeat`: meanwhile; 0: nothing is computed
    double due = 0;          ///< when a repetition with Start::clock starts, on the global clock
};

/// Of a command, over all ranks.
struct Outcome {
    double slowest = 0, total = 0, fastest = 0;  ///< seconds
    double first_start = 0, last_start = 0;      ///< on the global clock
    double clock_error = 0, true_clock_error = 0;
    std::int64_t late = 0;             ///< ranks that came when the start was over
    std::int64_t wrong = 0;            ///< ranks with a wrong result
    std::int64_t left_to_library = 0;  ///< ranks whose call Rondo did not serve
    std::int64_t retransmissions = 0;  ///< since the first outcome

    void merge(const Outcome& other);
};

class Measurement {
  public:
    /// All of them must live longer. `comm`: what is measured runs on it.
    Measurement(const Plan& plan, MPI_Comm comm, const Machine& machine, const Computing& computing, GlobalClock& clock,
                const Messages& messages);

    /// Carries out the command that rank 0 gives; all ranks call it. The outcome is rank 0's to read.
    Outcome obey(Command& command);

    /// Why Rondo left the last call to the library, on this rank.
    [[nodiscard]] const std::string& reason() const { return reason_; }
    [[nodiscard]] const Machine& machine() const { return machine_; }
    [[nodiscard]] const EmulatedCluster& cluster() const { return cluster_; }
    /// Of the emulated network during the last repetition, on rank 0; what came after it does not count.
    [[nodiscard]] const Lateness& lateness() const { return lateness_; }

  private:
    void prepare(std::int64_t count);
    void repeat(const Command& command, Outcome& outcome);
    void start(const Command& command, Outcome& outcome);
    void stop_watching();
    [[nodiscard]] bool settles() const;

    const Plan& plan_;
    MPI_Comm comm_;
    const Machine& machine_;
    const Computing& computing_;
    GlobalClock& clock_;
    const Messages& messages_;
    EmulatedCluster cluster_;
    Lateness lateness_;
    bool watching_ = false;
    std::unique_ptr<Problem> problem_;
    std::unique_ptr<Calls> calls_;  ///< of the problem
    std::uint64_t repetition_ = 0;
    std::int64_t retransmitted_before_;
    std::string reason_;
};

}  // namespace rondo::bench
