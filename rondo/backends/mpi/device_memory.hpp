// SPDX-License-Identifier: BSD-3-Clause
// Memory of GPUs, which no kernel here can touch: recognised, and copied, by the GPU runtimes that the program has
// loaded. A rank finds out alone and works on copies in host memory, so no other rank need know.
#pragma once

#include <atomic>
#include <cstddef>

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {

/// Looks for runtimes of GPUs (CUDA, ROCm, Level Zero) among what has been loaded since the last look. Takes some 160
/// instructions if nothing has.
void notice_device_runtimes();

namespace detail {
inline std::atomic<bool> device_runtime_noticed{false};
bool on_device(const void* address);
}  // namespace detail

/// True if a runtime of GPUs has been noticed.
inline bool device_runtime_noticed() { return detail::device_runtime_noticed.load(std::memory_order_acquire); }

/// True if a runtime that has been noticed says that this is memory of a device, or managed memory, which may be there.
/// False for anything else: null, MPI_IN_PLACE, addresses that no runtime knows.
inline bool on_device(const void* address) { return device_runtime_noticed() && detail::on_device(address); }

/// Copies between host and device, or on one of them; done when it returns. Returns an MPI error code.
int copy_memory(void* into, const void* from, std::size_t bytes);

/// A user's buffer of elements, with the interface of Staged: a copy in host memory if it is in memory of a device.
class HostCopy {
  public:
    /// `room`: the number of elements. The first `before` are significant before the plan runs, the first `after` after
    /// it.
    HostCopy(const void* buffer, const Datatype& type, Count room, Count before, Count after)
        : user_(static_cast<char*>(const_cast<void*>(buffer))), type_(type), room_(room), before_(before),
          after_(after) {}

    /// Throws std::bad_alloc.
    int enter(MPI_Comm comm);
    [[nodiscard]] void* address() const;
    int leave(MPI_Comm comm);

  private:
    char* user_;
    const Datatype& type_;
    Count room_, before_, after_;
    Scratch copy_;
};

}  // namespace rondo::mpi
