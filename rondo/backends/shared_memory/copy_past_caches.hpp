// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace rondo::shared_memory {

/// From this length on: shorter data are as fast out of the writer's cache.
inline constexpr std::size_t past_caches_from = 12288;

/// Copies to memory that another process will read: `into` is aligned to a cache line. What is only in the writer's own
/// cache comes line by line, at a fifth of the rate at which memory is read; so it is written past it.
inline void copy_past_caches(void* into, const void* from, std::size_t bytes) {
#ifdef __SSE2__
    if (bytes >= past_caches_from) {
        constexpr std::size_t words = 4;
        auto* to = static_cast<__m128i*>(into);
        const auto* source = static_cast<const __m128i*>(from);
        const std::size_t lines = bytes / (words * sizeof(__m128i));
        for (std::size_t i = 0; i < lines; ++i, to += words, source += words) {
            __m128i line[words];
            for (std::size_t j = 0; j < words; ++j) line[j] = _mm_loadu_si128(source + j);
            for (std::size_t j = 0; j < words; ++j) _mm_stream_si128(to + j, line[j]);
        }
        _mm_sfence();  // the store that tells of the data is an ordinary one
        into = to;
        from = source;
        bytes %= words * sizeof(__m128i);
    }
#endif
    std::memcpy(into, from, bytes);
}

}  // namespace rondo::shared_memory
