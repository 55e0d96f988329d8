// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {
namespace {

// All of CUDA asks the driver's library; its runtime may load that later than it is loaded itself.
constexpr const char* cuda[] = {"libcuda.so.1"};
constexpr const char* cuda_runtime[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};
constexpr const char* rocm[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};

// CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer)
using CudaQuestion = int (*)(void* data, int attribute, const void* address);
constexpr int cuda_memory_type = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned cuda_device = 2;  // CU_MEMORYTYPE_DEVICE, of managed memory, too

/// hipPointerAttribute_t. What its first member means has changed between versions; the pointers have not.
struct RocmAnswer {
    int type = 0, device = 0;
    void* device_pointer = nullptr;
    void* host_pointer = nullptr;
    int is_managed = 0;
    unsigned flags = 0;
    char more[64] = {};  // of a later version
};
using RocmQuestion = int (*)(RocmAnswer* answer, const void* address);

std::atomic<CudaQuestion> ask_cuda{nullptr};
std::atomic<RocmQuestion> ask_rocm{nullptr};

/// Of what is loaded already; nothing is loaded by asking.
template <class Names>
void* loaded(const Names& names) {
    for (const char* name : names) {
        if (void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
            dlclose(handle);
            return handle;
        }
    }
    return nullptr;
}

template <class Function, class Names>
Function find(std::atomic<Function>& known, const Names& names, const char* function) {
    if (const Function found = known.load(std::memory_order_relaxed)) return found;
    void* const handle = loaded(names);
    if (handle == nullptr) return nullptr;
    const auto found = reinterpret_cast<Function>(dlsym(handle, function));
    known.store(found, std::memory_order_relaxed);
    return found;
}

/// How often the process has loaded a library.
unsigned long long loads() {
    unsigned long long count = 0;
    const auto look = [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // the first one says it
    };
    dl_iterate_phdr(look, &count);
    return count;
}

}  // namespace

bool device_runtime_loaded() {
    // Looking for libraries that are not there takes a hundred microseconds: only after something was loaded.
    static std::atomic<unsigned long long> looked_at{0};
    static std::atomic<bool> found{false};
    const unsigned long long now = loads();
    if (looked_at.load(std::memory_order_acquire) != now) {
        found = loaded(cuda) != nullptr || loaded(cuda_runtime) != nullptr || loaded(rocm) != nullptr;
        looked_at.store(now, std::memory_order_release);
    }
    return found;
}

bool on_device(const void* address) {
    if (address == nullptr || address == MPI_IN_PLACE) return false;
    if (const CudaQuestion ask = find(ask_cuda, cuda, "cuPointerGetAttribute")) {
        unsigned type = 0;
        if (ask(&type, cuda_memory_type, address) == 0 && type == cuda_device) return true;
    }
    if (const RocmQuestion ask = find(ask_rocm, rocm, "hipPointerGetAttributes")) {
        RocmAnswer answer;
        if (ask(&answer, address) == 0 && answer.device_pointer != nullptr &&
            (answer.host_pointer == nullptr || answer.is_managed != 0)) {
            return true;
        }
    }
    return false;
}

}  // namespace rondo::mpi
