// SPDX-License-Identifier: BSD-3-Clause
// What to measure and how: a file of lines `<key> <value>`, written by `rondo bench`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "problem.hpp"

namespace rondo::bench {

enum class Start : std::int32_t { barrier, clock };

const char* name_of(Start start);

/// The candidate that is the MPI library's own collective.
inline constexpr const char* native = "native";

struct Plan {
    const Collective* collective = nullptr;
    Type type = Type::long_integer;
    Operator op = Operator::sum;
    Parts parts = Parts::equal;
    std::vector<std::string> candidates;  ///< "native", or as rondo_choose takes them
    std::vector<std::int64_t> counts;
    std::vector<Start> starts;
    std::vector<std::pair<std::int64_t, std::string>> left_out;  ///< counts, and candidates not measured with them
    std::vector<Form> forms;
    int pieces = 0;          ///< of what is computed while a call goes on, with an MPI_Test after each; 0: nothing is
    double computing = 0;    ///< seconds of that; 0: as many as the call takes alone
    int repetitions = 30;    ///< valid ones of each configuration, at most
    int warmups = 2;         ///< rounds before the first that counts, at most
    double seconds = 60;     ///< for everything, about
    std::uint64_t seed = 1;  ///< of the order of the candidates
    bool learned_clock = false;
    double clock_skew = 0;   ///< seconds, artificial: what the clocks of the ranks differ by, at most
    double clock_drift = 0;  ///< the same for their rates

    /// Throws std::runtime_error for what so many ranks cannot do.
    void check(int ranks) const;
    [[nodiscard]] bool leaves_out(std::int64_t count, const std::string& candidate) const;
};

/// Throws std::runtime_error that names line and key.
Plan parse_plan(const std::string& text);

}  // namespace rondo::bench
