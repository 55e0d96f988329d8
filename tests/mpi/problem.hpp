// SPDX-License-Identifier: BSD-3-Clause
// What is reduced or moved, and buffers that notice what happens to them. Inputs are pure functions of (rank, index),
// so that every rank computes what it must get without any communication.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mpi.h>
#include <string>
#include <sys/mman.h>
#include <vector>

/// Repeatable noise.
inline std::uint64_t noise(std::uint64_t rank, std::uint64_t index, std::uint64_t salt = 0) {
    std::uint64_t x = rank * 0x9E3779B97F4A7C15U + index * 0xBF58476D1CE4E5B9U + salt * 0x94D049BB133111EBU + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

/// A datatype, an operator and what they mean. Pointers are addresses of one element of the datatype.
struct Problem {
    std::string name;
    MPI_Datatype type;
    MPI_Op op;
    std::function<void(int rank, std::size_t index, std::byte* element)> input;
    std::function<void(const std::byte* left, std::byte* right)> reduce;  ///< right = left (+) right
    /// Values of an element in a form that has no padding; elements are equal if these are.
    std::function<std::vector<double>(const std::byte* element)> values;
    /// Bytes that the type names may differ where values do not: padding within a number, and zeros of either sign.
    /// Otherwise elements are compared byte by byte. What lies between the parts of an element, padding included, and
    /// between elements is always compared byte by byte: it must not change. Hence neither `input` nor `reduce` may.
    bool compare_values = false;
};

/// Room for `count` elements, between guards, filled with a pattern that nothing but the elements may change.
class Buffer {
  public:
    Buffer(MPI_Datatype type, std::size_t count, std::byte pattern) : pattern_(pattern) {
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        MPI_Type_get_extent(type, &lower, &extent);
        MPI_Aint true_lower = 0;
        MPI_Aint true_extent = 0;
        MPI_Type_get_true_extent(type, &true_lower, &true_extent);
        extent_ = static_cast<std::size_t>(extent);
        // The address that the user passes need not be part of the data: true_lower may be negative or positive.
        origin_ = guard + (true_lower < 0 ? static_cast<std::size_t>(-true_lower) : 0);
        const std::size_t above = true_lower > 0 ? static_cast<std::size_t>(true_lower) : 0;
        bytes_.assign(origin_ + count * extent_ + above + static_cast<std::size_t>(true_extent) + guard, pattern);
    }
    std::byte* data() { return bytes_.data() + origin_; }
    std::byte* element(std::size_t index) { return data() + index * extent_; }
    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] bool guards_are_intact() const {
        const auto is_pattern = [this](std::byte byte) { return byte == pattern_; };
        return std::all_of(bytes_.begin(), bytes_.begin() + guard, is_pattern) &&
               std::all_of(bytes_.end() - guard, bytes_.end(), is_pattern);
    }

  private:
    static constexpr std::size_t guard = 64;
    std::byte pattern_;
    std::vector<std::byte> bytes_;
    std::size_t origin_ = 0;
    std::size_t extent_ = 0;
};

/// A page that nobody can read or write: for buffers that are not significant.
inline void* forbidden_page() {
    static void* page = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page;
}

/// By way of MPI's own notion of the type, which leaves gaps alone.
inline void copy_element(MPI_Datatype type, const std::byte* from, std::byte* to) {
    MPI_Sendrecv(from, 1, type, 0, 0, to, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}
