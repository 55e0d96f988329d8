// SPDX-License-Identifier: BSD-3-Clause
// What MPI libraries' own collectives take. What they do is written down as rules, in tuning/native; how far
// predictions by these are off is known from measurements.
#pragma once

#include <span>
#include <string_view>

#include "rondo/core/block.hpp"

namespace rondo {

/// The name in tuning/native/<name>.rules, which says what the own collectives of a library do, by the first line of
/// MPI_Get_library_version, with single blanks and no colons. Empty for libraries that publish nothing, and for
/// versions that nobody has looked into.
[[nodiscard]] std::string_view native_rules_of(std::string_view version);

/// Calls of a collective whose native time was measured.
struct MeasuredClass {
    Count bytes;
    Rank processes, nodes;
    double ratio;  ///< of the measured time to the predicted one, above 0
};

/// By what the predicted time of a call of the collective is to be multiplied: the ratio of the nearest class, in
/// doublings of bytes, processes and nodes together; the geometric mean of several that are as near. The farther away,
/// the less it says: with every eight doublings its logarithm counts for half, a third, a quarter. 1 if nothing was
/// measured.
[[nodiscard]] double native_correction(std::span<const MeasuredClass> measured, Count bytes, Rank processes,
                                       Rank nodes);

}  // namespace rondo
