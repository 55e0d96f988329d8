// SPDX-License-Identifier: BSD-3-Clause
// Where and how a report counts the calls that go to the library straight from the cache. Without <mpi.h>.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#include "rondo/interposer/call_cache.hpp"
#include "rondo/interposer/report.hpp"
#include "rondo/interposer/tally.hpp"

namespace rondo::interposer {

/// Where a call is counted. The tally is never freed.
struct Counted {
    mpi::Tally* tally;
    std::int64_t bytes_to_a_count;
};
static_assert(sizeof(Counted) <= sizeof(CachedCall::details) && std::is_trivially_copyable_v<Counted>);

/// Counts a call when it goes out of scope, with the time since it was made. By then an error handler may have freed
/// the communicator, and `cached` may be about another call.
class Counting {
  public:
    /// `count`: the count that CachedCall::has_count is asked about.
    Counting(const CachedCall& cached, std::int64_t count)
        : counted_(*std::launder(reinterpret_cast<const Counted*>(cached.details))),
          bytes_(static_cast<std::uint64_t>(count * counted_.bytes_to_a_count)), start_(now()) {}
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;
    ~Counting() { counted_.tally->count(bytes_, now() - start_); }

  private:
    Counted counted_;
    std::uint64_t bytes_, start_;
};

/// Counts a call that is over later than its function.
struct LaterCount {
    mpi::Tally* tally;  ///< nullptr: nowhere
    std::uint64_t bytes, start;

    void start_now() {
        if (tally != nullptr) start = now();
    }
    void count() const {
        if (tally != nullptr) tally->count(bytes, now() - start);
    }
};

}  // namespace rondo::interposer
