// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/device_memory.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "rondo/backends/mpi/library.hpp"

namespace rondo::mpi {
namespace {

// Every user of CUDA, also a runtime that is linked statically, asks the driver's library.
constexpr const char* cuda_names[] = {"libcuda.so.1"};
constexpr const char* rocm_names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"};
constexpr const char* level_zero_names[] = {"libze_loader.so.1"};

/// Functions of CUDA's driver. An address on a device (CUdeviceptr) is an integer.
struct Cuda {
    int (*attribute)(void* data, int attribute, std::uintptr_t address) = nullptr;
    int (*push_context)(void* context) = nullptr;
    int (*pop_context)(void** context) = nullptr;
    int (*copy)(std::uintptr_t into, std::uintptr_t from, std::size_t bytes) = nullptr;
    int (*wait)(void* stream) = nullptr;
};
constexpr int context_attribute = 1;      // CU_POINTER_ATTRIBUTE_CONTEXT
constexpr int memory_type_attribute = 2;  // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr unsigned cuda_device = 2;       // CU_MEMORYTYPE_DEVICE, of managed memory, too

/// The layout of hipPointerAttribute_t. The meaning of its first member has changed between versions; the pointers have
/// not.
struct RocmAttributes {
    int type = 0, device = 0;
    void* device_pointer = nullptr;
    void* host_pointer = nullptr;
    int is_managed = 0;
    unsigned flags = 0;
    char more[64] = {};  // room for members of later versions
};

struct Rocm {
    int (*attributes)(RocmAttributes* attributes, const void* address) = nullptr;
    int (*copy)(void* into, const void* from, std::size_t bytes, int kind) = nullptr;
    int (*wait)(void* stream) = nullptr;
};
constexpr int rocm_default = 4;  // hipMemcpyDefault: finds out from the addresses where data are

/// ze_memory_allocation_properties_t, ze_context_desc_t and ze_command_queue_desc_t; each begins with its own kind.
struct LevelZeroMemory {
    std::uint32_t structure = 0x17;
    void* next = nullptr;
    std::uint32_t type = 0;
    std::uint64_t identifier = 0, page = 0;
};
struct LevelZeroContext {
    std::uint32_t structure = 0xd;
    const void* next = nullptr;
    std::uint32_t flags = 0;
};
struct LevelZeroQueue {
    std::uint32_t structure = 0xe;
    const void* next = nullptr;
    std::uint32_t ordinal = 0, index = 0, flags = 0;
    std::uint32_t mode = 1;  // ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS: an appended command is done when the call returns
    std::uint32_t priority = 0;
};

/// Functions of Level Zero's loader. Drivers, contexts, devices and lists of commands are pointers.
struct LevelZero {
    int (*drivers)(std::uint32_t* count, void** drivers) = nullptr;
    int (*make_context)(void* driver, const LevelZeroContext* description, void** context) = nullptr;
    int (*memory)(void* context, const void* address, LevelZeroMemory* answer, void** device) = nullptr;
    int (*make_list)(void* context, void* device, const LevelZeroQueue* description, void** list) = nullptr;
    int (*copy)(void* list, void* into, const void* from, std::size_t bytes, void* signal, std::uint32_t waits,
                void** events) = nullptr;
    int (*free_list)(void* list) = nullptr;
};
constexpr std::uint32_t level_zero_device = 2, level_zero_shared = 3;  // ZE_MEMORY_TYPE_DEVICE, _SHARED

/// A device of Level Zero, and a context of Rondo's in which its driver answers.
struct LevelZeroPlace {
    void* context = nullptr;
    void* device = nullptr;
};

std::mutex mutex;  // held while looking, and while making contexts
Cuda cuda_functions;
Rocm rocm_functions;
LevelZero level_zero_functions;
std::atomic<const Cuda*> cuda{nullptr};
std::atomic<const Rocm*> rocm{nullptr};
std::atomic<const LevelZero*> level_zero{nullptr};

/// The handle of a library that is loaded already; it stays loaded, since its functions are called later. Loads
/// nothing.
template <class Names>
void* loaded(const Names& names) {
    for (const char* name : names) {
        if (void* const handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return handle;
    }
    return nullptr;
}

template <class Function>
bool resolve(void* handle, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
}

void look_for_cuda() {
    if (cuda != nullptr) return;
    void* const handle = loaded(cuda_names);
    Cuda& found = cuda_functions;
    if (handle != nullptr && resolve(handle, found.attribute, "cuPointerGetAttribute") &&
        resolve(handle, found.push_context, "cuCtxPushCurrent_v2") &&
        resolve(handle, found.pop_context, "cuCtxPopCurrent_v2") && resolve(handle, found.copy, "cuMemcpy") &&
        resolve(handle, found.wait, "cuStreamSynchronize")) {
        cuda = &found;
    }
}

void look_for_rocm() {
    if (rocm != nullptr) return;
    void* const handle = loaded(rocm_names);
    Rocm& found = rocm_functions;
    if (handle != nullptr && resolve(handle, found.attributes, "hipPointerGetAttributes") &&
        resolve(handle, found.copy, "hipMemcpy") && resolve(handle, found.wait, "hipStreamSynchronize")) {
        rocm = &found;
    }
}

bool is_level_zero_driver(const char* path) {
    const std::string_view whole = path, name = whole.substr(whole.rfind('/') + 1);
    return name.starts_with("libze_") && !name.starts_with("libze_loader") && name.find("_layer") == name.npos;
}

/// True if a driver is loaded: the loader loads drivers when the program initialises it. Many processes have the loader
/// alone, since libraries that look for devices load it, but then there is no memory to ask about.
bool has_level_zero_driver() {
    if (std::getenv("ZE_ENABLE_ALT_DRIVERS") != nullptr) return true;  // drivers of any names
    bool has = false;
    const auto look = [](dl_phdr_info* info, std::size_t, void* result) {
        if (is_level_zero_driver(info->dlpi_name)) *static_cast<bool*>(result) = true;
        return 0;
    };
    dl_iterate_phdr(look, &has);
    return has;
}

void look_for_level_zero() {
    if (level_zero != nullptr || !has_level_zero_driver()) return;
    void* const handle = loaded(level_zero_names);
    LevelZero& found = level_zero_functions;
    if (handle != nullptr && resolve(handle, found.drivers, "zeDriverGet") &&
        resolve(handle, found.make_context, "zeContextCreate") &&
        resolve(handle, found.memory, "zeMemGetAllocProperties") &&
        resolve(handle, found.make_list, "zeCommandListCreateImmediate") &&
        resolve(handle, found.copy, "zeCommandListAppendMemoryCopy") &&
        resolve(handle, found.free_list, "zeCommandListDestroy")) {
        level_zero = &found;
    }
}

/// How many libraries the process has loaded so far.
unsigned long long loads() {
    unsigned long long count = 0;
    const auto look = [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;  // the first object tells the number
    };
    dl_iterate_phdr(look, &count);
    return count;
}

bool on_device(const Cuda& runtime, const void* address) {
    unsigned type = 0;
    const auto asked = reinterpret_cast<std::uintptr_t>(address);
    return runtime.attribute(&type, memory_type_attribute, asked) == 0 && type == cuda_device;
}

bool on_device(const Rocm& runtime, const void* address) {
    RocmAttributes answer;
    return runtime.attributes(&answer, address) == 0 && answer.device_pointer != nullptr &&
           (answer.host_pointer == nullptr || answer.is_managed != 0);
}

/// Contexts of Rondo's, one for each driver, up to a few; they live as long as the process. There are none before the
/// program has initialised Level Zero, or where there is no device.
class LevelZeroContexts {
  public:
    template <class Visit>
    void each(const LevelZero& runtime, const Visit& visit) {
        std::uint32_t known = count_.load(std::memory_order_acquire);
        if (known == 0) known = make(runtime);
        for (std::uint32_t i = 0; i < known; ++i) visit(contexts_[i]);
    }

  private:
    std::uint32_t make(const LevelZero& runtime) {
        std::uint32_t drivers = most;
        void* found[most] = {};
        if (runtime.drivers(&drivers, found) != 0 || drivers == 0) return 0;
        const std::lock_guard lock(mutex);
        std::uint32_t known = count_.load(std::memory_order_relaxed);
        if (known > 0) return known;
        const LevelZeroContext description;
        for (std::uint32_t i = 0; i < drivers && i < most; ++i) {
            if (runtime.make_context(found[i], &description, &contexts_[known]) == 0) ++known;
        }
        count_.store(known, std::memory_order_release);
        return known;
    }

    static constexpr std::uint32_t most = 8;
    void* contexts_[most] = {};
    std::atomic<std::uint32_t> count_{0};
};
LevelZeroContexts level_zero_contexts;

/// Where an address lies; no device if it is in host memory.
LevelZeroPlace place_of(const LevelZero& runtime, const void* address) {
    LevelZeroPlace found;
    level_zero_contexts.each(runtime, [&](void* context) {
        LevelZeroMemory answer;
        void* device = nullptr;
        if (found.device == nullptr && runtime.memory(context, address, &answer, &device) == 0 &&
            (answer.type == level_zero_device || answer.type == level_zero_shared)) {
            found = {context, device};
        }
    });
    return found;
}

bool on_device(const LevelZero& runtime, const void* address) { return place_of(runtime, address).device != nullptr; }

template <class Runtime>
bool knows(const Runtime* runtime, const void* one, const void* other) {
    return runtime != nullptr && (on_device(*runtime, one) || on_device(*runtime, other));
}

/// Copies in the context of the memory; the thread may have another, or none. Waits, since a copy from host memory may
/// return before it has arrived.
bool copy(const Cuda& runtime, void* into, const void* from, std::size_t bytes) {
    const auto target = reinterpret_cast<std::uintptr_t>(into), source = reinterpret_cast<std::uintptr_t>(from);
    void* context = nullptr;
    if (runtime.attribute(static_cast<void*>(&context), context_attribute,
                          on_device(runtime, into) ? target : source) != 0) {
        context = nullptr;  // memory of a pool belongs to no context
    }
    if (context != nullptr && runtime.push_context(context) != 0) return false;
    const bool copied = runtime.copy(target, source, bytes) == 0 && runtime.wait(nullptr) == 0;
    if (context != nullptr) runtime.pop_context(&context);
    return copied;
}

bool copy(const Rocm& runtime, void* into, const void* from, std::size_t bytes) {
    return runtime.copy(into, from, bytes, rocm_default) == 0 && runtime.wait(nullptr) == 0;
}

bool copy(const LevelZero& runtime, void* into, const void* from, std::size_t bytes) {
    LevelZeroPlace place = place_of(runtime, into);
    if (place.device == nullptr) place = place_of(runtime, from);
    const LevelZeroQueue description;
    void* list = nullptr;
    if (runtime.make_list(place.context, place.device, &description, &list) != 0) return false;
    const bool copied = runtime.copy(list, into, from, bytes, nullptr, 0, nullptr) == 0;
    return runtime.free_list(list) == 0 && copied;
}

/// True if the runtime is there and knows an address; then `error` is the result of the copy.
template <class Runtime>
bool copies(const Runtime* runtime, void* into, const void* from, std::size_t bytes, int& error) {
    if (!knows(runtime, into, from)) return false;
    error = copy(*runtime, into, from, bytes) ? MPI_SUCCESS : MPI_ERR_OTHER;
    return true;
}

}  // namespace

void notice_device_runtimes() {
    // Looking for libraries that are not there takes a hundred microseconds: done only after something was loaded.
    static std::atomic<unsigned long long> looked_at{0};
    const unsigned long long now = loads();
    if (looked_at.load(std::memory_order_acquire) == now) return;
    const std::lock_guard lock(mutex);
    look_for_cuda();
    look_for_rocm();
    look_for_level_zero();
    if (cuda != nullptr || rocm != nullptr || level_zero != nullptr) detail::device_runtime_noticed = true;
    looked_at.store(now, std::memory_order_release);
}

bool detail::on_device(const void* address) {
    return address != nullptr && address != MPI_IN_PLACE &&
           (knows(cuda.load(), address, address) || knows(rocm.load(), address, address) ||
            knows(level_zero.load(), address, address));
}

int copy_memory(void* into, const void* from, std::size_t bytes) {
    if (bytes == 0) return MPI_SUCCESS;
    int error = MPI_SUCCESS;
    if (device_runtime_noticed() &&
        (copies(cuda.load(), into, from, bytes, error) || copies(rocm.load(), into, from, bytes, error) ||
         copies(level_zero.load(), into, from, bytes, error))) {
        return error;
    }
    std::memcpy(into, from, bytes);
    return MPI_SUCCESS;
}

int HostCopy::enter(MPI_Comm /*comm*/) {
    if (room_ == 0 || user_ == nullptr || !on_device(user_ + type_.true_lower_bound)) return MPI_SUCCESS;
    copy_.take(static_cast<std::size_t>(type_.span(room_)));
    return copy_memory(copy_.bytes(), user_ + type_.true_lower_bound, static_cast<std::size_t>(type_.span(before_)));
}

void* HostCopy::address() const {
    return copy_.bytes() != nullptr ? copy_.bytes() - type_.true_lower_bound : static_cast<void*>(user_);
}

int HostCopy::leave(MPI_Comm /*comm*/) {
    if (copy_.bytes() == nullptr) return MPI_SUCCESS;
    const auto bytes = static_cast<std::size_t>(type_.span(after_));
    const int error = copy_memory(user_ + type_.true_lower_bound, copy_.bytes(), bytes);
    copy_.give_back();
    return error;
}

}  // namespace rondo::mpi
