// SPDX-License-Identifier: BSD-3-Clause
// All-to-alls, gathers and scatters of parts that differ, by those of equal parts. A part travels in a slot, and all
// slots are equally long: so who passes them on need not know what is in them. Only the two ends know how long a part
// is. Both know as well which parts are too long for a slot: those go straight to their ranks.
//
// Others agree on the longest part of all, or let the lengths travel in messages of their own, ahead of the data (K.
// Fan, J. Domke, S. Ba, S. Kumar: Configurable Non-uniform All-to-all Algorithms, arXiv:2411.02581). Here nobody waits
// for that.
#pragma once

#include "rondo/core/algorithm_info.hpp"
#include "rondo/core/schedule.hpp"

namespace rondo {

inline constexpr Parameter slot_parameter = {
    .name = "slot",
    .summary = "bytes up to which a part is passed on; longer ones go straight to their ranks",
    .minimum = 1,
    .maximum = Count{1} << 20,
    .standard = 512,
    .unit = Unit::bytes,
};

/// The elements of the longest part that is passed on; for AlgorithmInfo.
[[nodiscard]] Count longest_in_slot(const SharedFacts& facts, std::span<const Setting> settings);

/// Some libraries count the bytes of a message in ints.
extern const Requirement slots_requirement;

/// The algorithm for equal parts moves the slots. It sends no piece of a part.
Schedule exchanged_in_slots(const Call& call, Schedule (*alltoall)(const Call& call));
Schedule gathered_in_slots(const Call& call, Schedule (*gather)(const Call& call));
Schedule scattered_in_slots(const Call& call, Schedule (*scatter)(const Call& call));

}  // namespace rondo
