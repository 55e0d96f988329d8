// SPDX-License-Identifier: BSD-3-Clause
// What a rank does with its own elements. There are two ways, which give the same bits:
//   reduce, then scan   reads everything twice, and writes it once
//   scan, then add      reads and writes everything twice; the second time, elements do not wait for each other
#pragma once

#include <memory>

#include "rondo/prefix/total.hpp"

namespace rondo::prefix {

/// The elements of this rank.
struct Array {
    const void* from;
    void* into;  ///< may be `from`
    Count count;
    bool exclusive;
};

/// Passes over an array in pieces, from its beginning to its end. All return an MPI error code.
class Passes {
  public:
    Passes(Count piece, bool reduces_first) : piece_(piece), reduces_first_(reduces_first) {}
    Passes(const Passes&) = delete;
    Passes& operator=(const Passes&) = delete;
    virtual ~Passes() = default;

    /// Elements of a piece, of which the last one may have fewer.
    [[nodiscard]] Count piece() const { return piece_; }
    /// True if to reduce, then scan, is faster than the other way.
    [[nodiscard]] bool reduces_first() const { return reduces_first_; }
    /// What combines totals, while the passes live.
    [[nodiscard]] virtual TotalCombiner combiner() const = 0;
    [[nodiscard]] virtual bool is_commutative() const = 0;
    /// What it has of operator and datatype in common on all ranks.
    [[nodiscard]] virtual std::uint64_t signature() const = 0;

    /// Reads a piece. Where `reduces_first`.
    virtual int reduce(Count first, Count count) = 0;
    /// Writes the sums of a piece. `prefix`: data of a total that comes before the array; nullptr: none.
    virtual int scan(Count first, Count count, const char* prefix) = 0;
    /// Puts a prefix in front of what `scan` has written without one.
    virtual int add(Count first, Count count, const char* prefix) = 0;
    /// The next pass begins.
    virtual void restart() = 0;
    /// Writes an element of the user: the data of a total, or what changes no other element, if that is known.
    virtual int put(const char* data, void* element) = 0;
    virtual int put_identity(void* element) = 0;

    /// Data of the total of what `reduce` or `scan` has been through; an element, at least.
    [[nodiscard]] virtual const char* sum() const = 0;

  private:
    Count piece_;
    bool reduces_first_;
};

/// Borrows the datatype. `self_messages`: a communicator for messages of this rank to itself. nullptr if MPI does not
/// define the operator on the datatype. Throws std::bad_alloc.
std::unique_ptr<Passes> passes_for(const Array& array, const mpi::Datatype& type, MPI_Op op, MPI_Comm self_messages);

/// Of a rank that fails: they write nothing, and take part with totals of so many bytes, as the others have them.
/// Throws std::bad_alloc.
std::unique_ptr<Passes> no_passes(Count bytes_of_total);

/// Bytes of a total of such elements, whatever the operator is. Throws std::bad_alloc.
Count bytes_of_total(const mpi::Datatype& type);

}  // namespace rondo::prefix
