// SPDX-License-Identifier: BSD-3-Clause
// How data of the user come into a buffer that a plan works on, and out of it again, on one rank. The buffer is the
// user's own memory where that is possible, else a copy.
#pragma once

#include <utility>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/scratch.hpp"
#include "rondo/core/block.hpp"

namespace rondo::mpi {

/// When data move between their place and the copy: before the plan runs, after it, or both.
enum class Staging : std::uint8_t { before, after, both };

/// A buffer of a plan. `Data` says where the data are:
/// - place(): the user's memory, if the plan can work on it; else nullptr
/// - bytes(): the length of a copy
/// - enter(at, comm), leave(at, comm): move the data to and from the buffer, which may be `place()`. Both return an MPI
/// error code.
/// Borrows data that have a name, and keeps those that are made for it.
template <class Data>
class Staged {
  public:
    Staged(Data&& data, Staging when) : data_(std::forward<Data>(data)), when_(when) {}

    /// Makes the buffer ready for the plan. Returns an MPI error code; throws std::bad_alloc.
    int enter(MPI_Comm comm) {
        if (data_.place() == nullptr && data_.bytes() > 0) copy_.take(static_cast<std::size_t>(data_.bytes()));
        return when_ != Staging::after ? data_.enter(address(), comm) : MPI_SUCCESS;
    }
    [[nodiscard]] char* address() const { return data_.place() != nullptr ? data_.place() : copy_.bytes(); }
    /// Called when no message uses the buffer any more. Returns an MPI error code.
    int leave(MPI_Comm comm) {
        const int error = when_ != Staging::before ? data_.leave(address(), comm) : MPI_SUCCESS;
        copy_.give_back();
        return error;
    }

  private:
    Data data_;
    Staging when_;
    Scratch copy_;
};
template <class Data>
Staged(Data&&, Staging) -> Staged<Data>;

/// A buffer that needs no copy, with the interface of Staged.
struct Unstaged {
    void* buffer = nullptr;

    static int enter(MPI_Comm /*comm*/) { return MPI_SUCCESS; }
    [[nodiscard]] void* address() const { return buffer; }
    static int leave(MPI_Comm /*comm*/) { return MPI_SUCCESS; }
};

}  // namespace rondo::mpi
