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

/// MAXLOC and MINLOC elements, as MPI defines them.
template <class Value>
struct Pair {
    Value value;
    int index;
};

template <class Element>
constexpr bool is_pair = false;
template <class Value>
constexpr bool is_pair<Pair<Value>> = true;

template <class Number>
Number input_number(Operator op, std::uint64_t random, int ranks) {
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

template <class Element>
Element input_value(Operator op, std::uint64_t random, int ranks) {
    if constexpr (is_pair<Element>) {
        // Few values, so that many are equal and the index decides.
        return {static_cast<decltype(Element::value)>(random % 8), static_cast<int>(random >> 32 & 0xFFFF)};
    } else {
        return input_number<Element>(op, random, ranks);
    }
}

template <class Element>
Element combined(Operator op, Element left, Element right) {
    if constexpr (is_pair<Element>) {
        if (left.value == right.value) return left.index < right.index ? left : right;
        return (op == Operator::maxloc) == (left.value > right.value) ? left : right;
    } else {
        if constexpr (std::is_integral_v<Element>) {
            if (op == Operator::bxor) return left ^ right;
            if (op == Operator::bor) return left | right;
        }
        if (op == Operator::max) return std::max(left, right);
        if (op == Operator::min) return std::min(left, right);
        return left + right;
    }
}

template <class Element>
std::vector<std::byte> tile_of(Operator op, RankRange ranks, int of_ranks, std::uint64_t repetition) {
    std::vector<Element> row(columns);
    for (std::size_t column = 0; column < columns; ++column) {
        const auto value = [&](int rank) {
            const std::uint64_t where = static_cast<std::uint64_t>(rank) * columns + column;
            return input_value<Element>(op, hash(hash(where) ^ repetition), of_ranks);
        };
        row[column] = value(ranks.first);
        for (int rank = ranks.first + 1; rank < ranks.last; ++rank) {
            row[column] = combined(op, row[column], value(rank));
        }
    }
    const std::size_t row_bytes = columns * sizeof(Element);
    std::vector<std::byte> tile(row_bytes * rows_of_tile);
    for (std::size_t i = 0; i < rows_of_tile; ++i) std::memcpy(tile.data() + i * row_bytes, row.data(), row_bytes);
    return tile;
}

template <class Element>
bool equal_elements(const std::byte* left, const std::byte* right, std::size_t bytes) {
    if constexpr (is_pair<Element>) {
        for (std::size_t i = 0; i < bytes; i += sizeof(Element)) {
            Element first, second;
            std::memcpy(&first, left + i, sizeof first);
            std::memcpy(&second, right + i, sizeof second);
            if (first.value != second.value || first.index != second.index) return false;
        }
        return true;
    } else {
        return std::memcmp(left, right, bytes) == 0;
    }
}

struct NamedType {
    std::string_view name;
    std::size_t bytes, data_bytes;
    std::vector<std::byte> (*tile)(Operator, RankRange, int, std::uint64_t);
    bool (*equal)(const std::byte*, const std::byte*, std::size_t);
};

template <class Element>
constexpr NamedType type_of(std::string_view name, std::size_t data_bytes = sizeof(Element)) {
    return {name, sizeof(Element), data_bytes, tile_of<Element>, equal_elements<Element>};
}

template <class Value>
constexpr NamedType pair_type_of(std::string_view name) {
    return type_of<Pair<Value>>(name, sizeof(Value) + sizeof(int));
}

// In the order of enum class Type.
constexpr NamedType types[] = {type_of<int>("int"),
                               type_of<long>("long"),
                               type_of<float>("float"),
                               type_of<double>("double"),
                               pair_type_of<float>("float_int"),
                               pair_type_of<double>("double_int"),
                               pair_type_of<long>("long_int"),
                               pair_type_of<int>("2int")};
// In the order of enum class Operator.
constexpr std::string_view operators[] = {"sum", "bxor", "bor", "max", "min", "maxloc", "minloc"};

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
std::size_t data_bytes_of(Type type) { return named(type).data_bytes; }

MPI_Datatype mpi_type(Type type) {
    switch (type) {
        case Type::integer: return MPI_INT;
        case Type::long_integer: return MPI_LONG;
        case Type::single_real: return MPI_FLOAT;
        case Type::double_real: return MPI_DOUBLE;
        case Type::single_real_integer: return MPI_FLOAT_INT;
        case Type::double_real_integer: return MPI_DOUBLE_INT;
        case Type::long_integer_integer: return MPI_LONG_INT;
        default: return MPI_2INT;
    }
}

MPI_Op mpi_operator(Operator op) {
    switch (op) {
        case Operator::sum: return MPI_SUM;
        case Operator::bxor: return MPI_BXOR;
        case Operator::bor: return MPI_BOR;
        case Operator::max: return MPI_MAX;
        case Operator::min: return MPI_MIN;
        case Operator::maxloc: return MPI_MAXLOC;
        default: return MPI_MINLOC;
    }
}

bool defined(Operator op, Type type) {
    const bool of_pairs = op == Operator::maxloc || op == Operator::minloc;
    if (of_pairs || type >= Type::single_real_integer) return of_pairs && type >= Type::single_real_integer;
    const bool of_bits = op == Operator::bxor || op == Operator::bor;
    return !of_bits || type == Type::integer || type == Type::long_integer;
}

Columns::Columns(Type type, Operator op, RankRange ranks, int of_ranks, std::uint64_t repetition)
    : type_(type), tile_(named(type).tile(op, ranks, of_ranks, repetition)) {}

void Columns::write(std::byte* vector, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes; done += tile_.size()) {
        std::memcpy(vector + done, tile_.data(), std::min(tile_.size(), bytes - done));
    }
}

bool Columns::equal(const std::byte* vector, std::size_t bytes, std::size_t first) const {
    const NamedType& type = named(type_);
    std::size_t in_tile = first * type.bytes % tile_.size();
    for (std::size_t done = 0, part = 0; done < bytes; done += part, in_tile = 0) {
        part = std::min(tile_.size() - in_tile, bytes - done);
        if (!type.equal(vector + done, tile_.data() + in_tile, part)) return false;
    }
    return true;
}

}  // namespace rondo::bench
