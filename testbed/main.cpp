// SPDX-License-Identifier: BSD-3-Clause
// rondo-testbed: an emulated cluster for unmodified MPI programs.
#include <cstdio>
#include <exception>
#include <string>

#include "testbed/cluster.hpp"
#include "testbed/enter.hpp"
#include "testbed/failure.hpp"
#include "testbed/network_control.hpp"
#include "testbed/options.hpp"

namespace rondo::testbed {
namespace {

constexpr const char* help =
    R"(rondo-testbed: an emulated cluster for unmodified MPI programs, on one Linux machine, without privileges.

  rondo-testbed up --directory DIR --nodes N --latency-us X --rate-mbit Y [--lanes K]
                   [--per-node R] [--network SHAPE] [--detached]
      Makes N nodes, each with a network, host name, shared memory and temporary directory of its own, and a switch
      between them: n bytes arrive X us + 8 n / Y us after they were sent. Runs until SIGTERM or SIGINT, or until its
      parent ends; --detached lets it outlive its parent. R ranks will run on each node (1): by them
      memory is taken. The network may have a shape, as fat_tree:nodes=4,taper=2, whose links messages share. DIR exists; DIR/ready appears when the cluster can be used.
  rondo-testbed enter DIR NODE -- COMMAND...
      Runs a command on a node (node0 or 0, node1, ...) or on head, where launchers run and whose traffic is undelayed.
      Passes terminal, signals and exit code through.
  rondo-testbed set DIR [latency-us=X] [rate-mbit=Y]
      Changes the network while it runs.
  rondo-testbed stat DIR [--reset]
      One JSON object: the network's figures, what the switch counted, segments that TCP sent again on each node.
  rondo-testbed down DIR
      Ends the cluster and everything that runs on it, and waits until it is gone.
  DIR/ssh [options] [user@]host command...
      Stands in for ssh. DIR/hosts and DIR/addresses list the nodes.

Example:
  mkdir /tmp/c && rondo-testbed up --directory /tmp/c --nodes 8 --latency-us 2000 --rate-mbit 200 &
  rondo-testbed enter /tmp/c head -- mpiexec -launcher ssh -launcher-exec /tmp/c/ssh -f /tmp/c/hosts -iface lane0 \
      -ppn 1 -genv UCX_NET_DEVICES lane0 -genv UCX_TLS tcp,self,sysv,posix,cma -n 8 ./program

Exit code: 0, 1 with a line that says why on standard error, or that of the command entered.
)";

int run(const Words& words) {
    const std::string command = words.empty() ? "--help" : words[0];
    if (command == "--help" || command == "-h" || command == "help") {
        std::fputs(help, stdout);
        return 0;
    }
    const Words rest(words.begin() + 1, words.end());
    if (command == "up") return up(parse_up(rest));
    if (rest.empty()) throw Failure(command + ": expected a cluster's directory; see rondo-testbed --help");
    if (command == "down") {
        down(rest[0]);
    } else if (command == "set") {
        change_network(rest[0], parse_change(std::span(rest).subspan(1)));
    } else if (command == "stat") {
        print_statistics(rest[0], rest.size() > 1 && rest[1] == "--reset");
    } else if (command == "ssh") {
        const RemoteCommand remote = parse_ssh(std::span(rest).subspan(1));
        return enter(rest[0], remote.host, {"/bin/sh", "-c", remote.command});
    } else if (command == "enter") {
        if (rest.size() < 4 || rest[2] != "--") throw Failure("enter: expected DIR NODE -- COMMAND...");
        return enter(rest[0], rest[1], {rest.begin() + 3, rest.end()});
    } else {
        throw Failure("no command " + command + "; see rondo-testbed --help");
    }
    return 0;
}

}  // namespace
}  // namespace rondo::testbed

int main(int count, char** words) {
    try {
        return rondo::testbed::run({words + 1, words + count});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rondo-testbed: %s\n", error.what());
        return 1;
    }
}
