// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/kept_tallies.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace rondo::interposer {

/// As python/rondo/launching/kept_counts.py reads it. Zeros, and of no use, where nothing has been written yet.
struct KeptTallies::Image {
    static constexpr std::string_view kind = "rondo counts 2";

    std::array<char, 16> magic;
    std::uint64_t ended;
    std::array<char, sizeof(mpi::Tally) - 24> owner;  // ends with a zero
    std::array<std::array<std::byte, sizeof(mpi::Tally)>, 255> tallies;
};

namespace {

/// File systems that write to a new place, for which there may be no space when the time comes, whatever was reserved.
constexpr std::array<std::uint32_t, 3> copy_on_write = {0x9123683e, 0x2fc12fc1, 0xca451a4e};  // btrfs, ZFS, bcachefs

void* mapped = nullptr;
std::size_t mapped_bytes = 0;

/// Why so many bytes cannot be reserved in this empty file; 0 if they are. A write to the mapped file that found no
/// space would be a signal that ends the program, and so would a file beyond the limit.
int reserve(int file, std::size_t bytes) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) return EFBIG;
    struct statfs system{};
    if (fstatfs(file, &system) != 0) return errno;
    if (std::ranges::count(copy_on_write, static_cast<std::uint32_t>(system.f_type)) > 0) return EOPNOTSUPP;
    int error = 0;
    do error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
    while (error == EINTR);
    return error;
}

}  // namespace

/// In a forked child. It may count, but nobody wants to know.
void KeptTallies::leave_to_parent() {
    mapped = mmap(mapped, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

std::string KeptTallies::open(const std::string& path, std::string_view owner) {
    static_assert(sizeof(Image) == 256 * sizeof(mpi::Tally));
    if (owner.size() >= sizeof(Image::owner)) return "too long a name of host or library";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) return std::strerror(errno);
    int error = reserve(file, sizeof(Image));
    void* memory = MAP_FAILED;
    if (error == 0) {
        memory = mmap(nullptr, sizeof(Image), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory == MAP_FAILED) error = errno;
    }
    if (error == 0) {
        mapped = memory;
        mapped_bytes = sizeof(Image);
        error = pthread_atfork(nullptr, nullptr, leave_to_parent);
        if (error != 0) munmap(memory, sizeof(Image));
    }
    if (error != 0) {
        close(file);
        unlink(path.c_str());
        return std::strerror(error);
    }
    // The file stays open, and is not touched again: network file systems send what was written when it is closed.
    image_ = static_cast<Image*>(memory);
    path_ = path;
    std::ranges::copy(owner, image_->owner.begin());
    std::ranges::copy(Image::kind, image_->magic.begin());
    return "";
}

mpi::Tally* KeptTallies::add(const mpi::Treatment& treatment) {
    if (image_ == nullptr || tallies_ == image_->tallies.size()) return nullptr;
    return new (&image_->tallies[tallies_++]) mpi::Tally(treatment);
}

void KeptTallies::mark_ended() {
    if (image_ != nullptr) image_->ended = 1;
}

void KeptTallies::remove_file() {
    if (image_ != nullptr) unlink(path_.c_str());
}

}  // namespace rondo::interposer
