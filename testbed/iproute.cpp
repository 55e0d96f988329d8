// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/iproute.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "testbed/failure.hpp"
#include "testbed/files.hpp"

namespace rondo::testbed {
namespace {

Descriptor file_in_memory(const std::string& text) {
    Descriptor file(::memfd_create("rondo-testbed", MFD_CLOEXEC));
    if (::write(file.number(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        throw system_failure("cannot write a file in memory");
    }
    ::lseek(file.number(), 0, SEEK_SET);
    return file;
}

std::string first_line(const Descriptor& file) {
    std::array<char, 200> text;
    const ssize_t length = ::pread(file.number(), text.data(), text.size(), 0);
    const std::string all(text.data(), static_cast<std::size_t>(length > 0 ? length : 0));
    return all.substr(0, all.find('\n'));
}

}  // namespace

std::string find_ip() {
    const char* path = std::getenv("PATH");
    // Where distributions put it, outside the PATH of ordinary users.
    std::istringstream directories(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin:/usr/bin:/bin");
    for (std::string directory; std::getline(directories, directory, ':');) {
        const std::string program = directory + "/ip";
        if (!directory.empty() && ::access(program.c_str(), X_OK) == 0) return program;
    }
    throw Failure("there is no program ip, which makes the cluster's network; install iproute2");
}

void run_ip(const std::string& commands) {
    const std::string program = find_ip();
    const Descriptor input = file_in_memory(commands), complaints = file_in_memory("");
    const pid_t child = ::fork();
    if (child < 0) throw system_failure("cannot start ip");
    if (child == 0) {
        ::dup2(input.number(), STDIN_FILENO);
        ::dup2(complaints.number(), STDERR_FILENO);
        ::execl(program.c_str(), "ip", "-batch", "-", nullptr);
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0)
        throw Failure("the kernel does not let " + program + " make the network: " + first_line(complaints));
}

}  // namespace rondo::testbed
