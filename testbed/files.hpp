// SPDX-License-Identifier: BSD-3-Clause
// Small files, and descriptors that close themselves. Everything that cannot be done throws Failure.
#pragma once

#include <string>
#include <utility>

namespace rondo::testbed {

/// An open file descriptor, closed with its owner.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            Descriptor before(std::exchange(number_, std::exchange(other.number_, -1)));
        }
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();

    [[nodiscard]] int number() const { return number_; }

  private:
    int number_ = -1;
};

/// Opens with O_CLOEXEC. `flags` and `mode` as of open(2).
Descriptor open_file(const std::string& path, int flags, unsigned mode = 0);

std::string read_file(const std::string& path);

void write_file(const std::string& path, const std::string& text, unsigned mode = 0644);

/// Number of the calling process as /proc shows it: that of another PID namespace where /proc is not our own.
std::string own_number_in_proc();

}  // namespace rondo::testbed
