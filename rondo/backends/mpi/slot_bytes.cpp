// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/slot_bytes.hpp"

#include <algorithm>
#include <cstring>

namespace rondo::mpi {
namespace {

using Length = std::uint32_t;
static_assert(sizeof(Length) == Slots::header_bytes);

/// The bytes of a slot that are in use.
Count used(const std::byte* slot, const Slots& how) { return how.header + length_in(slot, how); }

}  // namespace

Count length_in(const std::byte* slot, const Slots& how) {
    Length length;
    std::memcpy(&length, slot, sizeof length);
    return std::min<Count>(length, how.longest());
}

void write_lengths(std::byte* slots, const Slots& how, std::span<const std::uint32_t> lengths) {
    for (const Length length : lengths) {
        std::memcpy(slots, &length, sizeof length);
        slots += how.stride;
    }
}

Count close_up(std::byte* slots, Count bytes, const Slots& how) {
    Count closed = 0;
    for (Count slot = 0; slot < bytes; slot += how.stride) {
        const Count length = used(slots + slot, how);
        std::memmove(slots + closed, slots + slot, static_cast<std::size_t>(length));
        closed += length;
    }
    return closed;
}

/// Where the message ends with the last slot, no part stands before its place: so each can move without harm to the
/// next.
void spread(std::byte* slots, Count bytes, const Slots& how) {
    Count length = 0;
    for (Count slot = 0; slot < bytes; slot += how.stride) length += used(slots + length, how);
    Count next = bytes - length;
    std::memmove(slots + next, slots, static_cast<std::size_t>(length));
    for (Count slot = 0; slot < bytes; slot += how.stride) {
        const Count in_use = used(slots + next, how);
        std::memmove(slots + slot, slots + next, static_cast<std::size_t>(in_use));
        next += in_use;
    }
}

}  // namespace rondo::mpi
