// SPDX-License-Identifier: BSD-3-Clause
// How a user cuts a vector into parts for the ranks.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::mpi {

/// A user's array of numbers, ints or of 64 bits each; borrowed. Or none, where a function has no such argument.
class Numbers {
  public:
    Numbers() = default;
    Numbers(const void* array, bool are_ints) : array_(array), kind_(are_ints ? Kind::ints : Kind::words) {}

    [[nodiscard]] bool is_argument() const { return kind_ != Kind::none; }
    /// The address that the user gave.
    [[nodiscard]] const void* array() const { return array_; }
    [[nodiscard]] Count operator[](Rank rank) const {
        if (kind_ == Kind::ints) return static_cast<const int*>(array_)[rank];
        Count number = 0;
        std::memcpy(&number, static_cast<const char*>(array_) + rank * Count{sizeof number}, sizeof number);
        return number;
    }

  private:
    enum class Kind : std::uint8_t { none, ints, words };
    const void* array_ = nullptr;
    Kind kind_ = Kind::none;
};

/// How many elements of its datatype the part of each rank has.
class PartCounts {
  public:
    /// All have as many.
    PartCounts(Count each, Rank size) : each_(each), size_(size) {}
    PartCounts(Numbers of_each, Rank size) : of_each_(of_each), size_(size) {}

    [[nodiscard]] Rank size() const { return size_; }
    [[nodiscard]] bool plainly_equal() const { return !of_each_.is_argument(); }
    [[nodiscard]] Count operator[](Rank rank) const { return plainly_equal() ? each_ : of_each_[rank]; }

  private:
    Numbers of_each_;
    Count each_ = 0;
    Rank size_;
};

/// A vector's parts, in short. Even ones, as Parts makes them, have the same summary whoever counts them.
struct Division {
    Count count = 0;         ///< of the whole vector; -1 if a part has less than nothing
    std::uint32_t hash = 0;  ///< of the parts; 0 if they are even

    /// `unit`: what each of the counted is in terms of the vector's elements.
    static Division of(const PartCounts& parts, Count unit);
};

/// Where each part starts, as SharedFacts::starts has it.
std::vector<Count> starts_of(const PartCounts& parts, Count unit);
/// True if that is how the vector is cut.
bool starts_at(const PartCounts& parts, Count unit, std::span<const Count> starts);

}  // namespace rondo::mpi
