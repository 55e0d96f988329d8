// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/reduction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "rondo/backends/mpi/handle_table.hpp"

namespace rondo::mpi {
namespace {

using kernels::Operation;

struct PredefinedOperator {
    bool reduces = false;  // MPI_REPLACE and MPI_NO_OP do not
    Operation operation{};
    std::array<kernels::Kernel, kernels::elements> kernel_of{};  // by Element
};

HandleTable<MPI_Op, PredefinedOperator, 64> predefined_operators;

constexpr bool is_logical(Operation operation) {
    return operation == Operation::land || operation == Operation::lor || operation == Operation::lxor;
}

bool library_reduces(Operation operation, LibraryReductions kind) {
    switch (kind) {
        case LibraryReductions::none: return false;
        case LibraryReductions::logical: return is_logical(operation);
        case LibraryReductions::floating:
            return operation == Operation::max || operation == Operation::min || operation == Operation::sum ||
                   operation == Operation::prod;
    }
    return false;
}

/// Of elements about which the library is asked: integers are first.
struct Asked {
    kernels::Element element;
    MPI_Datatype type;
};
constexpr std::size_t most_asked = 10;
constexpr std::size_t operations_asked = 10;  // all but MPI_MAXLOC and MPI_MINLOC
using Places = std::array<Asked, most_asked>;

const Places& asked() {
    using kernels::Element;
    static const Places elements = {{{Element::int8, MPI_INT8_T},
                                     {Element::int16, MPI_INT16_T},
                                     {Element::int32, MPI_INT32_T},
                                     {Element::int64, MPI_INT64_T},
                                     {Element::uint8, MPI_UINT8_T},
                                     {Element::uint16, MPI_UINT16_T},
                                     {Element::uint32, MPI_UINT32_T},
                                     {Element::uint64, MPI_UINT64_T},
                                     {Element::boolean, MPI_C_BOOL},
                                     {Element::byte, MPI_BYTE}}};
    return elements;
}

Differences differences = all_differ;

struct Bit {
    std::size_t word;
    long long value;
};
constexpr Bit bit_of(Operation operation, std::size_t place) {
    constexpr std::size_t in_a_word = most_asked * operations_asked / std::tuple_size_v<Differences>;
    const std::size_t index = static_cast<std::size_t>(operation) * most_asked + place;
    return {index / in_a_word, 1LL << (index % in_a_word)};
}

bool same_for_all(Operation operation, const Datatype& type) {
    if (!type.element) return is_logical(operation);  // of a type that only the library knows
    switch (*type.element) {
        case kernels::Element::long_int:
        case kernels::Element::int_int:
        case kernels::Element::short_int: return true;
        default: break;
    }
    const auto* const found = std::ranges::find(asked(), *type.element, &Asked::element);
    if (found == asked().end()) return false;
    const Bit bit = bit_of(operation, static_cast<std::size_t>(found - asked().begin()));
    return (differences[bit.word] & bit.value) == 0;
}

/// Every combination of extremes, in all positions of the longest vector registers, and behind them.
constexpr std::size_t bytes_asked = 2 * 64 + 2 * 25;
struct Vector {
    alignas(64) std::array<unsigned char, bytes_asked> bytes{};
};

/// As an element of so many bytes has it, of the least one on.
std::uint64_t extreme(std::size_t which, std::size_t size, bool is_boolean) {
    const std::uint64_t sign = std::uint64_t{1} << (8 * size - 1);
    const std::array<std::uint64_t, 5> extremes = {0, 1, sign - 1, sign, ~std::uint64_t{0}};
    return is_boolean ? which % 2 : extremes[which];
}

bool differs(kernels::Kernel kernel, MPI_Op op, const Asked& asked, std::size_t size) {
    Vector left, right, of_rondo;
    const bool is_boolean = asked.element == kernels::Element::boolean;
    const std::size_t count = bytes_asked / size;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t one = extreme(i % 5, size, is_boolean), another = extreme(i / 5 % 5, size, is_boolean);
        std::memcpy(left.bytes.data() + i * size, &one, size);
        std::memcpy(right.bytes.data() + i * size, &another, size);
    }
    kernel(left.bytes.data(), right.bytes.data(), of_rondo.bytes.data(), count);
    const int error =
        library().Reduce_local(left.bytes.data(), right.bytes.data(), static_cast<int>(count), asked.type, op);
    return error != MPI_SUCCESS || std::memcmp(right.bytes.data(), of_rondo.bytes.data(), count * size) != 0;
}

/// The last two are those about which the library is not asked.
const std::array<std::pair<MPI_Op, Operation>, kernels::operations>& operators() {
    static const std::array<std::pair<MPI_Op, Operation>, kernels::operations> all = {
        {{MPI_MAX, Operation::max},
         {MPI_MIN, Operation::min},
         {MPI_SUM, Operation::sum},
         {MPI_PROD, Operation::prod},
         {MPI_LAND, Operation::land},
         {MPI_BAND, Operation::band},
         {MPI_LOR, Operation::lor},
         {MPI_BOR, Operation::bor},
         {MPI_LXOR, Operation::lxor},
         {MPI_BXOR, Operation::bxor},
         {MPI_MAXLOC, Operation::maxloc},
         {MPI_MINLOC, Operation::minloc}}};
    return all;
}

}  // namespace

