// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/shared_file.hpp"
#include "rondo/core/host.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

namespace rondo {
namespace {

/// Lets all write a new file who may write into its directory. What cannot be is noticed by whoever may not.
void share_with_directory(int file, const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    struct stat parent{};
    struct stat own{};
    if (stat(directory.c_str(), &parent) != 0 || fstat(file, &own) != 0) return;
    mode_t mode = own.st_mode & 07777U;
    if ((parent.st_mode & S_IWGRP) != 0) {
        mode |= S_IRGRP | S_IWGRP;
        if (own.st_gid != parent.st_gid && fchown(file, static_cast<uid_t>(-1), parent.st_gid) != 0)
            mode &= ~static_cast<mode_t>(S_IWGRP);  // it stays that of a group which the directory does not know
    }
    if ((parent.st_mode & S_IWOTH) != 0) mode |= S_IROTH | S_IWOTH;
    fchmod(file, mode);
}

/// Makes a file that is not there yet; -1 and errno if it is.
int make(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) share_with_directory(file, path);
    return file;
}

/// Another user's file that cannot be written can be locked all the same. It is not opened with O_CREAT, which Linux
/// forbids for others' files in sticky directories (fs.protected_regular).
int open_lock(const std::string& path) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
        if (file < 0 && errno == EACCES) file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file >= 0 || errno != ENOENT) return file;
        file = make(path);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = write(file, text.data(), text.size());
        if (written < 0 && errno != EINTR) return errno;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

/// 0, or why not; then nothing is lost but by an error of the device.
int write_in_place(const std::string& path, std::string_view text) {
    // In a sticky directory, anybody may have put a link of this name to a file of ours.
    const int file = open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0) return errno;
    struct stat facts{};
    int error = fstat(file, &facts) == 0 ? 0 : errno;
    if (error == 0 && (!S_ISREG(facts.st_mode) || facts.st_nlink != 1)) error = EPERM;
    if (error == 0 && !text.empty()) {
        error = posix_fallocate(file, 0, static_cast<off_t>(text.size()));
        if (error == EINVAL || error == EOPNOTSUPP) error = 0;
    }
    if (error == 0) error = write_all(file, text);
    if (error == 0 && ftruncate(file, static_cast<off_t>(text.size())) != 0) error = errno;
    if (close(file) != 0 && error == 0) error = errno;
    return error;
}

}  // namespace

FileLock::FileLock(const std::string& path) : file_(open_lock(path)) {
    constexpr int attempts = 100;
    constexpr std::chrono::milliseconds pause(10);
    if (file_ < 0) error_ = errno;
    for (int attempt = 0; file_ >= 0; ++attempt) {
        error_ = flock(file_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        const bool is_taken = error_ == EWOULDBLOCK || error_ == EINTR;
        // Some network file systems have no locks, or none of files that cannot be written: of two that write at once,
        // one is then lost, but nothing is torn.
        if (error_ == ENOSYS || error_ == EOPNOTSUPP || error_ == ENOLCK || error_ == EINVAL || error_ == EBADF)
            error_ = 0;
        if (!is_taken || attempt == attempts) return;
        std::this_thread::sleep_for(pause);
    }
}

FileLock::~FileLock() {
    if (file_ >= 0) close(file_);
}

int FileLock::release() { return std::exchange(file_, -1); }

int write_shared(const std::string& path, std::string_view text) {
    rlimit limit{};  // beyond it, a signal would end the program
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < text.size()) return EFBIG;
    const std::string unfinished = path + "." + host_name() + "." + std::to_string(getpid()) + ".part";
    unlink(unfinished.c_str());  // of a process that had this number, and was killed
    const int file = make(unfinished);
    if (file < 0) return errno;
    int error = write_all(file, text);
    if (close(file) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(unfinished.c_str(), path.c_str()) == 0) return 0;
    if (error == 0) error = errno == EPERM || errno == EACCES ? write_in_place(path, text) : errno;
    unlink(unfinished.c_str());
    return error;
}

}  // namespace rondo
