// SPDX-License-Identifier: BSD-3-Clause
// Calls that were treated alike, counted in classes of size.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace rondo::mpi {

/// What became of calls.
struct Treatment {
    std::string_view collective;
    std::string_view algorithm;    ///< "native": the MPI library's own
    std::string_view reason = {};  ///< why the library has the calls
    int line = 0;                  ///< the line of the rules that says so; 0: none does
    std::string_view form = {};    ///< "nonblocking", "persistent"; empty: blocking

    friend bool operator==(const Treatment&, const Treatment&) = default;
};

/// Counts of several threads at the same time. It may lie in a file that is mapped into memory, where
/// python/rondo/launching/kept_counts.py reads it: hence the fixed size, and no pointers.
class Tally {
  public:
    struct Class {
        std::atomic<std::uint64_t> calls{0}, bytes{0}, nanoseconds{0};
        std::atomic<std::uint64_t> smallest{~std::uint64_t{0}}, largest{0};

        void count(std::uint64_t call_bytes, std::uint64_t call_nanoseconds);
    };

    /// Bytes of the largest call in each class but the last, which has no limit.
    static constexpr std::array<std::uint64_t, 5> limits = {64, 1U << 10U, 1U << 14U, 1U << 18U, 1U << 22U};

    /// Begins with no calls. Names that are too long together are cut.
    explicit Tally(const Treatment& treatment);

    void count(std::uint64_t call_bytes, std::uint64_t call_nanoseconds);
    [[nodiscard]] const auto& classes() const { return classes_; }

  private:
    std::array<char, 272> names_{};  // each ends with a zero
    std::array<Class, limits.size() + 1> classes_;
};

static_assert(sizeof(Tally) == 512);

}  // namespace rondo::mpi
