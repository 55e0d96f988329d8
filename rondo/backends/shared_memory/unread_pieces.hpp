// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "rondo/backends/shared_memory/parcels.hpp"

namespace rondo::shared_memory {

/// Pieces of long messages, in parcels, that neighbours may still read; their sends may be complete. A sender runs
/// ahead of its reader, but not without end: here is how far. The list runs through the parcels, so it takes no memory.
class UnreadPieces {
  public:
    /// Borrows the parcels.
    explicit UnreadPieces(Parcels& parcels) : parcels_(parcels) {}

    void add(std::uint64_t parcel, int neighbour, std::uint32_t tag);

    /// In which form the next bytes of a long message may go. `lines`: pieces of other tags have taken what this
    /// neighbour may have, and its reader may not ask for them soon.
    enum class Form : std::uint8_t { none, lines, piece };
    /// Those that have been read are given back.
    [[nodiscard]] Form next_form(int neighbour, std::uint32_t tag);

    /// Each is given back when it has been read. To be called at the end, but not by a child of fork.
    void leave();

  private:
    Parcels& parcels_;
    std::uint64_t first_ = 0;
};

}  // namespace rondo::shared_memory
