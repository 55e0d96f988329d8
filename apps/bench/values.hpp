// SPDX-License-Identifier: BSD-3-Clause
// The numbers that go through a collective: element i of a rank's input depends on rank, i mod 61 and repetition alone,
// so that results are known from 61 columns. Whole numbers, and small enough that sums are exact in any type and order.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rondo::bench {

enum class Type : std::int32_t {
    integer,
    long_integer,
    single_real,
    double_real,
    // Pairs of a value and an index.
    single_real_integer,
    double_real_integer,
    long_integer_integer,
    integer_integer
};
enum class Operator : std::int32_t { sum, bxor, bor, max, min, maxloc, minloc };

std::optional<Type> find_type(std::string_view name);
std::optional<Operator> find_operator(std::string_view name);
const char* name_of(Type type);
const char* name_of(Operator op);
MPI_Datatype mpi_type(Type type);
MPI_Op mpi_operator(Operator op);
/// From one element to the next.
std::size_t bytes_of(Type type);
/// Of an element, without the padding of a pair.
std::size_t data_bytes_of(Type type);
/// Bits of floating-point numbers have no operators; pairs have maxloc and minloc, and nothing else has.
bool defined(Operator op, Type type);

/// [first, last)
struct RankRange {
    int first, last;
    [[nodiscard]] bool empty() const { return first >= last; }
};

/// The inputs of some ranks, combined: a vector that is known by its 61 columns.
class Columns {
  public:
    Columns(Type type, Operator op, RankRange ranks, int of_ranks, std::uint64_t repetition);
    void write(std::byte* vector, std::size_t bytes) const;
    /// Whether these are the elements from `first` on. Padding does not matter.
    [[nodiscard]] bool equal(const std::byte* vector, std::size_t bytes, std::size_t first = 0) const;

  private:
    Type type_;
    std::vector<std::byte> tile_;
};

}  // namespace rondo::bench
