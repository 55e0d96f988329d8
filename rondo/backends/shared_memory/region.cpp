// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "rondo/core/error.hpp"

// Younger than some C libraries.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace rondo::shared_memory {
namespace {

constexpr const char* region_name = "rondo";  // as /proc/<pid>/maps shows it

Key make_key(const void* somewhere) {
    Key key;
    if (::getrandom(key.data(), sizeof key, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof key)) {
        key = {static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()),
               static_cast<std::uint64_t>(::getpid()) << 32 ^ reinterpret_cast<std::uintptr_t>(somewhere)};
    }
    return key;
}

std::uint64_t process_namespace() {
    struct stat status;
    return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

std::int32_t number_in_proc() {
    char target[32] = {};
    if (::readlink("/proc/self", target, sizeof target - 1) <= 0) return ::getpid();
    return static_cast<std::int32_t>(std::strtol(target, nullptr, 10));
}

/// proc(5): "number (name) state ..."; the name may have anything in it. A process whose first thread alone has ended
/// looks like one that has ended, but for its threads.
bool is_dead(std::int32_t number_in_proc) {
    char path[64], text[1024];
    std::snprintf(path, sizeof path, "/proc/%d/stat", number_in_proc);
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t count = ::read(file, text, sizeof text - 1);
    ::close(file);
    text[std::max<ssize_t>(count, 0)] = '\0';
    const char* const behind_name = std::strrchr(text, ')');
    constexpr const char* fields = ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d";
    char state = 0;
    int threads = 0;
    if (behind_name == nullptr || std::sscanf(behind_name, fields, &state, &threads) != 2) return false;
    return state == 'X' || (state == 'Z' && threads <= 1);
}

/// Some systems allow only memory that cannot become a program; older ones do not know the flag.
int open_memory() {
    const int descriptor = ::memfd_create(region_name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    return descriptor < 0 && errno == EINVAL ? ::memfd_create(region_name, MFD_CLOEXEC) : descriptor;
}

/// Beyond this limit the system does not refuse: it ends the process by a signal.
void require_file_size(std::size_t bytes) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) {
        throw Error("the limit on the size of files (ulimit -f) is below the " + std::to_string(bytes) +
                    " bytes of memory to share");
    }
}

bool is_region(const struct stat& status, const RegionAddress& address) {
    return status.st_dev == address.device && status.st_ino == address.inode;
}

}  // namespace

bool addresses_are_limited() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

std::string system_reason(const std::string& what) { return what + ": " + std::strerror(errno); }

Mapping::Mapping(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes), owner_(::getpid()) {}

Mapping Mapping::of_file(int descriptor, std::size_t bytes) {
    void* const data = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) return {};
    ::madvise(data, bytes, MADV_DONTFORK);
    return {static_cast<std::byte*>(data), bytes};
}

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)),
      opened_(other.opened_.exchange(0)), owner_(other.owner_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    opened_ = other.opened_.exchange(opened_);
    std::swap(owner_, other.owner_);
    return *this;
}

/// Threads may do so at once: none closes what another has opened.
bool Mapping::open_more(std::size_t end) {
    constexpr std::size_t at_once = std::size_t{64} << 10;  // one system call for many small parcels
    if (end > bytes_) return false;
    const std::size_t rounded = std::min((end + at_once - 1) / at_once * at_once, bytes_);
    if (::mprotect(data_, rounded, PROT_READ | PROT_WRITE) != 0) return false;
    std::size_t before = opened_.load(std::memory_order_relaxed);
    while (before < rounded && !opened_.compare_exchange_weak(before, rounded, std::memory_order_release)) {
    }
    return true;
}

Mapping::~Mapping() {
    if (data_ != nullptr && owner_ == ::getpid()) ::munmap(data_, bytes_);
}

ForkSign::ForkSign() {
    const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) throw Error(system_reason("no memory"));
    page_ = Mapping(static_cast<std::byte*>(page), bytes);
    if (::madvise(page, bytes, MADV_WIPEONFORK) != 0) {
        throw Error(system_reason("the system cannot tell a process from its child (Linux 4.14 can)"));
    }
    *page_.data() = std::byte{1};
}

