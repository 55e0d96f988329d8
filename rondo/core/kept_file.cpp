// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/core/kept_file.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace rondo {
namespace {

/// File systems that write to a new place, for which there may be no space when the time comes, whatever was reserved.
constexpr std::array<std::uint32_t, 3> copy_on_write = {0x9123683e, 0x2fc12fc1, 0xca451a4e};  // btrfs, ZFS, bcachefs

struct Mapping {
    void* memory;
    std::size_t bytes;
};
std::array<Mapping, 256> mappings{};  // of all files
std::size_t mapped = 0;

/// In a forked child. It may write, but nobody wants to know.
void leave_to_parent() {
    [[maybe_unused]] void* memory_of_its_own = nullptr;
    for (std::size_t i = 0; i < mapped; ++i) {
        memory_of_its_own = mmap(mappings[i].memory, mappings[i].bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
}

/// Why so many bytes cannot be reserved in this file after the first ones; 0 if they are. A write to the mapped file
/// that found no space would be a signal that ends the program, and so would a file beyond the limit.
int reserve(int file, std::size_t first, std::size_t bytes) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < first + bytes) return EFBIG;
    struct statfs system{};
    if (fstatfs(file, &system) != 0) return errno;
    if (std::ranges::count(copy_on_write, static_cast<std::uint32_t>(system.f_type)) > 0) return EOPNOTSUPP;
    int error = 0;
    do error = posix_fallocate(file, static_cast<off_t>(first), static_cast<off_t>(bytes));
    while (error == EINTR);
    return error;
}

/// 0, or why not.
int map(int file, std::size_t first, std::size_t bytes, void*& memory) {
    if (mapped == mappings.size()) return ENOMEM;
    if (mapped == 0) {
        const int error = pthread_atfork(nullptr, nullptr, leave_to_parent);
        if (error != 0) return error;
    }
    const int error = reserve(file, first, bytes);
    if (error != 0) return error;
    void* const made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(first));
    if (made == MAP_FAILED) return errno;
    mappings[mapped++] = {made, bytes};
    memory = made;
    return 0;
}

}  // namespace

std::string KeptFile::open(const std::string& path, std::size_t bytes) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) return std::strerror(errno);
    const int error = map(file_, 0, bytes, memory_);
    if (error != 0) {
        close(file_);
        unlink(path.c_str());
        return std::strerror(error);
    }
    // The file stays open: network file systems send what was written when it is closed.
    path_ = path;
    bytes_ = bytes;
    return "";
}

void* KeptFile::grow(std::size_t bytes) {
    void* added = nullptr;
    if (memory_ == nullptr || map(file_, bytes_, bytes, added) != 0) return nullptr;
    bytes_ += bytes;
    return added;
}

void KeptFile::remove() const {
    if (memory_ != nullptr) unlink(path_.c_str());
}

}  // namespace rondo
