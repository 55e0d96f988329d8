// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/tally.hpp"

#include <algorithm>
#include <charconv>

#include "rondo/backends/mpi/clock.hpp"
#include "rondo/backends/mpi/trace.hpp"

namespace rondo::mpi {

Tally::Tally(const Treatment& treatment) {
    std::size_t used = 0;
    std::size_t zeros = 5;
    std::array<char, 16> line{};
    std::to_chars(line.begin(), line.end(), treatment.line);
    for (const std::string_view name :
         {std::string_view(line.data()), treatment.collective, treatment.algorithm, treatment.reason, treatment.form}) {
        const std::size_t length = std::min(name.size(), names_.size() - used - zeros--);
        std::copy_n(name.begin(), length, names_.begin() + static_cast<std::ptrdiff_t>(used));
        used += length + 1;
    }
}

void Tally::Class::count(std::uint64_t call_bytes, std::uint64_t call_nanoseconds) {
    constexpr auto relaxed = std::memory_order_relaxed;
    for (std::uint64_t seen = smallest.load(relaxed);
         call_bytes < seen && !smallest.compare_exchange_weak(seen, call_bytes, relaxed);) {
    }
    for (std::uint64_t seen = largest.load(relaxed);
         call_bytes > seen && !largest.compare_exchange_weak(seen, call_bytes, relaxed);) {
    }
    bytes.fetch_add(call_bytes, relaxed);
    nanoseconds.fetch_add(call_nanoseconds, relaxed);
    // `calls` comes last: the process may be killed in between, and a class with calls has all the rest.
    calls.fetch_add(1, std::memory_order_release);
}

void Tally::count(std::uint64_t call_bytes, std::uint64_t call_nanoseconds) {
    const auto limit = std::ranges::lower_bound(limits, call_bytes);
    classes_[static_cast<std::size_t>(limit - limits.begin())].count(call_bytes, call_nanoseconds);
    if (trace == nullptr) return;
    const std::uint64_t end = now();
    trace->add({.bytes = call_bytes, .start = end - call_nanoseconds, .end = end, .call = this});
}

}  // namespace rondo::mpi
