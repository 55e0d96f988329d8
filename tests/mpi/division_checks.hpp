// SPDX-License-Identifier: BSD-3-Clause
// Ways to cut a vector into a part for each rank.
#pragma once

#include "checker.hpp"

/// How many elements each rank has.
using Division = std::vector<std::size_t>;

inline std::size_t total(const Division& division) {
    std::size_t sum = 0;
    for (const std::size_t count : division) sum += count;
    return sum;
}

/// As even as can be, the longer ones first.
inline bool is_even(const Division& division) {
    const std::size_t ranks = division.size();
    const std::size_t whole = total(division);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if (division[rank] != whole / ranks + (rank < whole % ranks ? 1 : 0)) return false;
    }
    return true;
}

/// Even, growing, of no system, with and without parts of nothing, all for one rank; the longest part has about
/// `count`.
inline std::vector<Division> divisions(int size, std::size_t count) {
    const auto ranks = static_cast<std::size_t>(size);
    std::vector<Division> all;
    all.emplace_back(ranks, count);
    Division nearly_even(ranks, count);
    nearly_even[0] = count + 1;
    all.push_back(nearly_even);
    Division growing;
    for (std::size_t rank = 0; rank < ranks; ++rank) growing.push_back((rank + 1) * count / ranks);
    all.push_back(growing);
    Division scattered;
    for (std::size_t rank = 0; rank < ranks; ++rank) scattered.push_back(noise(rank, count, 5) % (count + 1));
    all.push_back(scattered);
    for (const std::size_t only : {std::size_t{0}, ranks - 1, ranks / 2}) {
        Division single(ranks, 0);
        single[only] = count;
        all.push_back(single);
    }
    Division holes(ranks, count);
    for (std::size_t rank = count % 2; rank < ranks; rank += 2) holes[rank] = 0;
    all.push_back(holes);
    return all;
}

template <class Integer>
std::vector<Integer> as(const Division& numbers) {
    return {numbers.begin(), numbers.end()};
}
