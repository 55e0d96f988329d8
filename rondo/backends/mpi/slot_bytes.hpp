// SPDX-License-Identifier: BSD-3-Clause
// How slots (rondo/core/slots.hpp) stand in a message: each as its length and its part, one after the other. Elements
// are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rondo/core/slots.hpp"

namespace rondo::mpi {

/// Writes the lengths of the parts into the slots that a rank fills.
void write_lengths(std::byte* slots, const Slots& how, std::span<const std::uint32_t> lengths);
/// The length of the part in a slot.
Count length_in(const std::byte* slot, const Slots& how);
/// Moves what is in these bytes of slots to their beginning, in place. Returns the bytes of the message.
Count close_up(std::byte* slots, Count bytes, const Slots& how);
/// Moves what has come back into slots.
void spread(std::byte* slots, Count bytes, const Slots& how);

}  // namespace rondo::mpi
