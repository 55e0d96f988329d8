// SPDX-License-Identifier: BSD-3-Clause
// What to do with a call: an algorithm with its settings, the native collective, or what the model proposes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/core/fingerprint.hpp"

namespace rondo {

/// The name of the library's own collective, wherever a choice is written.
inline constexpr std::string_view native = "native";

/// The name of what the model proposes (proposal.hpp), wherever a choice is written.
inline constexpr std::string_view by_the_model = "predicted";

/// The value that leaves a parameter open, wherever a choice is written.
inline constexpr std::string_view automatic_text = "auto";

struct Choice {
    const AlgorithmInfo* algorithm = nullptr;  ///< nullptr: the library's own collective ("native"), or `is_predicted`
    /// Every declared parameter, in the order of declaration. Those with the value `automatic` are open: they have to
    /// be chosen for the call and the machine before a Call is made.
    std::vector<Setting> settings;
    /// The algorithm is to be proposed for the call and the machine.
    bool is_predicted = false;

    [[nodiscard]] bool is_native() const { return algorithm == nullptr && !is_predicted; }
    [[nodiscard]] bool uses_nodes() const { return is_predicted || (algorithm != nullptr && algorithm->uses_nodes); }
};

/// Before the path of a schedule that somebody has written down, wherever a choice is written.
inline constexpr std::string_view of_a_file = "file:";

/// Reads "native", "predicted", "doubling_123", "linear_pipeline:segment=64Ki" (more settings after commas) or
/// "file:ring.xml". Numbers take the suffixes Ki, Mi, Gi, and k, M, G; "segment=auto", or nothing about it, leaves a
/// segment open. Throws Error: an unknown name comes with the nearest known ones, a value with its range, a file with
/// what is wrong in it.
Choice parse_choice(const Collective& collective, std::string_view text);

/// The text that `parse_choice` reads back, with every setting.
std::string to_string(const Choice& choice);

/// By which ranks find out whether they choose alike: its text, and its settings, which for a file say what is in it.
void add_to(Fingerprint& print, const Choice& choice);

/// Is it a schedule from a file?
[[nodiscard]] bool is_written(const Choice& choice);

/// As `find_collective`, but throws Error naming the nearest known ones.
const Collective& require_collective(std::string_view name);

}  // namespace rondo
