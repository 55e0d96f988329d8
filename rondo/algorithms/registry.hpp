// SPDX-License-Identifier: BSD-3-Clause
// All collectives and their algorithms, by name.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "rondo/core/algorithm_info.hpp"

namespace rondo {

/// What calls of a collective have in common.
struct Traits {
    bool root;
    bool operation;  ///< false: data are moved, nothing is combined
    /// Of the vector, what each rank gives and gets.
    Share input = Share::whole, output = Share::whole;
    /// False: the vector has one element of no bytes for each rank, and ranks may have them in any order. That messages
    /// arrive is all that matters.
    bool data = true;
    /// Nobody knows how long all parts are, but at most the root: rules know no bytes, and a call has none of its own.
    bool local_lengths = false;
    /// What a rank gets depends on itself and the ranks below.
    bool prefix = false;

    /// True if no rank can return before every other one has come: each gets something that depends on all.
    [[nodiscard]] constexpr bool waiting_for_all() const { return !root && !prefix; }
    /// True if the vector has a part for each rank, which may differ in length.
    [[nodiscard]] constexpr bool parts() const { return data && (input == Share::part || output == Share::part); }
    /// True if each rank has a vector of its own, with a part for each.
    [[nodiscard]] constexpr bool all_to_all() const { return input == Share::own; }
    /// True if the vector with these parts stands on the root alone.
    [[nodiscard]] constexpr bool parts_of_the_root() const { return root && parts(); }
};

struct Collective {
    std::string_view name;
    std::string_view summary;
    std::span<const AlgorithmInfo* const> algorithms;
    Traits has;

    [[nodiscard]] const AlgorithmInfo* algorithm(std::string_view algorithm_name) const;
    /// The same facts, of a call of this collective. Where all parts are equal, the vector is so much longer as it
    /// takes.
    [[nodiscard]] SharedFacts facts(SharedFacts facts) const {
        facts.input = has.input;
        facts.output = has.output;
        if (!has.data) {
            facts.count = facts.size;
            facts.element_bytes = 0;
        }
        if (has.all_to_all()) facts.count = (facts.count + facts.size - 1) / facts.size * facts.size;
        if (has.local_lengths) {
            facts.count = 0;
            facts.starts = {};
        }
        return facts;
    }
};

/// How many there are: for tables by the index of a collective.
inline constexpr std::size_t number_of_collectives = 14;

/// In alphabetical order.
std::span<const Collective> collectives();

/// nullptr for an unknown name.
const Collective* find_collective(std::string_view name);

}  // namespace rondo
