// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/reduction.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "rondo/backends/mpi/handle_table.hpp"
#include "rondo/core/fingerprint.hpp"

namespace rondo::mpi {
namespace {

using kernels::Element;
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

#ifdef RONDO_ABI_SIMGRID
constexpr bool may_ask = false;  // it aborts on a type that it does not serve
#else
constexpr bool may_ask = true;
#endif

/// The bytes of an element: those of its value, and perhaps of an index.
struct Parts {
    std::size_t value = 0, index = 0, index_at = 0;
};

/// The parts of an element whose reductions keep bits; nothing if none does: a floating-point sum depends on the order,
/// and so does a maximum of NaN, or of zeros of both signs.
std::optional<Parts> exact_parts(Element element) {
    switch (element) {
        case Element::int8:
        case Element::uint8:
        case Element::boolean:
        case Element::byte: return Parts{1};
        case Element::int16:
        case Element::uint16: return Parts{2};
        case Element::int32:
        case Element::uint32: return Parts{4};
        case Element::int64:
        case Element::uint64: return Parts{8};
        case Element::long_int: return Parts{sizeof(long), sizeof(int), sizeof(long)};
        case Element::int_int: return Parts{sizeof(int), sizeof(int), sizeof(int)};
        case Element::short_int: return Parts{sizeof(short), sizeof(int), sizeof(int)};
        default: return std::nullopt;
    }
}

/// Operands with every combination of 0, 1, -1, the least and the greatest integer of their size, signed or not, in
/// turn: whole vectors of 64 bytes, and then a shorter end, for which vector kernels have code of their own.
class Extremes {
  public:
    explicit Extremes(Element element, const Parts& parts)
        : extent_(kernels::extent(element)),
          count_(std::max(vectors_bytes / extent_, combinations) + vector_bytes / extent_ - 1) {
        const std::uint64_t mask = element == Element::boolean ? 1 : ~std::uint64_t{0};
        for (std::size_t i = 0; i < count_; ++i) {
            char *const left = left_.data() + i * extent_, *const right = right_.data() + i * extent_;
            store(left, extreme(i, parts.value) & mask, parts.value);
            store(right, extreme(i / extremes, parts.value) & mask, parts.value);
            if (parts.index == 0) continue;
            store(left + parts.index_at, extreme(2 * i, parts.index), parts.index);
            store(right + parts.index_at, extreme(3 * i + 1, parts.index), parts.index);
        }
    }

    /// True if the library's reduction gives what the kernel gives.
    [[nodiscard]] bool reduces_alike(MPI_Op op, MPI_Datatype type, kernels::Kernel kernel) const {
        Bytes ours = right_, theirs = right_;
        kernel(left_.data(), right_.data(), ours.data(), count_);
        const auto count = static_cast<int>(count_);
        return library().Reduce_local(left_.data(), theirs.data(), count, type, op) == MPI_SUCCESS && ours == theirs;
    }

  private:
    static constexpr std::size_t extremes = 5, combinations = extremes * extremes;
    static constexpr std::size_t vector_bytes = 64, vectors_bytes = 4 * vector_bytes;
    using Bytes = std::array<char, 512>;

    static std::uint64_t extreme(std::size_t number, std::size_t bytes) {
        const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
        const std::uint64_t all[extremes] = {0, sign, 1, sign - 1, ~std::uint64_t{0}};
        return all[number % extremes];
    }
    static void store(char* into, std::uint64_t bits, std::size_t bytes) {
        const auto narrow = [into](auto number) { std::memcpy(into, &number, sizeof number); };
        if (bytes == 1) narrow(static_cast<std::uint8_t>(bits));
        if (bytes == 2) narrow(static_cast<std::uint16_t>(bits));
        if (bytes == 4) narrow(static_cast<std::uint32_t>(bits));
        if (bytes == 8) narrow(bits);
    }

    std::size_t extent_, count_;
    Bytes left_{}, right_{};
};

constexpr std::uint16_t bit_of(Operation operation) {
    return static_cast<std::uint16_t>(1U << static_cast<unsigned>(operation));
}

}  // namespace

void learn_operators() {
    const std::pair<MPI_Op, Operation> operators[] = {
        {MPI_MAX, Operation::max},   {MPI_MIN, Operation::min},       {MPI_SUM, Operation::sum},
        {MPI_PROD, Operation::prod}, {MPI_LAND, Operation::land},     {MPI_BAND, Operation::band},
        {MPI_LOR, Operation::lor},   {MPI_BOR, Operation::bor},       {MPI_LXOR, Operation::lxor},
        {MPI_BXOR, Operation::bxor}, {MPI_MAXLOC, Operation::maxloc}, {MPI_MINLOC, Operation::minloc},
    };
    for (const auto& [handle, operation] : operators) {
        PredefinedOperator facts{true, operation};
        for (std::size_t i = 0; i < kernels::elements; ++i) {
            facts.kernel_of[i] = kernels::find(operation, static_cast<kernels::Element>(i));
        }
        predefined_operators.add(handle, facts);
    }
    for (const MPI_Op op : {MPI_REPLACE, MPI_NO_OP}) predefined_operators.add(op, {});
}

std::uint64_t compare_reductions() {
    Fingerprint answers;
    for_each_predefined([&](Datatype& type) {
        // Rondo has the library reduce these, too.
        if (type.library_reductions == LibraryReductions::logical) {
            type.keeps_bits = bit_of(Operation::land) | bit_of(Operation::lor) | bit_of(Operation::lxor);
        }
        const auto parts = type.element ? exact_parts(*type.element) : std::nullopt;
        if (!parts || !may_ask) return;
        const Extremes operands(*type.element, *parts);
        predefined_operators.for_each([&](MPI_Op op, const PredefinedOperator& known) {
            const kernels::Kernel kernel = known.kernel_of[static_cast<std::size_t>(*type.element)];
            const bool is_defined = kernel != nullptr && !(type.fortran_integer && is_logical(known.operation));
            if (is_defined && operands.reduces_alike(op, type.handle, kernel)) {
                type.keeps_bits = static_cast<std::uint16_t>(type.keeps_bits | bit_of(known.operation));
            }
        });
        answers.add(type.keeps_bits);
    });
    return answers.value();
}

void distrust_reductions() {
    for_each_predefined([](Datatype& type) { type.keeps_bits = 0; });
}

Reduction::Reduction(MPI_Op op, const Datatype& type) : op_(op), subject_(&type) {
    if (type.interlocks()) {
        objection_ = "unusual datatype";
        return;
    }
    if (const PredefinedOperator* known = predefined_operators.find(op)) {
        commutative_ = predefined_ = true;
        operation_ = known->operation;
        keeps_bits_ = (type.keeps_bits & bit_of(known->operation)) != 0;
        if (type.element) kernel_ = known->kernel_of[static_cast<std::size_t>(*type.element)];
        // MPI does not define the operator on the type, and the library shall report it.
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
