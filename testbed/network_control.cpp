// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/network_control.hpp"

#include <fcntl.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "testbed/control_page.hpp"
#include "testbed/directory.hpp"
#include "testbed/failure.hpp"
#include "testbed/namespaces.hpp"
#include "testbed/node.hpp"

namespace rondo::testbed {
namespace {

// The column of a name, in a table like /proc/net/snmp: a line of names, then one of numbers.
std::string value_of(const std::string& table, const std::string& protocol, const std::string& name) {
    std::istringstream lines(table);
    for (std::string names, numbers; std::getline(lines, names) && std::getline(lines, numbers);) {
        if (!names.starts_with(protocol + ":")) continue;
        std::istringstream all_names(names), all_numbers(numbers);
        for (std::string each, number; all_names >> each && all_numbers >> number;) {
            if (each == name) return number;
        }
    }
    return "0";
}

// Does something in the network namespace of each node, and stays in the last.
template <class Action>
void on_all_nodes(const std::string& directory, unsigned nodes, const Action& action) {
    const Init init = Init::read(directory);
    const std::string& process = init.number();
    std::vector<NodeNamespaces> all;
    all.reserve(nodes);
    for (unsigned node = 0; node < nodes; ++node) all.push_back(NodeNamespaces::find(process, node));
    if (namespace_identity("self", "user") != namespace_identity(process, "user")) {
        enter_namespace(open_file("/proc/" + process + "/ns/user", O_RDONLY), "user");
    }
    for (const NodeNamespaces& each : all) {
        each.enter_network();
        action();
    }
}

// Segments that the TCP of each node has sent again.
std::string retransmitted(const std::string& directory, unsigned nodes) {
    std::string list;
    on_all_nodes(directory, nodes, [&list] {
        list += (list.empty() ? "" : ", ") + value_of(read_file("/proc/self/net/snmp"), "Tcp", "RetransSegs");
    });
    return list;
}

}  // namespace

void change_network(const std::string& given_directory, const Change& change) {
    const std::string directory = absolute(given_directory);
    require_running(directory);
    const ControlPage control = ControlPage::open(directory);
    const Shape shape{.nodes = control->nodes,
                      .lanes = control->lanes,
                      .latency_ns = change.latency_ns.value_or(control->latency_ns),
                      .bits_per_second = change.bits_per_second.value_or(control->bits_per_second)};
    check(shape);
    control->latency_ns = shape.latency_ns;
    control->bits_per_second = shape.bits_per_second;
    on_all_nodes(directory, shape.nodes, [&] { size_send_buffers(shape.latency_ns, shape.bits_per_second); });
}

void print_statistics(const std::string& given_directory, bool reset) {
    const std::string directory = absolute(given_directory);
    require_running(directory);
    const ControlPage control = ControlPage::open(directory);
    std::string text =
        "{\"nodes\": " + std::to_string(control->nodes) + ", \"lanes\": " + std::to_string(control->lanes);
    const std::pair<const char*, Counter&> figures[] = {{"latency_ns", control->latency_ns},
                                                        {"bits_per_second", control->bits_per_second},
                                                        {"queued", control->queued}};
    std::pair<const char*, Counter&> counters[] = {{"packets", control->packets},
                                                   {"bytes", control->bytes},
                                                   {"dropped", control->dropped},
                                                   {"worst_lateness_ns", control->worst_lateness_ns},
                                                   {"lateness_sum_ns", control->lateness_sum_ns},
                                                   {"most_queued", control->most_queued},
                                                   {"busy_ns", control->busy_ns}};
    for (const auto& [name, value] : figures) text += std::string(", \"") + name + "\": " + std::to_string(value);
    for (auto& [name, value] : counters) {
        const std::uint64_t count = reset ? value.exchange(0) : value.load();
        text += std::string(", \"") + name + "\": " + std::to_string(count);
    }
    text += ", \"retransmitted\": [" + retransmitted(directory, control->nodes) + "]}";
    std::puts(text.c_str());
}

}  // namespace rondo::testbed
