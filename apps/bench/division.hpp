// SPDX-License-Identifier: BSD-3-Clause
// How a vector is divided into one part for each rank, one behind the other.
#pragma once

#include <cstdint>
#include <vector>

namespace rondo::bench {

enum class Parts : std::int32_t {
    equal,
    skewed  ///< every fifth is empty, the others are the longer the higher the rank
};

/// Of part i, or of the parts for all ranks or from all of them: where it starts, and how long it is, in elements.
struct Piece {
    std::int64_t start, count;
};

class Division {
  public:
    /// In all as many elements as if each had `count`.
    Division(Parts parts, std::int64_t count, int ranks);

    [[nodiscard]] Piece part(int rank) const;
    [[nodiscard]] std::int64_t elements() const { return starts_.back(); }

    // Of an exchange of all with all, where what rank i has for rank i + d is as long as part d: all ranks send as
    // much, and receive as much.
    /// In the vector that `from` sends.
    [[nodiscard]] Piece sent(int from, int to) const;
    /// In the vector that `to` receives.
    [[nodiscard]] Piece received(int from, int to) const;

  private:
    /// Elements of so many parts, from this one on; the first comes after the last.
    [[nodiscard]] std::int64_t elements_from(int first, int parts) const;

    int ranks_;
    std::vector<std::int64_t> starts_;  ///< of the parts, and of what lies behind the last
};

}  // namespace rondo::bench
