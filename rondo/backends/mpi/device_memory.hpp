// SPDX-License-Identifier: BSD-3-Clause
// Memory of GPUs, which only the MPI library can read: found out by asking the GPU runtimes that the program has
// loaded.
#pragma once

namespace rondo::mpi {

/// True if this process has loaded a runtime of GPUs, CUDA's or ROCm's.
bool device_runtime_loaded();

/// True if a runtime says that this is memory of a device, or managed memory, which may be there. False for anything
/// else: null, MPI_IN_PLACE, what no runtime knows.
bool on_device(const void* address);

}  // namespace rondo::mpi
