// SPDX-License-Identifier: BSD-3-Clause
// Between the exported symbols and what serves them: arguments as machine words, so that a call for an MPI library of
// another ABI can be forwarded with every bit. Without <mpi.h>.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "rondo/backends/mpi/wrapped_functions.hpp"
#include "rondo/interposer/call_cache.hpp"

namespace rondo::interposer {

/// The arguments of a call by their names in rondo/mpi_functions.txt, and in the order of scripts/mpi_functions.py.
struct Words {
    Word input = 0, input_count = 0;
    std::optional<Word> input_counts = {}, input_displacements = {};
    Word input_type = 0;
    std::optional<Word> input_types = {};
    Word part_count = 0;
    std::optional<Word> part_type = {};
    Word buffer = 0, output = 0, count = 0;
    std::optional<Word> counts = {}, displacements = {};
    Word datatype = 0;
    std::optional<Word> types = {};
    Word op = 0;
    std::optional<Word> root = {};
    Word comm = 0, info = 0, request = 0;

    /// True if the arguments about the whole vector are significant only at the root.
    [[nodiscard]] constexpr bool is_whole_at_root() const { return part_type.has_value() && root.has_value(); }
    /// The input, or the single buffer of a function that has one.
    [[nodiscard]] const void* input_buffer() const { return std::bit_cast<const void*>(input | buffer); }
    [[nodiscard]] void* output_buffer() const { return std::bit_cast<void*>(output | buffer); }

    /// The key of this call in the cache; unused upper bits of words are cleared. `Integer`: the type of the function's
    /// count; `rank`: CachedCall::rank.
    template <class Integer>
    [[nodiscard, gnu::always_inline]] CacheKey key(int rank) const {
        const int root_rank = static_cast<int>(root.value_or(0));
        const bool by_part = is_whole_at_root() && root_rank != rank;
        return {static_cast<HandleWord>(comm), static_cast<Integer>(by_part ? part_count : count),
                static_cast<HandleWord>(by_part ? part_type.value_or(0) : datatype), static_cast<HandleWord>(op),
                root_rank};
    }

    /// The count that CachedCall::has_count is asked about: the call's own, or the sum over `ranks` ranks.
    template <class Integer>
    [[nodiscard, gnu::always_inline]] std::int64_t count_in_all(const CacheKey& key, int ranks) const {
        if (!counts) return key.count;
        if (ranks == 0) return 0;  // any sum will do
        const auto* const array = std::bit_cast<const Integer*>(*counts);
        if (array == nullptr) return -1;
        std::uint64_t sum = 0;
        for (int rank = 0; rank < ranks; ++rank) {
            sum += static_cast<std::uint64_t>(array[rank]);
            asm("" : "+r"(sum));  // no vectors, which would not pay for a few ranks
        }
        return static_cast<std::int64_t>(sum);
    }
};

/// Serves a call, by Rondo or by the library. `caller`: an address in the code that called. `cached`: has the call's
/// key, and learns if the next one like it can be served from it.
int serve_words(mpi::Function function, const Words& words, const void* caller, CachedCall& cached);

/// The function that must have calls of this exported name instead, with the same arguments; nullptr if Rondo serves
/// them:
/// - for an MPI_ name, a tool (profiler) beneath Rondo, which has to see the program's call; it comes back by the PMPI_
///   name;
/// - the library's own function, if the library is of another ABI.
void* detour(const char* name, const void* caller);

}  // namespace rondo::interposer