void learn_operators() {
    for (const auto& [handle, operation] : operators()) {
        PredefinedOperator facts{true, operation};
        for (std::size_t i = 0; i < kernels::elements; ++i) {
            facts.kernel_of[i] = kernels::find(operation, static_cast<kernels::Element>(i));
        }
        predefined_operators.add(handle, facts);
    }
    for (const MPI_Op op : {MPI_REPLACE, MPI_NO_OP}) predefined_operators.add(op, {});
}

Differences ask_for_differences() {
    Differences found{};
    for (const auto& [op, operation] : std::span(operators()).first<operations_asked>()) {
        for (std::size_t place = 0; place < most_asked; ++place) {
            const Asked& each = asked()[place];
            const kernels::Kernel kernel = kernels::find(operation, each.element);
            if (kernel == nullptr || !differs(kernel, op, each, kernels::extent(each.element))) continue;
            const Bit bit = bit_of(operation, place);
            found[bit.word] |= bit.value;
        }
    }
    return found;
}

void know_differences(const Differences& agreed) { differences = agreed; }

Reduction::Reduction(MPI_Op op, const Datatype& type) : op_(op), subject_(&type) {
    if (type.interlocks()) {
        objection_ = "unusual datatype";
        return;
    }
    if (const PredefinedOperator* known = predefined_operators.find(op)) {
        commutative_ = predefined_ = true;
        operation_ = known->operation;
        keeps_bits_ = same_for_all(known->operation, type);
        if (type.element) kernel_ = known->kernel_of[static_cast<std::size_t>(*type.element)];
        // Neither: MPI does not define the operator on the type, and the library shall say so.
        if (kernel_ == nullptr && !(known->reduces && library_reduces(known->operation, type.library_reductions))) {
            objection_ = "operator undefined on type";
        }
        return;
    }
    int commutative = 0;
    if (op == library().op_null || library().Op_commutative(op, &commutative) != MPI_SUCCESS) {
        objection_ = "operator undefined on type";
        return;
    }
    commutative_ = commutative != 0;
}

int Reduction::reduce_local(const void* left, void* right_and_into, Count count) const {
    constexpr Count most = std::numeric_limits<int>::max();
    for (Count done = 0; done < count; done += most) {
        const Count offset = done * type().extent;
        const int error =
            library().Reduce_local(static_cast<const char*>(left) + offset, static_cast<char*>(right_and_into) + offset,
                                   static_cast<int>(std::min(most, count - done)), type().handle, op_);
        if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
}

}  // namespace rondo::mpi
