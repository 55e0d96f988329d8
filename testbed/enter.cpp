// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/enter.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "testbed/addresses.hpp"
#include "testbed/control_page.hpp"
#include "testbed/directory.hpp"
#include "testbed/failure.hpp"
#include "testbed/lifeline.hpp"
#include "testbed/namespaces.hpp"
#include "testbed/node.hpp"

namespace rondo::testbed {
namespace {

constexpr std::array forwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};
constexpr int not_found = 127, not_executable = 126, of_a_signal = 128;

// All namespaces of the cluster and of the node. Children of the caller are in the cluster, the caller itself if it
// was.
void enter_namespaces(const Init& init, unsigned node) {
    const std::string& process = init.number();
    std::vector<std::pair<Descriptor, const char*>> of_cluster;
    if (!init.is_ours()) {
        for (const char* name : {"user", "pid"}) {
            if (namespace_identity("self", name) == namespace_identity(process, name)) continue;
            of_cluster.emplace_back(open_file("/proc/" + process + "/ns/" + name, O_RDONLY), name);
        }
    }
    const NodeNamespaces of_node = NodeNamespaces::find(process, node);
    for (const auto& [name_space, name] : of_cluster) enter_namespace(name_space, name);
    of_node.enter();
}

[[noreturn]] void run(std::vector<std::string>& command) {
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    const int error = errno;
    std::fprintf(stderr, "rondo-testbed: cannot run %s: %s\n", words[0], std::strerror(error));
    ::_exit(error == ENOENT ? not_found : not_executable);
}

// A key of the terminal reaches the child by itself.
bool comes_from_terminal(const siginfo_t& received) { return received.si_code == SI_KERNEL; }

std::optional<int> exit_code(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG | WUNTRACED) <= 0) return std::nullopt;
    if (WIFSTOPPED(status)) {
        ::raise(SIGSTOP);
        return std::nullopt;
    }
    return WIFSIGNALED(status) ? of_a_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_as_child(std::vector<std::string>& command) {
    sigset_t watched, before;
    ::sigemptyset(&watched);
    for (const int number : forwarded) ::sigaddset(&watched, number);
    ::sigaddset(&watched, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &watched, &before);
    ::signal(SIGCHLD, SIG_DFL);  // a parent that ignores it hands that down

    Lifeline lifeline;
    const pid_t child = ::fork();
    if (child < 0) throw system_failure("cannot start a process in the cluster; is it being ended?");
    if (child == 0) {
        lifeline.hold(SIGKILL);
        ::sigprocmask(SIG_SETMASK, &before, nullptr);
        run(command);
    }
    while (true) {
        siginfo_t received{};
        if (::sigwaitinfo(&watched, &received) < 0) continue;
        if (received.si_signo == SIGCHLD) {
            if (const auto code = exit_code(child)) return *code;
        } else if (!comes_from_terminal(received)) {
            ::kill(child, received.si_signo);
        }
    }
}

}  // namespace

int enter(const std::string& given_directory, const std::string& node_name, std::vector<std::string> command) {
    const std::string directory = absolute(given_directory);
    require_running(directory);
    const unsigned nodes = ControlPage::open(directory)->nodes;
    const auto node = node_called(node_name, nodes);
    if (!node) {
        throw Failure("no node " + node_name + "; there are node0 to node" + std::to_string(nodes - 1) + " and head");
    }
    const Init init = Init::read(directory);
    const bool is_inside = init.is_ours();
    std::array<char, PATH_MAX> working_directory;
    const bool has_directory = ::getcwd(working_directory.data(), working_directory.size()) != nullptr;

    enter_namespaces(init, *node);
    if (!has_directory || ::chdir(working_directory.data()) != 0) ::chdir("/");
    ::setenv(directory_variable, directory.c_str(), 1);
    ::setenv(node_variable, name_of(*node, nodes).c_str(), 1);
    ::setenv("TMPDIR", temporary_directory(directory).c_str(), 1);
    if (is_inside) run(command);
    return run_as_child(command);
}

}  // namespace rondo::testbed
