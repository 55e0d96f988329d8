// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/reduction.hpp"

#include <algorithm>
#include <array>
#include <limits>

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

bool library_reduces(Operation operation, LibraryReductions kind) {
    switch (kind) {
        case LibraryReductions::none: return false;
        case LibraryReductions::logical:
            return operation == Operation::land || operation == Operation::lor || operation == Operation::lxor;
        case LibraryReductions::floating:
            return operation == Operation::max || operation == Operation::min || operation == Operation::sum ||
                   operation == Operation::prod;
    }
    return false;
}

bool rounds(Operation operation, const Datatype& type) {
    if (operation != Operation::sum && operation != Operation::prod) return false;
    return !type.element || *type.element > kernels::Element::uint64;  // integers are first
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

Reduction::Reduction(MPI_Op op, const Datatype& type) : op_(op), subject_(&type) {
    if (type.interlocks()) {
        objection_ = "unusual datatype";
        return;
    }
    if (const PredefinedOperator* known = predefined_operators.find(op)) {
        commutative_ = predefined_ = true;
        operation_ = known->operation;
        keeps_bits_ = !rounds(known->operation, type);
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
