// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/options.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "rondo/selection/network.hpp"
#include "testbed/addresses.hpp"
#include "testbed/failure.hpp"

namespace rondo::testbed {
namespace {

constexpr double longest_latency_us = 60e6;
// ssh's options that take a value, which may be the next word.
constexpr std::string_view ssh_options_with_value = "BbcDEeFIiJLlmOoPpQRSWw";

template <class Number>
Number parse_number(const std::string& text, const std::string& what) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) {
        throw Failure(what + " is " + (text.empty() ? "empty" : text) + "; expected a number");
    }
    return value;
}

std::uint64_t parse_latency(const std::string& text) {
    const auto microseconds = parse_number<double>(text, "the latency in microseconds");
    if (!(microseconds >= 0 && microseconds <= longest_latency_us)) {
        throw Failure("a latency of " + text + " us; expected 0 to 60000000");
    }
    return static_cast<std::uint64_t>(std::llround(microseconds * 1e3));
}

std::uint64_t parse_rate(const std::string& text) {
    const auto megabits = parse_number<double>(text, "the rate in Mbit/s");
    if (!(megabits >= 0.001 && megabits <= 1e6)) {
        throw Failure("a rate of " + text + " Mbit/s; expected 0.001 or more");
    }
    return static_cast<std::uint64_t>(std::llround(megabits * 1e6));
}

std::optional<virtual_machine::NetworkShape> parse_shape(const std::string& text) {
    const auto network = parse_network(text);
    return network ? std::optional(network->shape) : std::nullopt;
}

std::string decimal(double value) {
    std::string text = std::to_string(std::round(value * 10) / 10);
    return text.substr(0, text.find('.') + 2);
}

}  // namespace

void check(const Shape& shape) {
    if (shape.nodes == 0 || shape.nodes > most_nodes) {
        throw Failure("a cluster of " + std::to_string(shape.nodes) + " nodes; expected 1 to " +
                      std::to_string(most_nodes));
    }
    if (shape.per_node == 0 || shape.per_node > most_per_node) {
        throw Failure(std::to_string(shape.per_node) + " ranks a node; expected 1 to " + std::to_string(most_per_node));
    }
    if (shape.lanes == 0 || shape.lanes > most_lanes) {
        throw Failure(std::to_string(shape.lanes) + " lanes a node; expected 1 to " + std::to_string(most_lanes));
    }
    const Count places = shape.network ? shape.network->places() : most_nodes;
    if (places < Count{shape.nodes}) {
        throw Failure("a network of " + std::to_string(places) + " nodes; the cluster has " +
                      std::to_string(shape.nodes));
    }
    const double total = static_cast<double>(shape.bits_per_second) * shape.nodes * shape.lanes;
    if (total > most_bits_per_second) {
        throw Failure("all lanes together would send " + decimal(total / 1e9) + " Gbit/s, and the switch carries " +
                      decimal(most_bits_per_second / 1e9) + " Gbit/s; lower the rate, the lanes or the nodes");
    }
}

UpOptions parse_up(const Words& words) {
    UpOptions options;
    bool has_latency = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& option = words[i];
        if (option == "--detached") {
            options.detached = true;
            continue;
        }
        if (i + 1 == words.size()) throw Failure("up: option " + option + " needs a value; see rondo-testbed --help");
        const std::string& value = words[++i];
        if (option == "--directory") options.directory = value;
        else if (option == "--nodes") options.shape.nodes = parse_number<unsigned>(value, "the number of nodes");
        else if (option == "--per-node") options.shape.per_node = parse_number<unsigned>(value, "the ranks of a node");
        else if (option == "--lanes") options.shape.lanes = parse_number<unsigned>(value, "the number of lanes");
        else if (option == "--network") options.shape.network = parse_shape(value);
        else if (option == "--rate-mbit") options.shape.bits_per_second = parse_rate(value);
        else if (option == "--latency-us") {
            options.shape.latency_ns = parse_latency(value);
            has_latency = true;
        } else throw Failure("up: no option " + option + "; see rondo-testbed --help");
    }
    if (options.directory.empty() || !has_latency || options.shape.bits_per_second == 0) {
        throw Failure("up needs --directory, --nodes, --latency-us and --rate-mbit; see rondo-testbed --help");
    }
    check(options.shape);
    return options;
}

Change parse_change(std::span<const std::string> words) {
    Change change;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (name == "latency-us") change.latency_ns = parse_latency(value);
        else if (name == "rate-mbit") change.bits_per_second = parse_rate(value);
        else throw Failure("set: " + word + "; expected latency-us=NUMBER or rate-mbit=NUMBER");
    }
    if (!change.latency_ns && !change.bits_per_second)
        throw Failure("set: expected latency-us=NUMBER or rate-mbit=NUMBER");
    return change;
}

RemoteCommand parse_ssh(std::span<const std::string> words) {
    std::size_t at = 0;
    while (at < words.size() && words[at].starts_with('-')) {
        const std::string& option = words[at++];
        if (option.size() == 2 && ssh_options_with_value.find(option[1]) != std::string_view::npos) ++at;
    }
    if (at + 1 >= words.size()) throw Failure("ssh: expected [options] [user@]host command...");
    RemoteCommand remote{.host = words[at].substr(words[at].find('@') + 1), .command = words[at + 1]};
    for (at += 2; at < words.size(); ++at) remote.command += " " + words[at];
    return remote;
}

}  // namespace rondo::testbed
