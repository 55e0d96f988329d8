// SPDX-License-Identifier: BSD-3-Clause
// Files that several processes change, of one user or of several. They can do so where the directory lets them: what is
// made in one that a group or everybody may write into, these may write, too, whatever the umask says.
#pragma once

#include <string>
#include <string_view>

namespace rondo {

/// Held while it lives, if it could be had: the kernel takes it from processes that die. Waits a second at most.
class FileLock {
  public:
    explicit FileLock(const std::string& path);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();
    /// 0, or why it could not be had.
    [[nodiscard]] int error() const { return error_; }
    /// Whoever closes the descriptor from now on gives the lock back.
    [[nodiscard]] int release();

  private:
    int file_;
    int error_ = 0;
};

/// Writes a file anew: a reader finds the old content or the new. Where only the owner may replace it (in a sticky
/// directory), it is written in place; whoever reads it at that moment may find less. 0, or why that failed.
int write_shared(const std::string& path, std::string_view text);

}  // namespace rondo
