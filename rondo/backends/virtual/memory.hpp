// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "rondo/backends/virtual/symbol.hpp"
#include "rondo/core/range_map.hpp"
#include "rondo/core/step.hpp"

namespace rondo::virtual_machine {

/// A run of equal symbols, relative to the start of the block that it was read from.
struct Piece {
    Count offset, count;
    Symbol symbol;
};
using Data = std::vector<Piece>;

/// The three buffers of one rank, holding symbols: costs memory by the number of different runs, not of elements.
class Memory {
  public:
    /// The input of `rank` stands in `input`; all else is undefined. `has_slots`: what
    /// is behind a part in its slot may travel, although nobody has written it.
    Memory(Rank rank, const Block& input, bool has_slots = false);

    /// Throws Error if any element is undefined that must not be.
    [[nodiscard]] Data read(const Block& block);
    void write(const Block& block, const Data& data);
    /// Makes all elements undefined.
    void forget(const Block& block);
    /// The same for rows: relative to the start of their bounds.
    [[nodiscard]] Data read(const BlockRow& row);
    void copy(const BlockRow& from, const BlockRow& into);

    /// The symbols without the check, for looking at results.
    [[nodiscard]] Data peek(const Block& block);

  private:
    std::array<RangeMap<Symbol>, buffers> buffers_;
    bool has_slots_;
};

/// left (+) right, piece by piece. Throws Error as Symbol::combined.
Data combined(const Data& left, const Data& right, bool commutative);

}  // namespace rondo::virtual_machine
