// SPDX-License-Identifier: BSD-3-Clause
// Whether a schedule from a file is right. Apart from written_file.hpp: programs that run do not need it.
#pragma once

#include "rondo/backends/virtual/problem.hpp"

namespace rondo {

/// A call for which a written algorithm was made, with one element to a chunk.
SharedFacts smallest_facts(const AlgorithmInfo& written);

/// What is known of a schedule that is right.
struct Proved {
    virtual_machine::Outcome outcome;  ///< of such a call in lock step
    bool without_races;                ///< else it is too large for a look at them
};

/// Runs such a call on symbols, in lock step and as dataflow, also in place; and looks for thread blocks that race.
/// Throws Error, naming rank, step and block, if somebody does not hold in the end what the collective promises.
Proved prove(const AlgorithmInfo& written);

}  // namespace rondo
