// SPDX-License-Identifier: BSD-3-Clause
#include "values.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace rondo::bench {
namespace {

constexpr std::size_t columns = 61;             // a prime: no power of two of elements falls on the same column
constexpr std::size_t rows_of_tile = 64;        // long enough that copying and comparing run at the speed of memory
constexpr std::uint64_t largest_summand = 511;  // 32768 of them are exact in a float

/// splitmix64 (Steele, Lea, Flood 2014).
std::uint64_t hash(std::uint64_t value) {
    value += 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31);
}

template <class Number>
Number input_value(Operator op, std::uint64_t random, int ranks) {
    if constexpr (std::is_integral_v<Number>) {
        if (op == Operator::bxor) return static_cast<Number>(random);
        if (op == Operator::bor) {
            // Few bits in all, so that each counts: of 1000 full words the union would be all ones.
            const auto one_in = static_cast<std::uint64_t>(ranks) / 16 + 1;
            const Number bit = static_cast<Number>(Number{1} << (random % (8 * sizeof(Number) - 1)));
            return (random >> 32) % one_in == 0 ? bit : 0;
        }
    }
    return static_cast<Number>(random % (largest_summand + 1));
}

template <class Number>
Number combined(Operator op, Number left, Number right) {
    if constexpr (std::is_integral_v<Number>) {
        if (op == Operator::bxor) return left ^ right;
        if (op == Operator::bor) return left | right;
    }
    if (op == Operator::max) return std::max(left, right);
    if (op == Operator::min) return std::min(left, right);
    return left + right;
}

template <class Number>
std::vector<std::byte> tile_of(Operator op, RankRange ranks, int of_ranks, std::uint64_t repetition) {
    std::vector<Number> row(columns);
    for (std::size_t column = 0; column < columns; ++column) {
        const auto value = [&](int rank) {
            const std::uint64_t where = static_cast<std::uint64_t>(rank) * columns + column;
            return input_value<Number>(op, hash(hash(where) ^ repetition), of_ranks);
        };
        row[column] = value(ranks.first);
        for (int rank = ranks.first + 1; rank < ranks.last; ++rank) {
            row[column] = combined(op, row[column], value(rank));
        }
    }
    const std::size_t row_bytes = columns * sizeof(Number);
    std::vector<std::byte> tile(row_bytes * rows_of_tile);
    for (std::size_t i = 0; i < rows_of_tile; ++i) std::memcpy(tile.data() + i * row_bytes, row.data(), row_bytes);
    return tile;
}

struct NamedType {
    std::string_view name;
    std::size_t bytes;
    std::vector<std::byte> (*tile)(Operator, RankRange, int, std::uint64_t);
};

// In the order of enum class Type.
constexpr NamedType types[] = {{"int", sizeof(int), tile_of<int>},
                               {"long", sizeof(long), tile_of<long>},
                               {"float", sizeof(float), tile_of<float>},
                               {"double", sizeof(double), tile_of<double>}};
// In the order of enum class Operator.
constexpr std::string_view operators[] = {"sum", "bxor", "bor", "max", "min"};

const NamedType& named(Type type) { return types[static_cast<std::size_t>(type)]; }

}  // namespace

std::optional<Type> find_type(std::string_view name) {
    for (std::size_t i = 0; i < std::size(types); ++i) {
        if (types[i].name == name) return static_cast<Type>(i);
    }
    return std::nullopt;
}

std::optional<Operator> find_operator(std::string_view name) {
    for (std::size_t i = 0; i < std::size(operators); ++i) {
        if (operators[i] == name) return static_cast<Operator>(i);
    }
    return std::nullopt;
}

const char* name_of(Type type) { return named(type).name.data(); }
const char* name_of(Operator op) { return operators[static_cast<std::size_t>(op)].data(); }
std::size_t bytes_of(Type type) { return named(type).bytes; }

MPI_Datatype mpi_type(Type type) {
    switch (type) {
        case Type::integer: return MPI_INT;
        case Type::long_integer: return MPI_LONG;
        case Type::single_real: return MPI_FLOAT;
        default: return MPI_DOUBLE;
    }
}

MPI_Op mpi_operator(Operator op) {
    switch (op) {
        case Operator::sum: return MPI_SUM;
        case Operator::bxor: return MPI_BXOR;
        case Operator::bor: return MPI_BOR;
        case Operator::max: return MPI_MAX;
        default: return MPI_MIN;
    }
}

bool defined(Operator op, Type type) {
    const bool of_bits = op == Operator::bxor || op == Operator::bor;
    return !of_bits || type == Type::integer || type == Type::long_integer;
}

Columns::Columns(Type type, Operator op, RankRange ranks, int of_ranks, std::uint64_t repetition)
    : tile_(named(type).tile(op, ranks, of_ranks, repetition)) {}

void Columns::write(std::byte* vector, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes; done += tile_.size()) {
        std::memcpy(vector + done, tile_.data(), std::min(tile_.size(), bytes - done));
    }
}

bool Columns::equal(const std::byte* vector, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes; done += tile_.size()) {
        if (std::memcmp(vector + done, tile_.data(), std::min(tile_.size(), bytes - done)) != 0) return false;
    }
    return true;
}

}  // namespace rondo::bench
