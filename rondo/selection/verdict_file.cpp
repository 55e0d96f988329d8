// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/verdict_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "rondo/core/error.hpp"
#include "rondo/selection/text_file.hpp"

namespace rondo {
namespace {

/// Held while it lives, if it could be had: the kernel takes it from processes that die.
class Lock {
  public:
    explicit Lock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        constexpr int attempts = 100;
        constexpr std::chrono::milliseconds pause(10);
        if (file_ < 0) error_ = errno;
        for (int attempt = 0; file_ >= 0; ++attempt) {
            error_ = flock(file_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
            const bool is_taken = error_ == EWOULDBLOCK || error_ == EINTR;
            // Some network file systems have no locks: of two that write at once, one is then lost, but nothing is
            // torn.
            if (error_ == ENOSYS || error_ == EOPNOTSUPP || error_ == ENOLCK || error_ == EINVAL) error_ = 0;
            if (!is_taken || attempt == attempts) return;
            std::this_thread::sleep_for(pause);
        }
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
        if (file_ >= 0) close(file_);
    }
    [[nodiscard]] int error() const { return error_; }

  private:
    int file_;
    int error_ = 0;
};

/// 0, or why not.
int write_whole(const std::string& path, const std::string& text) {
    rlimit limit{};  // beyond it, a signal would end the program
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < text.size()) return EFBIG;
    const std::string unfinished = path + "." + host_name() + "." + std::to_string(getpid()) + ".part";
    std::FILE* const file = std::fopen(unfinished.c_str(), "we");
    if (file == nullptr) return errno;
    int error = std::fwrite(text.data(), 1, text.size(), file) == text.size() ? 0 : errno;
    if (std::fclose(file) != 0 && error == 0) error = errno;
    if (error == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(unfinished.c_str());
    return error;
}

}  // namespace

std::string name_of_hosts(std::string_view host) {
    const std::string_view name = host.substr(0, host.find('.'));
    const std::size_t digits = name.find_last_not_of("0123456789");
    const std::size_t last = digits != std::string_view::npos ? name.find_last_not_of("-_", digits) : digits;
    return std::string(last != std::string_view::npos ? name.substr(0, last + 1) : name);
}

std::string host_name() {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return host;
}

std::string verdict_file_name(std::string_view host, std::string_view library_version, std::string_view rondo_version,
                              std::uint64_t machine) {
    std::string name = name_of_hosts(host) + " " + std::string(library_version) + " " + std::string(rondo_version);
    for (char& letter : name) {
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '.') letter = '-';
    }
    char figures[17];
    std::snprintf(figures, sizeof figures, "%016llx", static_cast<unsigned long long>(machine));
    return name + "." + figures + ".verdicts";
}

std::string update_verdicts(const std::string& path, const std::function<void(Verdicts&)>& change) {
    // The user's home may be another on this node. What cannot be made is noticed below.
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        mkdir(path.substr(0, end).c_str(), 0777);
    }
    const Lock lock(path + ".lock");
    if (lock.error() != 0) return path + ".lock: " + std::strerror(lock.error());
    std::string text;
    if (access(path.c_str(), F_OK) != 0) {
        if (errno != ENOENT) return path + ": " + std::strerror(errno);
    } else {
        try {
            text = read_text_file(path, "what was learned");
        } catch (const Error& error) {
            return error.what();
        }
    }
    std::vector<Verdicts::Complaint> complaints;
    Verdicts verdicts = Verdicts::parse(text, complaints);
    change(verdicts);
    const int error = write_whole(path, verdicts.text());
    return error != 0 ? path + ": " + std::strerror(error) : "";
}

}  // namespace rondo