Region::Region(std::size_t bytes) : key_(std::make_unique<Key>()) {
    require_file_size(bytes);
    *key_ = make_key(key_.get());
    descriptor_ = open_memory();
    if (descriptor_ < 0) throw Error(system_reason("no memory to share to be had (memfd_create)"));
    struct stat status{};
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0 || ::fstat(descriptor_, &status) != 0) {
        const std::string reason = system_reason("cannot size the memory to share");
        close();
        throw Error(reason);
    }
    mapping_ = Mapping::of_file(descriptor_, bytes);
    if (!mapping_) {
        const std::string reason = system_reason("no room among the addresses for " + std::to_string(bytes) + " bytes");
        close();
        throw Error(reason);
    }
    address_ = {.key = *key_,
                .device = status.st_dev,
                .inode = status.st_ino,
                .bytes = bytes,
                .process_namespace = process_namespace(),
                .private_key = reinterpret_cast<std::uintptr_t>(key_.get()),
                .process = ::getpid(),
                .process_in_proc = number_in_proc(),
                .descriptor = descriptor_};
}

Region::~Region() { close(); }

/// The program may have closed all descriptors meanwhile, and then this number is somebody else's.
void Region::close() {
    if (descriptor_ < 0) return;
    struct stat status{};
    const bool is_ours = address_.inode == 0 || (::fstat(descriptor_, &status) == 0 && is_region(status, address_));
    if (is_ours) ::close(descriptor_);
    descriptor_ = -1;
}

/// Where the kernel makes pages, or copies something, missing memory is an error to it; where we store, it would be
/// SIGBUS. Before Linux 5.14 it can only copy, which takes a descriptor that the program may have left none of.
bool Region::commit(std::size_t first, std::size_t bytes) {
    if (!mapping_.open_up_to(first + bytes)) return false;
    const std::size_t beyond = first % static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    if (::madvise(data() + first - beyond, bytes + beyond, MADV_POPULATE_WRITE) == 0) return true;
    const int zeros = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zeros < 0) return false;
    ssize_t count = 0;
    while (bytes > 0) {
        count = ::read(zeros, data() + first, bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        first += static_cast<std::size_t>(count);
        bytes -= static_cast<std::size_t>(count);
    }
    ::close(zeros);
    return bytes == 0;
}

/// The number may be another process's here: nothing is opened before it is known to be the region, because to open a
/// device or a pipe may do something.
Mapping map_region(const RegionAddress& address, std::size_t open, std::string& reason) {
    const std::string path =
        "/proc/" + std::to_string(address.process_in_proc) + "/fd/" + std::to_string(address.descriptor);
    const std::string process = "process " + std::to_string(address.process);
    struct stat status{};
    const std::uint64_t ours = process_namespace();
    const bool is_elsewhere = ours != 0 && address.process_namespace != 0 && ours != address.process_namespace;
    const std::string where = is_elsewhere ? " (it is in another process namespace)" : "";
    if (::stat(path.c_str(), &status) != 0) {
        reason = system_reason("the memory of " + process + where + " is not to be seen in /proc");
        return {};
    }
    if (!is_region(status, address)) {
        reason = process + where + " has something else where its shared memory should be";
        return {};
    }
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
        reason = system_reason("the memory of " + process + " cannot be opened");
        return {};
    }
    Mapping mapping;
    if (::fstat(descriptor, &status) == 0 && is_region(status, address) &&
        static_cast<std::uint64_t>(status.st_size) == address.bytes) {
        mapping = Mapping::of_file(descriptor, address.bytes);
        if (!mapping || !mapping.open_up_to(open)) {
            reason = system_reason("the memory of " + process + " cannot be mapped");
            mapping = {};
        }
    } else {
        reason = "the memory of " + process + " has changed";
    }
    ::close(descriptor);
    return mapping;
}

std::size_t read_process(std::int32_t process, std::uint64_t from, void* into, std::size_t bytes) {
    const iovec local{into, bytes};
    const iovec remote{reinterpret_cast<void*>(from), bytes};  // NOLINT(performance-no-int-to-ptr): not ours
    return static_cast<std::size_t>(std::max<ssize_t>(::process_vm_readv(process, &local, 1, &remote, 1, 0), 0));
}

std::size_t write_process(std::int32_t process, std::uint64_t into, const void* from, std::size_t bytes) {
    const iovec local{const_cast<void*>(from), bytes};
    const iovec remote{reinterpret_cast<void*>(into), bytes};  // NOLINT(performance-no-int-to-ptr): not ours
    return static_cast<std::size_t>(std::max<ssize_t>(::process_vm_writev(process, &local, 1, &remote, 1, 0), 0));
}

/// In another process namespace the number may be another process's.
bool can_read_process(const RegionAddress& address) {
    Key key{};
    return read_process(address.process, address.private_key, key.data(), sizeof key) == sizeof key &&
           key == address.key;
}

bool has_ended(const RegionAddress& address) {
    const bool counts_alike = address.process_namespace != 0 && address.process_namespace == process_namespace();
    if (counts_alike && ::kill(address.process, 0) != 0 && errno == ESRCH) return true;
    return is_dead(address.process_in_proc);
}

}  // namespace rondo::shared_memory
