// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/cluster.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "testbed/addresses.hpp"
#include "testbed/control_page.hpp"
#include "testbed/directory.hpp"
#include "testbed/failure.hpp"
#include "testbed/iproute.hpp"
#include "testbed/lifeline.hpp"
#include "testbed/memory.hpp"
#include "testbed/node.hpp"
#include "testbed/ring.hpp"
#include "testbed/switch.hpp"

namespace rondo::testbed {
namespace {

constexpr long longest_end = 3;  // seconds that an orderly end may take
constexpr timespec patience_with_init{.tv_sec = 2 * longest_end, .tv_nsec = 0};
constexpr timespec between_attempts{.tv_sec = 0, .tv_nsec = 10'000'000};  // to find a cluster gone
constexpr int attempts_to_end = 2000;

volatile std::sig_atomic_t must_end = 0;

void ask_for_the_end(int /*signal*/) {
    must_end = 1;
    ::alarm(static_cast<unsigned>(longest_end));
}

[[noreturn]] void end_at_once(int /*signal*/) { ::_exit(1); }

void handle(int signal, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    ::sigaction(signal, &action, nullptr);
}

sigset_t signals(std::initializer_list<int> numbers) {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : numbers) ::sigaddset(&set, number);
    return set;
}

// What the kernel permits: the switch wakes when a packet is due, whatever the ranks do.
void hurry() {
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    ::setpriority(PRIO_PROCESS, 0, -20);
    const sched_param lowest{.sched_priority = 1};
    ::sched_setscheduler(0, SCHED_FIFO, &lowest);
}

std::vector<Cable> make_cables(const Shape& shape) {
    const unsigned nodes = shape.nodes;
    std::string commands = "link set lo up\n";
    for (unsigned node = 0; node <= nodes; ++node) commands += "link set " + port_name(node) + " arp off up\n";
    run_ip(commands);
    std::vector<Cable> cables;
    for (unsigned node = 0; node <= nodes; ++node) {
        cables.emplace_back(port_name(node), node == nodes ? ring_of_head(shape) : ring_of_node(shape));
    }
    return cables;
}

std::vector<NodeNamespaces> make_nodes(const std::string& directory, const Shape& shape) {
    if (::mount(hosts_table(directory).c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) {
        throw system_failure("cannot give the nodes an /etc/hosts");
    }
    const NodeNamespaces home;
    const std::string init = own_number_in_proc();
    std::vector<NodeNamespaces> namespaces;
    namespaces.reserve(shape.nodes + 1);
    for (unsigned node = 0; node <= shape.nodes; ++node) {
        namespaces.push_back(make_node(node, shape, directory, init, home));
    }
    return namespaces;
}

// `outside` is the PID namespace of whoever started the cluster.
[[noreturn]] void run_init(const std::string& directory, const Shape& shape, const std::string& outside,
                           Control& control, Lifeline& lifeline) {
    lifeline.hold(SIGKILL);
    require_first_process(outside);
    ::prctl(PR_SET_NAME, "rondo-switch");
    Init init{.outside = own_number_in_proc(), .inside = "", .pid_namespace = namespace_identity("self", "pid")};
    separate_mounts();
    init.inside = own_number_in_proc();
    const std::vector<NodeNamespaces> namespaces = make_nodes(directory, shape);
    Switch network(make_cables(shape), control, shape.network);
    handle(SIGTERM, ask_for_the_end);
    handle(SIGALRM, end_at_once);
    handle(SIGCHLD, SIG_IGN);  // the kernel buries the orphans that come to an init
    hurry();
    init.write(directory);
    write_file(ready_file(directory), "");

    lifeline.hold(SIGTERM);  // from now on also a supervisor that is killed leaves an orderly end behind it
    network.run(must_end, signals({}));
    // Ranks end before the network, so that the ends of their connections arrive and no socket is left waiting.
    kill_all_others(outside);
    network.finish();
    ::_exit(0);
}

int wait_for(pid_t init) {
    int status = 0;
    ::waitpid(init, &status, 0);
    return status;
}

void say_how_it_ended(const Shape& shape, int status, bool was_ready) {
    const char* when = was_ready ? "ended by itself" : "ended while it started";
    if (!WIFSIGNALED(status)) {
        // Before it was ready it has said why.
        if (was_ready) std::fprintf(stderr, "rondo-testbed: the switch %s (exit code %d)\n", when, WEXITSTATUS(status));
        return;
    }
    const int signal = WTERMSIG(status);
    std::fprintf(stderr, "rondo-testbed: the switch %s, by signal %d (%s)", when, signal, ::strsignal(signal));
    if (signal == SIGKILL) {
        std::fprintf(stderr,
                     "; the kernel does that when memory runs out (see dmesg): %u nodes take %s for packets on their "
                     "way, and %s are left here; take fewer nodes, or a lower latency or rate",
                     shape.nodes, memory_text(ring_bytes(shape)).c_str(), memory_text(memory_left()).c_str());
    }
    std::fputc('\n', stderr);
}

int supervise(const std::string& directory, const Shape& shape, pid_t init, const sigset_t& watched) {
    siginfo_t received{};
    ::sigwaitinfo(&watched, &received);
    const bool was_ready = ::access(ready_file(directory).c_str(), F_OK) == 0;
    if (received.si_signo != SIGCHLD) {
        ::kill(init, SIGTERM);
        const sigset_t child = signals({SIGCHLD});
        if (::sigtimedwait(&child, nullptr, &patience_with_init) < 0) ::kill(init, SIGKILL);
    }
    const int status = wait_for(init);
    ::unlink(ready_file(directory).c_str());
    if (received.si_signo != SIGCHLD) return 0;
    say_how_it_ended(shape, status, was_ready);
    return 1;
}

}  // namespace

int up(const UpOptions& options) {
    const pid_t parent = ::getppid();
    find_ip();
    require_memory(options.shape, memory_left());
    const std::string directory = absolute(options.directory);
    const Descriptor lock = lock_directory(directory);
    const ControlPage control = ControlPage::create(directory);
    control->nodes = options.shape.nodes;
    control->lanes = options.shape.lanes;
    control->latency_ns = options.shape.latency_ns;
    control->bits_per_second = options.shape.bits_per_second;
    describe(directory, options.shape.nodes);
    write_supervisor(directory);

    const sigset_t watched = signals({SIGTERM, SIGINT, SIGHUP, SIGCHLD});
    ::sigprocmask(SIG_BLOCK, &watched, nullptr);
    ::signal(SIGCHLD, SIG_DFL);
    const std::string outside = namespace_identity("self", "pid");
    leave_namespaces();
    if (!options.detached) {
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) return 1;
    }
    Lifeline lifeline;
    const pid_t init = ::fork();
    if (init < 0) throw system_failure("cannot start the cluster's init");
    if (init > 0) return supervise(directory, options.shape, init, watched);
    run_init(directory, options.shape, outside, *control, lifeline);
}

void down(const std::string& given_directory) {
    const std::string directory = absolute(given_directory);
    for (int attempt = 0; is_running(directory); ++attempt) {
        if (attempt == attempts_to_end) throw Failure("the cluster in " + directory + " does not end");
        // At first orderly, then not.
        if (attempt == 0 || attempt == attempts_to_end / 2) {
            ::kill(read_supervisor(directory), attempt == 0 ? SIGTERM : SIGKILL);
        }
        ::nanosleep(&between_attempts, nullptr);
    }
    ::unlink(ready_file(directory).c_str());
}

}  // namespace rondo::testbed
