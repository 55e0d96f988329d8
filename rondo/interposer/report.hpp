// SPDX-License-Identifier: BSD-3-Clause
// What was done to how many calls: counted while the program runs, written to a file of this rank when it ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::mpi {

/// Calls of one collective that were treated alike. Threads count at the same time.
struct Tally {
    std::string collective, algorithm, reason;
    std::atomic<std::uint64_t> calls{0}, bytes{0}, nanoseconds{0};
    std::atomic<std::uint64_t> smallest{~std::uint64_t{0}}, largest{0};

    void count(std::uint64_t call_bytes, std::uint64_t call_nanoseconds);
};

}  // namespace rondo::mpi

namespace rondo::interposer {

/// The tally of calls of `collective` that `algorithm` ("native" with a reason) served. Lives for ever.
mpi::Tally* tally_of(std::string_view collective, std::string_view algorithm, std::string_view reason);

/// From now on the report is written to `directory` when this process, and not a child of it, ends.
void open_report(const std::string& directory, int rank, int size, const std::string& mpi_library);

/// Nanoseconds on a clock that only goes forward.
std::uint64_t now();

}  // namespace rondo::interposer
