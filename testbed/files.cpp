// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "testbed/failure.hpp"

namespace rondo::testbed {

Descriptor::~Descriptor() {
    if (number_ >= 0) ::close(number_);
}

Descriptor open_file(const std::string& path, int flags, unsigned mode) {
    Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, mode));
    if (file.number() < 0) throw system_failure("cannot open " + path);
    return file;
}

std::string read_file(const std::string& path) {
    const Descriptor file = open_file(path, O_RDONLY);
    std::string text;
    std::array<char, 4096> part;
    ssize_t count = 0;
    while ((count = ::read(file.number(), part.data(), part.size())) > 0) {
        text.append(part.data(), static_cast<std::size_t>(count));
    }
    if (count < 0) throw system_failure("cannot read " + path);
    return text;
}

void write_file(const std::string& path, const std::string& text, unsigned mode) {
    const Descriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw system_failure("cannot write " + path);
    }
}

std::string own_number_in_proc() {
    std::array<char, 32> target;
    const ssize_t length = ::readlink("/proc/self", target.data(), target.size());
    if (length <= 0) throw system_failure("cannot read /proc/self; mount /proc");
    return {target.data(), static_cast<std::size_t>(length)};
}

}  // namespace rondo::testbed
