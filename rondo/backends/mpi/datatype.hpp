// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/core/block.hpp"
#include "rondo/kernels/kernels.hpp"

namespace rondo::mpi {

/// Which predefined operators MPI_Reduce_local applies to a datatype for which Rondo has no kernels.
enum class LibraryReductions : std::uint8_t { none, logical, floating };

/// The datatype of an element: one instance of it is one element.
struct Datatype {
    MPI_Datatype handle = {};
    Count size = 0;    ///< bytes of data: equal on all ranks
    Count extent = 0;  ///< bytes from element to element
    Count true_lower_bound = 0, true_extent = 0;
    bool predefined = false;
    bool contiguous = false;                                 ///< elements may be copied as extent bytes each
    std::optional<kernels::Element> element = std::nullopt;  ///< the element of Rondo's own kernels
    LibraryReductions library_reductions = LibraryReductions::none;
    bool fortran_integer = false;  ///< MPI defines no logical operators on it
    /// A bit for each kernels::Operation: set if MPI's operator has the same results whoever computes them, in whatever
    /// order. Equal on all ranks.
    std::uint16_t keeps_bits = 0;

    /// True if elements lie in the gaps of others: blocks of scratch, one after the other, would overlap.
    [[nodiscard]] bool interlocks() const { return extent < true_extent; }
    /// Bytes of memory for `count` elements, from the first byte of the first one. Kernels touch whole elements.
    [[nodiscard]] Count span(Count count) const {
        return count == 0 ? 0 : (count - 1) * extent + (element ? extent : true_extent);
    }
};

/// A user's array of datatypes, one for each rank; borrowed. Empty where a function has no such argument.
class Datatypes {
  public:
    Datatypes() = default;
    explicit Datatypes(const MPI_Datatype* array) : array_(array), is_argument_(true) {}

    [[nodiscard]] bool is_argument() const { return is_argument_; }
    /// True if there is such an argument, and the user gave no array.
    [[nodiscard]] bool is_missing() const { return is_argument_ && array_ == nullptr; }
    /// The address that the user gave.
    [[nodiscard]] const MPI_Datatype* array() const { return array_; }
    [[nodiscard]] MPI_Datatype operator[](Rank rank) const { return array_[rank]; }

  private:
    const MPI_Datatype* array_ = nullptr;
    bool is_argument_ = false;
};

/// Fills the table of predefined datatypes. Called once, after `connect` and MPI_Init.
void learn_datatypes();

/// Visits each predefined datatype, in the same order on all ranks. Nobody may read the table meanwhile.
void for_each_predefined(const std::function<void(Datatype&)>& visit);

/// The facts of a datatype: from the table, or asked of the library and put into `derived`. nullptr for a null or an
/// empty one, with which the library must deal.
const Datatype* describe(MPI_Datatype handle, Datatype& derived);

/// The facts of MPI_BYTE.
const Datatype& byte_type();

/// Elements of no bytes. They need no type of the library: a message of them is empty.
const Datatype& empty_type();

/// How a datatype was made; MPI_UNDEFINED for one that was made with large counts, of which the other functions know
/// nothing.
int combiner_of(MPI_Datatype handle);

/// Frees a datatype that MPI_Type_get_contents has handed out, if it is derived: such ones are made anew. Those of
/// Fortran's kinds are predefined, though they have no names.
void give_back(MPI_Datatype handle);

}  // namespace rondo::mpi
