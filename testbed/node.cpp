// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/node.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "testbed/addresses.hpp"
#include "testbed/failure.hpp"
#include "testbed/iproute.hpp"

namespace rondo::testbed {
namespace {

// The emulated network loses nothing and keeps the order, so TCP must neither probe for a rate nor guess at losses:
// what a rank sends is to be under way at once, and time is to be the switch's affair.
constexpr std::pair<const char*, const char*> settings[] = {
    {"ipv4/tcp_congestion_control", "reno"},
    {"ipv4/tcp_slow_start_after_idle", "0"},
    {"ipv4/tcp_no_metrics_save", "1"},
    {"ipv4/tcp_early_retrans", "0"},
    {"ipv4/tcp_recovery", "0"},
    {"ipv4/tcp_timestamps", "0"},
    {"ipv4/tcp_rmem", "4096 4194304 33554432"},
    // Connections whose other end died with its node must not hold memory for long.
    {"ipv4/tcp_orphan_retries", "1"},
    {"ipv4/tcp_retries2", "3"},
    {"ipv4/tcp_fin_timeout", "2"},
    {"ipv4/conf/all/rp_filter", "0"},
    {"ipv4/conf/default/rp_filter", "0"},
    {"ipv6/conf/all/disable_ipv6", "1"},
    {"ipv6/conf/default/disable_ipv6", "1"},
};

constexpr std::size_t most_send_buffer = std::size_t{32} << 20U;

void apply_settings() {
    for (const auto& [name, value] : settings) {
        const std::string path = std::string("/proc/sys/net/") + name;
        if (::access(path.c_str(), F_OK) == 0) write_file(path, value);
    }
}

std::string network_commands(unsigned node, unsigned nodes, const std::string& home_network) {
    const std::string address = address_text(node, nodes);
    // The ring of the head's many packets has short slots.
    const std::string segments = node == nodes ? "gso_max_segs 1 " : "";
    return "link set lo up\n"
           "link add lane0 mtu 9000 txqueuelen 20000 gso_max_size 65536 " +
           segments +
           "address 02:00:00:00:00:01 type veth peer "
           "name " +
           port_name(node) + " mtu 9000 gso_max_size 65536 address 02:00:00:00:00:02 netns " + home_network +
           "\n"
           "link set lane0 arp off up\n"
           "addr add " +
           address + "/" + network_bits +
           " dev lane0 noprefixroute\n"
           "route add " +
           network + " dev lane0 src " + address + " initcwnd 2000 initrwnd 2000 quickack 1 rto_min 3s\n";
}

void mount_own(const std::string& cluster_directory) {
    if (::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        throw system_failure("cannot mount a node's /dev/shm");
    }
    const std::string temporary = temporary_directory(cluster_directory);
    if (::mount("tmpfs", temporary.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        throw system_failure("cannot mount " + temporary);
    }
    // UCX looks for network devices in /sys, which shows those of whoever mounted it.
    constexpr unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    if (::mount("sysfs", "/sys", "sysfs", flags, nullptr) != 0 &&
        ::mount("sysfs", "/sys", "sysfs", flags | MS_RDONLY, nullptr) != 0) {
        std::perror("rondo-testbed: warning: nodes show the machine's /sys, so MPICH may not find lane0");
    }
}

}  // namespace

std::string temporary_directory(const std::string& cluster_directory) { return cluster_directory + "/tmp"; }

std::string port_name(unsigned node) { return "port" + std::to_string(node); }

// Enough to keep a lane busy while acknowledgements travel. More lets a rank copy a long message out at one go, and the
// others on its core, who start at the same time, start late: 8 ranks on 2 cores that each sent 1 MiB to the next (44
// ms by the model) took 44.9 ms with 256 KiB, 46.9 ms without a limit.
std::size_t send_buffer(std::uint64_t latency_ns, std::uint64_t bits_per_second) {
    constexpr double least = 256 << 10U, latencies = 4;
    const double flying = static_cast<double>(latency_ns) * 1e-9 * static_cast<double>(bits_per_second) / 8;
    return static_cast<std::size_t>(std::min(least + latencies * flying, static_cast<double>(most_send_buffer)));
}

void size_send_buffers(std::uint64_t latency_ns, std::uint64_t bits_per_second) {
    const std::string size = std::to_string(send_buffer(latency_ns, bits_per_second));
    write_file("/proc/sys/net/ipv4/tcp_wmem", "4096 " + size + " " + size);
}

NodeNamespaces make_node(unsigned node, const Shape& shape, const std::string& cluster_directory,
                         const std::string& init, const NodeNamespaces& home) {
    const unsigned nodes = shape.nodes;
    int flags = 0;
    for (const NodeNamespace& each : node_namespaces) flags |= each.flag;
    if (::unshare(flags) != 0) throw refused("cannot make the namespaces of node " + std::to_string(node));
    NodeNamespaces own;
    own.hold_for(node);

    const std::string name = name_of(node, nodes);
    if (::sethostname(name.c_str(), name.size()) != 0) throw system_failure("cannot name a node");
    mount_own(cluster_directory);
    apply_settings();
    size_send_buffers(shape.latency_ns, shape.bits_per_second);
    run_ip(network_commands(node, nodes, home.network_path(init)));

    home.enter();
    return own;
}

}  // namespace rondo::testbed
