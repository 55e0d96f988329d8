// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: machines in figures, and the segments that are best on them.
#include "python/rondo/_core/machine_module.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/network.hpp"
#include "rondo/selection/nodes.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

constexpr Count element_bytes = 8;
constexpr Rank most_ranks_in_lock_step = 64;  // beyond, the formula is left out: symbols take their time

nb::dict described(const Machine& machine) {
    nb::dict description;
    description["alpha"] = machine.alpha;
    description["beta"] = machine.beta;
    description["overhead"] = machine.overhead;
    description["gamma"] = machine.gamma;
    description["alpha_inside"] = machine.alpha_inside;
    description["beta_inside"] = machine.beta_inside;
    description["overhead_inside"] = machine.overhead_inside;
    const auto unless_same = [](double across, double inside) {
        return across != inside ? std::optional(across) : std::nullopt;
    };
    description["alpha_across"] = unless_same(machine.alpha_across, machine.alpha_inside);
    description["beta_across"] = unless_same(machine.beta_across, machine.beta_inside);
    description["overhead_across"] = unless_same(machine.overhead_across, machine.overhead_inside);
    description["first_pass"] = machine.first_pass;
    description["second_pass"] = machine.second_pass;
    description["lanes"] = machine.lanes;
    description["eager"] = machine.eager;
    description["rendezvous"] = machine.rendezvous;
    description["network"] =
        machine.network.empty() ? nb::object(nb::none()) : nb::object(nb::str(machine.network.c_str()));
    return description;
}

std::string_view text_of(virtual_machine::Basis basis) {
    switch (basis) {
        case virtual_machine::Basis::whole: return "whole";
        case virtual_machine::Basis::extrapolated: return "extrapolated";
        case virtual_machine::Basis::fewer_ranks: return "fewer ranks";
        case virtual_machine::Basis::standard: break;
    }
    return "standard";
}

/// The best number of segments in lock step, where T(b) = (A + B(b-1))(alpha + beta m/b): A and B from the rounds of 2
/// and of 4 segments (1 would leave out half of what works on two halves at once). 0: there is none.
double best_in_lock_step(const AlgorithmInfo& algorithm, SharedFacts facts, const virtual_machine::CostModel& costs) {
    if (facts.size > most_ranks_in_lock_step || costs.alpha <= 0 || algorithm.has_segments_of_parts) return 0;
    const auto bytes = static_cast<double>(facts.bytes());
    facts.element_bytes = 1;
    std::vector<Setting> settings = algorithm.standard_settings();
    for (Setting& setting : settings) {
        if (setting.name == segment_parameter.name) setting.value = 1;
    }
    const auto rounds = [&](Count segments) {
        facts.count = segments;
        if (algorithm.refusal(facts, settings)) return 0.0;
        return run_lock_step(virtual_machine::Problem{algorithm, facts, settings, false, facts.size}, {}).time;
    };
    const double two = rounds(2), four = rounds(4), each = (four - two) / 2, first = two - each;
    if (each <= 0 || first <= each) return 1;
    return std::max(1.0, std::round(std::sqrt((first - each) * costs.beta * bytes / (each * costs.alpha))));
}

nb::dict chosen_segment(std::string_view collective, std::string_view name, Rank processes, Count bytes,
                        std::string_view machine, std::string_view nodes, Count budget) {
    const Collective& subject = require_collective(collective);
    const Choice choice = parse_choice(subject, name);
    if (choice.algorithm == nullptr || choice.algorithm->parameter(segment_parameter.name) == nullptr) {
        throw Error(std::string(collective) + "/" + std::string(name) + " has no segments");
    }
    if (processes < 1 || bytes < element_bytes) throw Error("expected at least one process and one element of 8 bytes");
    const auto placement = nodes.empty() ? std::nullopt : std::optional(parse_nodes(nodes, processes));
    const virtual_machine::CostModel costs =
        Machine::parse(machine, "machine").costs(placement ? &*placement : nullptr);
    const SharedFacts facts = subject.facts({.size = processes,
                                             .count = bytes / element_bytes,
                                             .element_bytes = element_bytes,
                                             .op = {true},
                                             .placement = placement ? &*placement : nullptr});
    const virtual_machine::SegmentTime best = virtual_machine::best_segment(
        *choice.algorithm, facts, choice.settings, costs, budget > 0 ? budget : virtual_machine::actions_per_choice);
    nb::dict description;
    description["segment"] = best.segment;
    description["segments"] = best.segments;
    description["seconds"] = best.seconds;
    description["basis"] = text_of(best.basis);
    description["lock_step_segments"] = best_in_lock_step(*choice.algorithm, facts, costs);
    return description;
}

}  // namespace

void bind_machine(nb::module_& module) {
    module.def(
        "standard_machine", [] { return described(Machine()); },
        "The figures that are used without a machine file: alpha, overhead and rendezvous (or None) in seconds, beta "
        "gamma, first_pass and second_pass (of a prefix sum) in seconds per byte, eager in bytes or None, lanes, "
        "network "
        "(its shape, or None); those that end in _inside are of messages inside a node, in _across of those between "
        "its domains (None: the same).");
    module.def(
        "read_machine",
        [](std::string_view text, std::string_view name) { return described(Machine::parse(text, name)); }, "text"_a,
        "name"_a,
        "The figures in the text of a machine file called `name`, as `standard_machine` has them.\n\nRaises "
        "ValueError('<name>:<line>: what was expected') if a line is malformed.");
    module.def(
        "network_places",
        [](std::string_view network, std::string_view placement, Rank nodes) {
            const auto described = parse_network(network);
            std::vector<Rank> places = parse_places(placement, described.value_or(DescribedNetwork()), nodes);
            if (described) (void)virtual_machine::Network(described->shape, places);
            return places;
        },
        "network"_a, "placement"_a, "nodes"_a,
        "Where in a network such as 'fat_tree:nodes=32,taper=2' the nodes of a job are, under a placement such as "
        "'block', 'cyclic', 'random:7' or 'node[001-004,010]'.\n\nRaises ValueError for what is malformed, and for "
        "places that the network does not have.");
    module.def(
        "network_load",
        [](std::string_view network, const std::vector<std::pair<Rank, Rank>>& messages) {
            const auto described = parse_network(network);
            std::map<std::uint64_t, double> loads;
            std::vector<virtual_machine::NetworkLink> links;
            for (const auto& [from, to] : messages) {
                links.clear();
                if (described) described->shape.route(from, to, links);
                for (const auto& link : links) loads[link.number] += 1 / link.capacity;
            }
            double most = 0;
            for (const auto& [link, load] : loads) most = std::max(most, load);
            return most;
        },
        "network"_a, "messages"_a,
        "How many times as long as one node sends one of these messages, all of one length and pairs (from, to) of "
        "places in a network such as 'fat_tree:nodes=32,taper=2', its busiest link carries them; 0 if no link between "
        "nodes carries any.\n\nRaises ValueError for a malformed network.");
    module.def("chosen_segment", &chosen_segment, "collective"_a, "algorithm"_a, "processes"_a, "bytes"_a, "machine"_a,
               "nodes"_a = "", "budget"_a = 0,
               "The segment that is best for a call on a machine, the text of a machine file, whose ranks are on nodes "
               "such as 4x8 ('': each on its own): a dictionary with segment (bytes), segments, seconds "
               "(predicted), basis (how that was found) and lock_step_segments (the best number by the formula for "
               "lock step; 0 if it was not computed).\n\nRaises ValueError for an unknown algorithm, one without "
               "segments, a malformed machine, and nodes that do not fit the processes.");
}

}  // namespace rondo
