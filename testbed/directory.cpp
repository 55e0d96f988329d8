// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "testbed/addresses.hpp"
#include "testbed/failure.hpp"
#include "testbed/namespaces.hpp"
#include "testbed/node.hpp"

namespace rondo::testbed {
namespace {

std::string lock_file(const std::string& directory) { return directory + "/lock"; }

std::string init_file(const std::string& directory) { return directory + "/init"; }

std::string supervisor_file(const std::string& directory) { return directory + "/supervisor"; }

std::string own_program() {
    std::array<char, PATH_MAX> target;
    const ssize_t length = ::readlink("/proc/self/exe", target.data(), target.size());
    if (length <= 0) throw system_failure("cannot read /proc/self/exe");
    return {target.data(), static_cast<std::size_t>(length)};
}

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char letter : text) {
        if (letter == '\'') result += "'\\''";
        else result += letter;
    }
    return result + "'";
}

}  // namespace

std::string absolute(const std::string& directory) {
    const std::unique_ptr<char, void (*)(void*)> path(::realpath(directory.c_str(), nullptr), std::free);
    if (!path) throw system_failure("there is no directory " + directory);
    return path.get();
}

Descriptor lock_directory(const std::string& directory) {
    Descriptor file = open_file(lock_file(directory), O_RDWR | O_CREAT, 0600);
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
        throw Failure("a cluster is running in " + directory + "; end it with: rondo-testbed down " + directory);
    }
    return file;
}

bool is_running(const std::string& directory) {
    if (::access(lock_file(directory).c_str(), F_OK) != 0) return false;
    const Descriptor file = open_file(lock_file(directory), O_RDONLY);
    return ::flock(file.number(), LOCK_SH | LOCK_NB) != 0;
}

void require_running(const std::string& directory) {
    if (!is_running(directory)) throw Failure("no cluster is running in " + directory);
}

void describe(const std::string& directory, unsigned nodes) {
    std::string names, addresses, table = "127.0.0.1 localhost\n";
    for (unsigned node = 0; node <= nodes; ++node) {
        table += address_text(node, nodes) + " " + name_of(node, nodes) + "\n";
        if (node == nodes) break;
        names += name_of(node, nodes) + "\n";
        addresses += address_text(node, nodes) + "\n";
    }
    write_file(directory + "/hosts", names);
    write_file(directory + "/addresses", addresses);
    write_file(hosts_table(directory), table);
    write_file(directory + "/ssh",
               "#!/bin/sh\n# Stand-in for ssh: runs a command on a node of this cluster.\nexec " +
                   quoted(own_program()) + " ssh " + quoted(directory) + " \"$@\"\n",
               0755);
    if (::mkdir(temporary_directory(directory).c_str(), 0700) != 0 && errno != EEXIST) {
        throw system_failure("cannot make " + temporary_directory(directory));
    }
}

std::string hosts_table(const std::string& directory) { return directory + "/etc-hosts"; }

void Init::write(const std::string& directory) const {
    write_file(init_file(directory), outside + " " + inside + " " + pid_namespace + "\n");
}

Init Init::read(const std::string& directory) {
    std::istringstream text(read_file(init_file(directory)));
    Init init;
    text >> init.outside >> init.inside >> init.pid_namespace;
    return init;
}

const std::string& Init::number() const { return is_ours() ? inside : outside; }

bool Init::is_ours() const { return namespace_identity("self", "pid") == pid_namespace; }

void write_supervisor(const std::string& directory) {
    write_file(supervisor_file(directory), std::to_string(::getpid()) + "\n");
}

pid_t read_supervisor(const std::string& directory) { return std::stoi(read_file(supervisor_file(directory))); }

}  // namespace rondo::testbed
