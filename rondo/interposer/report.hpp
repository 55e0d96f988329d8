// SPDX-License-Identifier: BSD-3-Clause
// What was done to how many calls: counted while the program runs, written to a file of this rank when it ends. Until
// then the tallies are in another file, for those who look after the process was killed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/interposer/tally.hpp"

namespace rondo::interposer {

/// The tally of calls with this treatment, never freed; nullptr if there is no memory for it: they are not counted.
mpi::Tally* tally_of(const mpi::Treatment& treatment);

/// Calls that were treated alike, of all sizes.
struct Counts {
    std::string_view collective, algorithm, reason;
    std::uint64_t calls, bytes, nanoseconds;
};
/// What was done in this process so far.
std::vector<Counts> counts_here();

/// Says whose report it is. Called before all that follows.
void name_rank(int rank, int size, const std::string& mpi_library);

/// Writes the report so far as a JSON object. `ended`: the program has come to its end.
void write_rank(std::FILE* file, bool ended);

/// Keeps the report in `directory` from now on. It is written there when this process, and not a child of it, ends.
void open_report(const std::string& directory);

/// Keeps what happens from now on, and writes it into `directory` when this process, and not a child of it, ends.
void open_trace(const std::string& directory);

using mpi::now;

}  // namespace rondo::interposer
