// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/datatype.hpp"

#include "rondo/backends/mpi/handle_table.hpp"

namespace rondo::mpi {
namespace {

using kernels::Element;

/// What a predefined datatype is made of; this and its size give the kernel's element.
enum class Kind {
    signed_integer,
    unsigned_integer,
    fortran_integer,
    floating,
    complex,
    boolean,
    byte,
    text,
    fixed,
    library_logical,
    library_floating
};

HandleTable<MPI_Datatype, Datatype, 256> predefined;

std::optional<Element> element_of(Kind kind, Count size) {
    const auto by_size = [size](Element of_1, Element of_2, Element of_4, Element of_8) -> std::optional<Element> {
        switch (size) {
            case 1: return of_1;
            case 2: return of_2;
            case 4: return of_4;
            case 8: return of_8;
            default: return std::nullopt;
        }
    };
    switch (kind) {
        case Kind::signed_integer:
        case Kind::fortran_integer: return by_size(Element::int8, Element::int16, Element::int32, Element::int64);
        case Kind::unsigned_integer: return by_size(Element::uint8, Element::uint16, Element::uint32, Element::uint64);
        case Kind::floating:
            if (size == 4) return Element::float32;
            if (size == 8) return Element::float64;
            return std::nullopt;
        case Kind::complex:
            if (size == 8) return Element::complex64;
            if (size == 16) return Element::complex128;
            return std::nullopt;
        case Kind::boolean: return size == 1 ? std::optional(Element::boolean) : std::nullopt;
        case Kind::byte: return Element::byte;
        default: return std::nullopt;
    }
}

/// Asks the library for size and extents. False if the size is unknown or not above 0.
bool measure(MPI_Datatype handle, Datatype& type) {
    MPI_Count size = 0;
    MPI_Aint lower_bound = 0, extent = 0, true_lower_bound = 0, true_extent = 0;
    if (library().Type_size_x(handle, &size) != MPI_SUCCESS || size <= 0) return false;
    library().Type_get_extent(handle, &lower_bound, &extent);
    library().Type_get_true_extent(handle, &true_lower_bound, &true_extent);
    type = {.handle = handle,
            .size = size,
            .extent = extent,
            .true_lower_bound = true_lower_bound,
            .true_extent = true_extent,
            // Padding is the user's: another member may lie there. Such elements travel and are copied by their type.
            .contiguous = size == extent && true_lower_bound == 0 && true_extent == extent};
    return true;
}

void learn(MPI_Datatype handle, Kind kind, std::optional<Element> fixed = std::nullopt) {
    if (handle == MPI_Datatype{} || handle == library().datatype_null) return;
    Datatype type;
    if (!measure(handle, type)) return;
    type.predefined = true;
    type.element = kind == Kind::fixed ? fixed : element_of(kind, static_cast<int>(type.size));
    // A library built with other sizes than ours (compiler flags for Fortran) must not meet our kernels.
    if (type.element && static_cast<Count>(kernels::extent(*type.element)) != type.extent) type.element.reset();
    type.fortran_integer = kind == Kind::fortran_integer;
    if (kind == Kind::library_logical) type.library_reductions = LibraryReductions::logical;
    if (kind == Kind::library_floating) type.library_reductions = LibraryReductions::floating;
    predefined.add(handle, type);
}

void learn_c_types() {
    for (const MPI_Datatype type : {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_INT8_T,
                                    MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT}) {
        learn(type, Kind::signed_integer);
    }
    for (const MPI_Datatype type : {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                                    MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T}) {
        learn(type, Kind::unsigned_integer);
    }
    learn(MPI_FLOAT, Kind::floating);
    learn(MPI_DOUBLE, Kind::floating);
    learn(MPI_LONG_DOUBLE, Kind::fixed, Element::long_double);
    learn(MPI_C_BOOL, Kind::boolean);
    learn(MPI_BYTE, Kind::byte);
    for (const MPI_Datatype type : {MPI_CHAR, MPI_WCHAR, MPI_PACKED}) learn(type, Kind::text);
    for (const MPI_Datatype type : {MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX}) {
        learn(type, Kind::complex);
    }
    learn(MPI_C_LONG_DOUBLE_COMPLEX, Kind::fixed, Element::complex_long_double);
}

void learn_pair_types() {
    learn(MPI_FLOAT_INT, Kind::fixed, Element::float_int);
    learn(MPI_DOUBLE_INT, Kind::fixed, Element::double_int);
    learn(MPI_LONG_INT, Kind::fixed, Element::long_int);
    learn(MPI_2INT, Kind::fixed, Element::int_int);
    learn(MPI_SHORT_INT, Kind::fixed, Element::short_int);
    learn(MPI_LONG_DOUBLE_INT, Kind::fixed, Element::long_double_int);
}

/// Fortran and C++ types; a library without Fortran has null handles, or none of the names.
void learn_other_languages() {
#ifdef MPI_CXX_BOOL
    learn(MPI_CXX_BOOL, Kind::boolean);
#endif
#if defined(MPI_CXX_FLOAT_COMPLEX) && !defined(RONDO_ABI_SIMGRID)  // its header names types that its library lacks
    learn(MPI_CXX_FLOAT_COMPLEX, Kind::complex);
    learn(MPI_CXX_DOUBLE_COMPLEX, Kind::complex);
    learn(MPI_CXX_LONG_DOUBLE_COMPLEX, Kind::fixed, Element::complex_long_double);
#endif
#ifdef MPI_INTEGER
    for (const MPI_Datatype type : {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}) {
        learn(type, Kind::fortran_integer);
    }
    for (const MPI_Datatype type : {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) learn(type, Kind::floating);
    learn(MPI_COMPLEX, Kind::complex);
    learn(MPI_DOUBLE_COMPLEX, Kind::complex);
    learn(MPI_CHARACTER, Kind::text);
    learn(MPI_LOGICAL, Kind::library_logical);  // the compiler chooses the bits of .true.
    learn(MPI_2INTEGER, Kind::fixed, Element::int_int);
    learn(MPI_2REAL, Kind::fixed, Element::float_float);
    learn(MPI_2DOUBLE_PRECISION, Kind::fixed, Element::double_double);
#endif
#ifdef MPI_COMPLEX8
    learn(MPI_COMPLEX8, Kind::complex);
    learn(MPI_COMPLEX16, Kind::complex);
#endif
#ifdef MPI_REAL16
    learn(MPI_REAL16, Kind::library_floating);  // need not be long double
#endif
}

}  // namespace

void learn_datatypes() {
    learn_c_types();
    learn_pair_types();
    learn_other_languages();
}

void for_each_predefined(const std::function<void(Datatype&)>& visit) {
    predefined.for_each([&](MPI_Datatype, Datatype& type) { visit(type); });
}

const Datatype* describe(MPI_Datatype handle, Datatype& derived) {
    if (const Datatype* known = predefined.find(handle)) return known;
    if (handle == library().datatype_null) return nullptr;
    return measure(handle, derived) ? &derived : nullptr;
}

const Datatype& byte_type() {
    static const Datatype& type = *predefined.find(library().byte);
    return type;
}

const Datatype& empty_type() {
    static const Datatype type{.handle = library().byte, .predefined = true, .contiguous = true};
    return type;
}

int combiner_of(MPI_Datatype handle) {
    int combiner = MPI_UNDEFINED;
#ifdef RONDO_HAVE_LARGE_COUNT_API
    if (library().Type_get_envelope_c != nullptr) {
        MPI_Count integers = 0, addresses = 0, large_counts = 0, types = 0;
        library().Type_get_envelope_c(handle, &integers, &addresses, &large_counts, &types, &combiner);
        return large_counts == 0 ? combiner : MPI_UNDEFINED;
    }
#endif
    int integers = 0, addresses = 0, types = 0;
    library().Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
    return combiner;
}

void give_back(MPI_Datatype handle) {
    switch (combiner_of(handle)) {
        case MPI_COMBINER_NAMED:
        case MPI_COMBINER_F90_REAL:
        case MPI_COMBINER_F90_COMPLEX:
        case MPI_COMBINER_F90_INTEGER: return;
        default: library().Type_free(&handle);
    }
}

}  // namespace rondo::mpi
