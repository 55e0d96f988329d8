// SPDX-License-Identifier: BSD-3-Clause
// A file that is mapped into memory: what stands there outlives a process that is killed, without a signal handler.
#pragma once

#include <cstddef>
#include <string>

namespace rondo {

class KeptFile {
  public:
    /// Makes the file, of zeros, with all the space for so many bytes. Empty if that worked, else the reason; then
    /// there is no file. In a forked child the memory is zeros of its own, and stays so: the file is its parent's.
    std::string open(const std::string& path, std::size_t bytes);
    /// Makes it longer: where the added part is in memory, a multiple of the page size from the start of the file.
    /// nullptr if there is no space.
    void* grow(std::size_t bytes);
    [[nodiscard]] void* memory() const { return memory_; }
    /// The memory stays usable.
    void remove() const;

  private:
    int file_ = -1;
    std::size_t bytes_ = 0;
    void* memory_ = nullptr;
    std::string path_;
};

}  // namespace rondo
