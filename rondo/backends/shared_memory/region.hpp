// SPDX-License-Identifier: BSD-3-Clause
// Memory of one process that others on its node map. It has no name in any file system, so nothing is left of it when
// the processes have ended, however they ended.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace rondo::shared_memory {

/// "cannot do this: Permission denied", for the error that a system call has just left.
std::string system_reason(const std::string& what);

/// True if the process may not map as much as it likes (ulimit -v). Regions count in full, little as they fill.
bool addresses_are_limited();

/// A number that no other region has. A copy lies in the region, and one in memory that its maker does not share.
using Key = std::array<std::uint64_t, 2>;

/// What another process must know in order to map a region, and to know it again. Plain data, to be exchanged.
struct RegionAddress {
    Key key;
    std::uint64_t device, inode, bytes;
    std::uint64_t process_namespace;  ///< in which `process` counts; 0 if unknown
    std::uint64_t private_key;        ///< address of the key in memory that is not shared
    std::int32_t process;
    std::int32_t process_in_proc;  ///< its number in /proc, which may be that of another namespace
    std::int32_t descriptor;
};

/// A range of addresses, unmapped with its owner. A child of fork neither has the memory nor unmaps anything.
class Mapping {
  public:
    Mapping() = default;
    /// Maps a file that all who map it write; nothing where it does not succeed (errno says why). Only what is opened
    /// may be used: a program that locks its memory (mlockall) would get pages for the rest as well.
    static Mapping of_file(int descriptor, std::size_t bytes);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping();

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    explicit operator bool() const { return data_ != nullptr; }

    /// Opens the first `end` bytes, and perhaps more. False if they are not there, or the system refuses. By any
    /// thread.
    [[nodiscard]] bool open_up_to(std::size_t end) {
        return end <= opened_.load(std::memory_order_acquire) || open_more(end);
    }

  private:
    friend class ForkSign;
    Mapping(std::byte* data, std::size_t bytes);
    bool open_more(std::size_t end);

    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::atomic<std::size_t> opened_ = 0;
    pid_t owner_ = 0;
};

/// Tells the process that made it from its children: those of fork have copies of everything else. Costs one load.
class ForkSign {
  public:
    /// Throws Error.
    ForkSign();
    [[nodiscard]] bool is_same_process() const {
        return *reinterpret_cast<const volatile std::byte*>(page_.data()) != std::byte{0};
    }

  private:
    Mapping page_;
};

/// The region of this process. Pages take memory from the time when they are committed.
class Region {
  public:
    /// Throws Error, in plain words.
    explicit Region(std::size_t bytes);
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region();

    [[nodiscard]] const RegionAddress& address() const { return address_; }
    [[nodiscard]] std::byte* data() const { return mapping_.data(); }
    [[nodiscard]] std::size_t bytes() const { return mapping_.bytes(); }

    /// Makes the pages of this range, full of zeros. False if there is no memory for them: a store there would end the
    /// process.
    [[nodiscard]] bool commit(std::size_t first, std::size_t bytes);

    /// After which nobody can map it any more: a descriptor less.
    void close();

  private:
    int descriptor_ = -1;
    Mapping mapping_;
    std::unique_ptr<Key> key_;
    RegionAddress address_{};
};

/// Another process's region, opened up to `open`. Nothing, and the reason, if it cannot be had.
Mapping map_region(const RegionAddress& address, std::size_t open, std::string& reason);

/// Copies out of memory that another process does not share. How many bytes; fewer where the system refuses.
std::size_t read_process(std::int32_t process, std::uint64_t from, void* into, std::size_t bytes);

/// Copies into it.
std::size_t write_process(std::int32_t process, std::uint64_t into, const void* from, std::size_t bytes);

/// `read_process` works there.
bool can_read_process(const RegionAddress& address);

/// The process that made the region is no more, or has only its ending to be taken note of. False where the system does
/// not tell. Some system calls.
bool has_ended(const RegionAddress& address);

}  // namespace rondo::shared_memory
