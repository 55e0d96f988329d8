// SPDX-License-Identifier: BSD-3-Clause
// Data as collectives move them: the bytes of their signature, in its order. Ranks may describe the same data by
// different datatypes, so only these bytes are the same on all of them, and only they can be cut into pieces.
#pragma once

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {

/// What a user gives to be moved.
struct UserData {
    void* buffer;
    Count count;
    const Datatype& type;

    [[nodiscard]] Count bytes() const { return count * type.size; }
};

/// True if such data lie in memory as they are when they are packed. False where that is not plain to see.
bool lies_as_packed(const Datatype& type);

// `plain`: they lie as packed. Data of other types in memory of a device are for the library, if it can reach them.
// Both return an MPI error code. More bytes than an int counts need the library's large-count functions.
int pack(const UserData& from, bool plain, char* into, MPI_Comm comm);
int unpack(const char* from, const UserData& into, bool plain, MPI_Comm comm);

/// What a plan finds on one side of a call: data of the user, or so many bytes that nobody gives or wants.
struct Side {
    const UserData* data = nullptr;
    Count bytes = 0;

    static Side of(const UserData& data) { return {&data, data.bytes()}; }
};

/// The bytes of a side: the user's memory where the data lie there as packed, or a copy. Borrows the data.
class PackedSide {
  public:
    /// Throws std::bad_alloc.
    explicit PackedSide(const Side& side);

    [[nodiscard]] char* bytes() const { return is_copy_ ? copy_.bytes() : in_place_; }
    // Before and after the plan. Both return an MPI error code.
    int enter(MPI_Comm comm) const;
    int leave(MPI_Comm comm) const;
    /// Once no message uses the bytes.
    void give_back() { copy_.give_back(); }

  private:
    const UserData* data_;
    bool plain_;
    bool is_copy_;
    char* in_place_;
    Scratch copy_;
};

}  // namespace rondo::mpi
