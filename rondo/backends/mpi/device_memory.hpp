// SPDX-License-Identifier: BSD-3-Clause
// Memory of GPUs, which no kernel here can touch: recognised, and copied, by the GPU runtimes that the program has
// loaded. A rank finds out alone and works on copies in the host's memory, so no other rank need know.
#pragma once

#include <atomic>
#include <cstddef>

#include "rondo/backends/mpi/datatype.hpp"
#include "rondo/backends/mpi/scratch.hpp"

namespace rondo::mpi {

/// Looks for runtimes of GPUs (CUDA, ROCm, Level Zero) among what has been loaded since the last look. Some 160
/// instructions if that is nothing.
void notice_device_runtimes();

namespace detail {
inline std::atomic<bool> device_runtime_noticed{false};
bool on_device(const void* address);
}  // namespace detail

/// True if one has been noticed.
inline bool device_runtime_noticed() { return detail::device_runtime_noticed.load(std::memory_order_acquire); }

/// True if a runtime that has been noticed says that this is memory of a device, or managed memory, which may be there.
/// False for anything else: null, MPI_IN_PLACE, what no runtime knows.
inline bool on_device(const void* address) { return device_runtime_noticed() && detail::on_device(address); }

/// Copies between host and device, or on one of them; done when it returns. Returns an MPI error code.
int copy_memory(void* into, const void* from, std::size_t bytes);

/// A user's buffer, or its copy in the host's memory if it is in memory of a device.
class HostCopy {
  public:
    /// With room for so many elements, of which the first `before` are copied. A failure leaves anything in the copy.
    /// Returns an MPI error code; throws std::bad_alloc.
    int take(void* buffer, const Datatype& type, Count room, Count before);
    [[nodiscard]] void* buffer() const;
    /// Copies so many elements back. Once no message uses the copy. Returns an MPI error code.
    int give_back(Count after);

  private:
    char* user_ = nullptr;
    const Datatype* type_ = nullptr;
    Scratch copy_;
};

}  // namespace rondo::mpi
