// SPDX-License-Identifier: BSD-3-Clause
// How a user cuts a vector into parts for the ranks.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "rondo/core/block.hpp"

namespace rondo::mpi {

/// A user's array of numbers, ints or of 64 bits each; borrowed. Empty where a function has no such argument.
class Numbers {
  public:
    Numbers() = default;
    Numbers(const void* array, bool are_ints) : array_(array), kind_(are_ints ? Kind::ints : Kind::words) {}

    [[nodiscard]] bool is_argument() const { return kind_ != Kind::none; }
    /// True if there is such an argument, and the user gave no array.
    [[nodiscard]] bool is_missing() const { return is_argument() && array_ == nullptr; }
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
    /// Parts that all have the same count.
    PartCounts(Count each, Rank size) : each_(each), size_(size) {}
    PartCounts(Numbers of_each, Rank size) : of_each_(of_each), size_(size) {}

    [[nodiscard]] Rank size() const { return size_; }
    [[nodiscard]] bool plainly_equal() const { return !of_each_.is_argument(); }
    [[nodiscard]] Count operator[](Rank rank) const { return plainly_equal() ? each_ : of_each_[rank]; }
    /// True if some part has a count for which `holds` is true.
    template <class Predicate>
    [[nodiscard]] bool any(Predicate&& holds) const {
        if (plainly_equal()) return size_ > 0 && holds(each_);
        for (Rank rank = 0; rank < size_; ++rank) {
            if (holds(of_each_[rank])) return true;
        }
        return false;
    }
    [[nodiscard]] bool any_negative() const {
        return any([](Count count) { return count < 0; });
    }

  private:
    Numbers of_each_;
    Count each_ = 0;
    Rank size_;
};

/// A summary of a vector's parts. Even ones, as Parts makes them, have the same summary whoever counts them.
struct Division {
    Count count = 0;         ///< elements of the whole vector; -1 if a part has a negative count
    std::uint32_t hash = 0;  ///< hash of the parts; 0 if they are even

    /// `unit`: elements of the vector for each of a count.
    static Division of(const PartCounts& parts, Count unit);
};

/// The start of each part, in the form of SharedFacts::starts.
std::vector<Count> starts_of(const PartCounts& parts, Count unit);
/// True if the parts start there.
bool starts_at(const PartCounts& parts, Count unit, std::span<const Count> starts);

}  // namespace rondo::mpi
