// SPDX-License-Identifier: BSD-3-Clause
// How a vector is divided into one part for each rank, one behind the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rondo::bench {

enum class Parts : std::int32_t {
    equal,
    skewed,   ///< every fifth is empty, the others are the longer the farther the rank is behind the one that sends
    uniform,  ///< every length up to twice the mean is as likely
    normal,   ///< normally distributed around the mean, a third of which is the deviation
    heavy,    ///< one rank gets ten times as much as the others
    sparse    ///< nine of ten are empty
};

/// nullopt if there are none of this name.
std::optional<Parts> find_parts(std::string_view name);

/// Where a part starts in the vector, and how long it is, in elements.
struct Piece {
    std::int64_t start, count;
};

/// The vector that one rank sends in parts to all, or the root gathers. All ranks compute the same.
class Division {
  public:
    /// In all as many elements as if each had `count`: at most as many as an int counts.
    Division(Parts parts, std::int64_t count, int ranks, int from);

    [[nodiscard]] Piece part(int rank) const;
    [[nodiscard]] std::int64_t elements() const { return starts_.back(); }

  private:
    std::vector<std::int64_t> starts_;  ///< of the parts, and of what lies behind the last
};

/// Elements of the longest vector that a rank receives in an exchange of all with all. It sends count * ranks.
std::int64_t most_received(Parts parts, std::int64_t count, int ranks);

}  // namespace rondo::bench
