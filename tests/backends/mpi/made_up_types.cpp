// SPDX-License-Identifier: BSD-3-Clause
// Datatypes, operators, and what they do with data.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "tests/backends/mpi/made_up_objects.hpp"

namespace rondo::mpi::made_up {
namespace {

using kernels::Element;
using kernels::Operation;

void add(MPI_Datatype handle, const char* name, Element element, MPI_Aint value = 0, MPI_Aint index = 0) {
    const auto extent = static_cast<MPI_Aint>(kernels::extent(element));
    Type type{.size = extent, .extent = extent, .pieces = {{0, extent}}, .element = element, .name = name};
    if (value > 0) {  // of a pair
        const MPI_Aint at = (value + index - 1) / index * index;
        type.pieces = {{0, value}, {at, index}};
        type.size = value + index;
    }
    state().types.add(handle, type);
}

void add_text(MPI_Datatype handle, const char* name, MPI_Aint bytes) {
    state().types.add(handle, {.size = bytes, .extent = bytes, .pieces = {{0, bytes}}, .name = name});
}

void add_integers() {
    for (const MPI_Datatype each : {MPI_SIGNED_CHAR, MPI_INT8_T}) add(each, "MPI_SIGNED_CHAR", Element::int8);
    for (const MPI_Datatype each : {MPI_SHORT, MPI_INT16_T}) add(each, "MPI_SHORT", Element::int16);
    for (const MPI_Datatype each : {MPI_INT, MPI_INT32_T}) add(each, "MPI_INT", Element::int32);
    for (const MPI_Datatype each : {MPI_LONG, MPI_LONG_LONG, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT})
        add(each, "MPI_LONG", Element::int64);
    for (const MPI_Datatype each : {MPI_UNSIGNED_CHAR, MPI_UINT8_T}) add(each, "MPI_UNSIGNED_CHAR", Element::uint8);
    for (const MPI_Datatype each : {MPI_UNSIGNED_SHORT, MPI_UINT16_T}) add(each, "MPI_UNSIGNED_SHORT", Element::uint16);
    for (const MPI_Datatype each : {MPI_UNSIGNED, MPI_UINT32_T}) add(each, "MPI_UNSIGNED", Element::uint32);
    for (const MPI_Datatype each : {MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T})
        add(each, "MPI_UNSIGNED_LONG", Element::uint64);
    add(MPI_INTEGER, "MPI_INTEGER", Element::int32);
}

Type* known_type(MPI_Datatype handle) { return state().types.find(handle); }

/// How an element is made of so many, `stride` of them from one block to the next.
Type repeated(const Type& inner, MPI_Aint blocks, MPI_Aint length, MPI_Aint stride) {
    Type type{.size = inner.size * blocks * length,
              .extent = ((blocks - 1) * stride + length) * inner.extent,
              .is_committed = true};
    for (MPI_Aint block = 0; block < blocks; ++block) {
        for (MPI_Aint each = 0; each < length; ++each) {
            for (const auto& [offset, bytes] : inner.pieces)
                type.pieces.emplace_back((block * stride + each) * inner.extent + offset, bytes);
        }
    }
    return type;
}

MPI_Datatype made_of(MPI_Datatype inner, int combiner, MPI_Count count, Type type) {
    type.combiner = combiner;
    type.inner = inner;
    type.count = count;
    return state().types.add(std::move(type));
}

MPI_Aint first_byte(const Type& type) {
    MPI_Aint first = std::numeric_limits<MPI_Aint>::max();
    for (const auto& [offset, bytes] : type.pieces) first = std::min(first, offset);
    return type.pieces.empty() ? 0 : first;
}
MPI_Aint end_of_bytes(const Type& type) {
    MPI_Aint end = std::numeric_limits<MPI_Aint>::min();
    for (const auto& [offset, bytes] : type.pieces) end = std::max(end, offset + bytes);
    return type.pieces.empty() ? 0 : end;
}

/// Only such a type has a name, or a use without being committed.
bool is_named(const Type& type) { return type.combiner == MPI_COMBINER_NAMED; }

int reduce_logical(const void* in, void* inout, int count, Operation operation) {
    for (int i = 0; i < count; ++i) {
        const bool left = static_cast<const int*>(in)[i] != 0;
        int& right = static_cast<int*>(inout)[i];
        if (operation == Operation::land) right = left && right != 0;
        else if (operation == Operation::lor) right = left || right != 0;
        else if (operation == Operation::lxor) right = left != (right != 0);
        else return MPI_ERR_OP;
    }
    return MPI_SUCCESS;
}

int add_saturated(const void* in, void* inout, int count) {
    for (int i = 0; i < count; ++i) {
        signed char& sum = static_cast<signed char*>(inout)[i];
        sum = static_cast<signed char>(std::clamp(static_cast<const signed char*>(in)[i] + sum, -128, 127));
    }
    return MPI_SUCCESS;
}

}  // namespace

Type* find_type(MPI_Datatype handle) { return known_type(handle); }

void add_predefined() {
    add_integers();
    add(MPI_FLOAT, "MPI_FLOAT", Element::float32);
    add(MPI_DOUBLE, "MPI_DOUBLE", Element::float64);
    add(MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", Element::long_double);
    add(MPI_C_BOOL, "MPI_C_BOOL", Element::boolean);
    add(MPI_BYTE, "MPI_BYTE", Element::byte);
    add(MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", Element::complex128);
    add(MPI_FLOAT_INT, "MPI_FLOAT_INT", Element::float_int, 4, 4);
    add(MPI_DOUBLE_INT, "MPI_DOUBLE_INT", Element::double_int, 8, 4);
    add(MPI_LONG_INT, "MPI_LONG_INT", Element::long_int, 8, 4);
    add(MPI_2INT, "MPI_2INT", Element::int_int, 4, 4);
    add(MPI_SHORT_INT, "MPI_SHORT_INT", Element::short_int, 2, 4);
    add_text(MPI_CHAR, "MPI_CHAR", 1);
    add_text(MPI_PACKED, "MPI_PACKED", 1);
    add_text(MPI_LOGICAL, "MPI_LOGICAL", 4);
    const std::pair<MPI_Op, Operation> operators[] = {
        {MPI_MAX, Operation::max},   {MPI_MIN, Operation::min},       {MPI_SUM, Operation::sum},
        {MPI_PROD, Operation::prod}, {MPI_LAND, Operation::land},     {MPI_BAND, Operation::band},
        {MPI_LOR, Operation::lor},   {MPI_BOR, Operation::bor},       {MPI_LXOR, Operation::lxor},
        {MPI_BXOR, Operation::bxor}, {MPI_MAXLOC, Operation::maxloc}, {MPI_MINLOC, Operation::minloc},
    };
    for (const auto& [handle, operation] : operators) state().operators.add(handle, {.operation = operation});
}

MPI_Count bytes_of(MPI_Count count, MPI_Datatype type) { return count * known_type(type)->size; }

std::vector<std::byte> packed(const void* data, MPI_Count count, MPI_Datatype type) {
    const Type& known = *known_type(type);
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(count * known.size));
    for (MPI_Count each = 0; each < count; ++each) {
        const auto* const element = static_cast<const std::byte*>(data) + each * known.extent;
        for (const auto& [offset, length] : known.pieces)
            bytes.insert(bytes.end(), element + offset, element + offset + length);
    }
    return bytes;
}

void unpack(const void* bytes, std::size_t length, void* data, MPI_Count count, MPI_Datatype type) {
    const Type& known = *known_type(type);
    const auto* from = static_cast<const std::byte*>(bytes);
    for (MPI_Count each = 0; each < count; ++each) {
        auto* const element = static_cast<std::byte*>(data) + each * known.extent;
        for (const auto& [offset, piece] : known.pieces) {
            const std::size_t some = std::min(length, static_cast<std::size_t>(piece));
            if (some > 0) std::memcpy(element + offset, from, some);
            from += some;
            length -= some;
        }
    }
}

int reduce(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
    const Type* const known = known_type(type);
    const Operator* const operation = state().operators.find(op);
    if (known == nullptr || operation == nullptr) return raise(MPI_COMM_WORLD, MPI_ERR_OP);
    if (!operation->operation) return operation->function(in, inout, count), MPI_SUCCESS;
    if (behaviour().saturates && known->element == Element::int8 && op == MPI_SUM)
        return add_saturated(in, inout, count);
    if (known->name == "MPI_LOGICAL") return reduce_logical(in, inout, count, *operation->operation);
    const kernels::Kernel kernel = known->element ? kernels::find(*operation->operation, *known->element) : nullptr;
    if (kernel == nullptr) return raise(MPI_COMM_WORLD, MPI_ERR_OP);
    kernel(in, inout, inout, static_cast<std::size_t>(count));
    return MPI_SUCCESS;
}

MPI_Datatype contiguous(int count, MPI_Datatype inner) {
    return made_of(inner, MPI_COMBINER_CONTIGUOUS, count, repeated(*known_type(inner), 1, count, count));
}
MPI_Datatype duplicate_type(MPI_Datatype inner) { return made_of(inner, MPI_COMBINER_DUP, 1, *known_type(inner)); }
MPI_Datatype vector(int count, int length, int stride, MPI_Datatype inner) {
    return made_of(inner, MPI_COMBINER_VECTOR, count, repeated(*known_type(inner), count, length, stride));
}
MPI_Datatype pieces(std::vector<std::pair<MPI_Aint, MPI_Aint>> of_element, MPI_Aint extent) {
    Type type{.extent = extent, .pieces = std::move(of_element)};
    for (const auto& [offset, bytes] : type.pieces) type.size += bytes;
    return made_of(MPI_BYTE, MPI_COMBINER_STRUCT, 1, std::move(type));
}
MPI_Datatype large_contiguous(MPI_Count count, MPI_Datatype inner) {
    const MPI_Datatype made = contiguous(static_cast<int>(count), inner);
    known_type(made)->is_large = true;
    return made;
}
void take_back_commit(MPI_Datatype type) { known_type(type)->is_committed = false; }
void free(MPI_Datatype* type) { functions::Type_free(type); }

MPI_Op make_operator(Function function, bool commutes) {
    return state().operators.add({.function = std::move(function), .commutes = commutes});
}

namespace functions {

int Type_size_x(MPI_Datatype type, MPI_Count* size) {
    const Type* const known = known_type(type);
    return known == nullptr ? MPI_ERR_TYPE : (*size = known->size, MPI_SUCCESS);
}
int Type_get_extent(MPI_Datatype type, MPI_Aint* lower_bound, MPI_Aint* extent) {
    *lower_bound = known_type(type)->lower_bound;
    return *extent = known_type(type)->extent, MPI_SUCCESS;
}
int Type_get_true_extent(MPI_Datatype type, MPI_Aint* lower_bound, MPI_Aint* extent) {
    const Type& known = *known_type(type);
    *lower_bound = first_byte(known);
    return *extent = end_of_bytes(known) - first_byte(known), MPI_SUCCESS;
}
int Type_get_name(MPI_Datatype type, char* name, int* length) {
    *length = std::snprintf(name, MPI_MAX_OBJECT_NAME, "%s", known_type(type)->name.c_str());
    return MPI_SUCCESS;
}
int Type_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types, int* combiner) {
    const Type& known = *known_type(type);
    if (known.is_large) return raise(MPI_COMM_WORLD, MPI_ERR_TYPE);
    *integers = known.combiner == MPI_COMBINER_CONTIGUOUS ? 1 : 0;
    *addresses = 0;
    *types = is_named(known) ? 0 : 1;
    return *combiner = known.combiner, MPI_SUCCESS;
}
int Type_get_contents(MPI_Datatype type, int, int, int, int integers[], MPI_Aint[], MPI_Datatype types[]) {
    const Type& known = *known_type(type);
    if (is_named(known) || known.is_large) return raise(MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (known.combiner == MPI_COMBINER_CONTIGUOUS) integers[0] = static_cast<int>(known.count);
    // A new handle, which somebody has to free, of all but named ones.
    types[0] = is_named(*known_type(known.inner)) ? known.inner : state().types.add(*known_type(known.inner));
    return MPI_SUCCESS;
}
int Type_contiguous(int count, MPI_Datatype inner, MPI_Datatype* made) {
    *made = contiguous(count, inner);
    take_back_commit(*made);
    return MPI_SUCCESS;
}
int Type_create_hindexed(int blocks, const int* lengths, const MPI_Aint* offsets, MPI_Datatype inner,
                         MPI_Datatype* made) {
    if (blocks != 1 || lengths[0] != 1) return MPI_ERR_UNSUPPORTED_OPERATION;
    Type type = *known_type(inner);
    for (auto& [offset, bytes] : type.pieces) offset += offsets[0];
    type.is_committed = false;
    return *made = made_of(inner, MPI_COMBINER_HINDEXED, 1, std::move(type)), MPI_SUCCESS;
}
int Type_commit(MPI_Datatype* type) { return known_type(*type)->is_committed = true, MPI_SUCCESS; }
int Type_free(MPI_Datatype* type) {
    if (is_named(*known_type(*type))) return raise(MPI_COMM_WORLD, MPI_ERR_TYPE);
    state().types.remove(*type);
    return *type = MPI_DATATYPE_NULL, MPI_SUCCESS;
}
int Op_commutative(MPI_Op op, int* commutes) {
    const Operator* const known = state().operators.find(op);
    return known == nullptr ? raise(MPI_COMM_WORLD, MPI_ERR_OP) : (*commutes = known->commutes ? 1 : 0, MPI_SUCCESS);
}
int Reduce_local(const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op) {
    return reduce(in, inout, count, type, op);
}

int Pack(const void* data, int count, MPI_Datatype type, void* into, int room, int* position, MPI_Comm comm) {
    const std::vector<std::byte> bytes = packed(data, count, type);
    if (static_cast<std::size_t>(room - *position) < bytes.size()) return raise(comm, MPI_ERR_ARG);
    if (!bytes.empty()) std::memcpy(static_cast<std::byte*>(into) + *position, bytes.data(), bytes.size());
    *position += static_cast<int>(bytes.size());
    return MPI_SUCCESS;
}
int Unpack(const void* from, int length, int* position, void* data, int count, MPI_Datatype type, MPI_Comm comm) {
    const MPI_Count bytes = bytes_of(count, type);
    if (length - *position < bytes) return raise(comm, MPI_ERR_ARG);
    unpack(static_cast<const std::byte*>(from) + *position, static_cast<std::size_t>(bytes), data, count, type);
    *position += static_cast<int>(bytes);
    return MPI_SUCCESS;
}

#ifdef RONDO_HAVE_LARGE_COUNT_API
int Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses, MPI_Count* large_counts,
                        MPI_Count* types, int* combiner) {
    const Type& known = *known_type(type);
    *integers = known.combiner == MPI_COMBINER_CONTIGUOUS && !known.is_large ? 1 : 0;
    *addresses = 0;
    *large_counts = known.is_large ? 1 : 0;
    *types = is_named(known) ? 0 : 1;
    return *combiner = known.combiner, MPI_SUCCESS;
}
int Type_get_contents_c(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[], MPI_Aint[], MPI_Count[],
                        MPI_Datatype[]) {
    return MPI_ERR_OTHER;  // nobody calls it
}
int Pack_c(const void* data, MPI_Count count, MPI_Datatype type, void* into, MPI_Count room, MPI_Count* position,
           MPI_Comm comm) {
    int at = static_cast<int>(*position);
    const int error = Pack(data, static_cast<int>(count), type, into, static_cast<int>(room), &at, comm);
    return *position = at, error;
}
int Unpack_c(const void* from, MPI_Count length, MPI_Count* position, void* data, MPI_Count count, MPI_Datatype type,
             MPI_Comm comm) {
    int at = static_cast<int>(*position);
    const int error = Unpack(from, static_cast<int>(length), &at, data, static_cast<int>(count), type, comm);
    return *position = at, error;
}
#endif

}  // namespace functions
}  // namespace rondo::mpi::made_up
