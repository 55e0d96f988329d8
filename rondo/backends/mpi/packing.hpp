// SPDX-License-Identifier: BSD-3-Clause
// Data as collectives move them: the bytes of their signature, in its order. Ranks may describe the same data by
// different datatypes, so only these bytes are the same on all of them, and only they can be cut into pieces.
#pragma once

#include "rondo/backends/mpi/datatype.hpp"

namespace rondo::mpi {

/// Data that a user gives to be moved.
struct UserData {
    void* buffer;
    Count count;
    const Datatype& type;

    [[nodiscard]] Count bytes() const { return count * type.size; }
};

/// True if such data lie in memory as they are when they are packed. False where that is not plain to see.
bool lies_as_packed(const Datatype& type);

// Both return an MPI error code, and send no messages: MPICH's engine of progress, inside which they are called, ends
// the program if several threads may call MPI and a message is waited for. `plain`: the data lie as packed. Data of
// other types in memory of a device are left to the library, if it can reach them. More bytes than an int counts need
// the library's large-count functions.
int pack(const UserData& from, bool plain, char* into, MPI_Comm comm);
int unpack(const char* from, const UserData& into, bool plain, MPI_Comm comm);

/// One side of a plan's data on this rank: data of the user.
class Moved {
  public:
    explicit Moved(const UserData& data);

    // The interface that staging.hpp asks of data.
    [[nodiscard]] char* place() const { return place_; }
    [[nodiscard]] Count bytes() const { return bytes_; }
    int enter(char* at, MPI_Comm comm) const;
    int leave(const char* at, MPI_Comm comm) const;

  private:
    UserData data_;
    Count bytes_;
    bool plain_;
    char* place_ = nullptr;
};

}  // namespace rondo::mpi
