// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 decides: which candidate comes next, how often, until when; and what is written down.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "measurement.hpp"
#include "records.hpp"

namespace rondo::bench {

class Conductor {
  public:
    /// All of them must live longer. `refusals`: of each candidate, why it cannot be measured, empty if it can.
    Conductor(const Plan& plan, const std::vector<std::string>& refusals, Measurement& measurement, Records& records,
              const GlobalClock& clock, const Messages& messages);

    /// Measures everything, and ends all ranks' obeying.
    void run();

  private:
    /// A candidate with vectors of one length and one way to start.
    struct Configuration {
        int id;
        std::int32_t candidate;
        Form form;
        Start start;
        int valid = 0;
        bool refused = false;
    };

    Outcome order(Command::Kind kind, std::int64_t count = 0);
    std::vector<Configuration> configurations(std::int64_t count);
    void learn_lead();
    void measure(std::int64_t count, double seconds);
    bool enough(const std::vector<Configuration>& configurations, int round) const;
    void round(std::vector<Configuration>& configurations, bool warmup);
    void repetition(Configuration& configuration, bool warmup);
    Outcome carry_out(Command& command);
    void refuse(Configuration& configuration);
    [[nodiscard]] const char* state_of(const Command& command, const Outcome& outcome) const;
    void keep_clock();

    const Plan& plan_;
    const std::vector<std::string>& refusals_;
    Measurement& measurement_;
    Records& records_;
    const GlobalClock& clock_;
    const Messages& messages_;
    std::mt19937_64 random_;
    double lead_ = 0, first_lead_ = 0;  ///< from the command to the start: until every rank has heard of it
    double clock_error_ = 0, true_clock_error_ = 0;
    double next_refresh_ = 0, between_refreshes_;
    int next_id_ = 0;
};

}  // namespace rondo::bench
