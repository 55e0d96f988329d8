// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: the algorithms, and the checks of what users write, for Python. No MPI. rondo::Error becomes ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/algorithms/bibliography.hpp"
#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/backends/virtual/trace.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/nodes.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/rules.hpp"
#include "python/rondo/_core/machine_module.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

nb::dict described(const Parameter& parameter) {
    nb::dict description;
    description["name"] = parameter.name;
    description["summary"] = parameter.summary;
    description["minimum"] = parameter.minimum;
    description["maximum"] = parameter.maximum;
    description["standard"] = parameter.standard;
    description["automatic"] = parameter.automatic;
    description["unit"] = parameter.unit == Unit::bytes ? "bytes" : "";
    nb::list names;
    for (const Alternative& each : parameter.alternatives) names.append(each.name);
    description["names"] = names;
    return description;
}

nb::dict described(const AlgorithmInfo& info) {
    nb::list parameters, requirements;
    for (const Parameter& parameter : info.parameters) parameters.append(described(parameter));
    for (const Requirement& requirement : info.requirements) requirements.append(requirement.summary);
    const Reference* reference = find_reference(info.citation);

    nb::dict description;
    description["name"] = info.name;
    description["summary"] = info.summary;
    description["citation"] = info.citation;
    description["reference"] = reference == nullptr ? std::string_view() : reference->text;
    description["parameters"] = parameters;
    description["requirements"] = requirements;
    description["uses_nodes"] = info.uses_nodes;
    return description;
}

nb::list described_collectives() {
    nb::list descriptions;
    for (const Collective& collective : collectives()) {
        nb::dict description;
        description["name"] = collective.name;
        description["summary"] = collective.summary;
        description["has_root"] = collective.has.root;
        description["has_operation"] = collective.has.operation;
        description["has_data"] = collective.has.data;
        description["all_to_all"] = collective.has.all_to_all();
        description["gathers"] = collective.has.input == Share::part;
        descriptions.append(description);
    }
    return descriptions;
}

nb::list described_algorithms(std::string_view collective) {
    nb::list descriptions;
    for (const AlgorithmInfo* info : require_collective(collective).algorithms) descriptions.append(described(*info));
    return descriptions;
}

std::string checked_choice(std::string_view collective, std::string_view text) {
    return to_string(parse_choice(require_collective(collective), text));
}

std::string_view name_of(Buffer buffer) {
    switch (buffer) {
        case Buffer::input: return "input";
        case Buffer::output: return "output";
        case Buffer::scratch: break;
    }
    return "scratch";
}

nb::tuple described(const Block& block) {
    return nb::make_tuple(name_of(block.buffer), block.first, static_cast<Count>(block.count));
}

nb::list described(const virtual_machine::Data& data) {
    nb::list pieces;
    for (const virtual_machine::Piece& piece : data) {
        const Count shift = piece.symbol.shift();
        pieces.append(nb::make_tuple(piece.offset + shift, piece.count, piece.symbol.moved(shift).text()));
    }
    return pieces;
}

nb::dict described(const virtual_machine::MessageEvent& event) {
    nb::dict description;
    description["from"] = event.from;
    description["to"] = event.to;
    description["source"] = described(event.source);
    description["target"] = described(event.target);
    description["step_from"] = event.step_from;
    description["step_to"] = event.step_to;
    description["start"] = event.start;
    description["end"] = event.end;
    description["data"] = described(event.data);
    return description;
}

nb::dict described(const virtual_machine::LocalEvent& event) {
    const bool combines = event.kind == ActionKind::combine;
    nb::dict description;
    description["rank"] = event.rank;
    description["step"] = event.step;
    description["kind"] = combines ? "combine" : "copy";
    description["left"] = described(event.left);
    if (combines) description["right"] = described(event.right);
    description["into"] = described(event.into);
    description["start"] = event.start;
    description["end"] = event.end;
    description["data"] = described(event.data);
    return description;
}

nb::dict described(const virtual_machine::RankCounts& counts) {
    nb::dict description;
    description["sent"] = counts.sent;
    description["received"] = counts.received;
    description["volume"] = counts.volume;
    description["operations"] = counts.operations;
    description["combined"] = counts.combined;
    description["time"] = counts.time;
    return description;
}

template <class Range>
nb::list described_each(const Range& range) {
    nb::list descriptions;
    for (const auto& each : range) descriptions.append(described(each));
    return descriptions;
}

virtual_machine::Execution execution_of(std::string_view mode) {
    if (mode == "lockstep") return virtual_machine::Execution::lock_step;
    if (mode == "overlapped") return virtual_machine::Execution::overlapped;
    throw Error("unknown mode '" + std::string(mode) + "'; expected lockstep or overlapped");
}

SharedFacts checked_facts(const Collective& collective, Count processes, Count count, Count element_bytes, Count root,
                          bool commutative) {
    constexpr Count most_processes = 1 << 24, most_bytes = Count{1} << 50;
    if (processes < 1 || processes > most_processes) {
        throw Error(std::to_string(processes) + " processes: expected 1 to " + std::to_string(most_processes));
    }
    if (root < 0 || root >= processes) {
        throw Error("root " + std::to_string(root) + " of " + std::to_string(processes) + " processes: expected 0 to " +
                    std::to_string(processes - 1));
    }
    if (root != 0 && !collective.has.root) throw Error(std::string(collective.name) + " has no root");
    if (!collective.has.data) element_bytes = count = 1;  // `facts` knows
    if (element_bytes < 1 || count < 0 || count > most_bytes / element_bytes) {
        throw Error(std::to_string(count) + " elements of " + std::to_string(element_bytes) +
                    " bytes: expected at least one byte each, and at most " + quantity_text(most_bytes) +
                    " bytes together");
    }
    if (collective.has.all_to_all() && count % processes != 0) {
        throw Error(std::to_string(count) + " elements for " + std::to_string(processes) +
                    " processes: expected as many for each");
    }
    return collective.facts({.size = static_cast<Rank>(processes),
                             .count = count,
                             .element_bytes = element_bytes,
                             .root = static_cast<Rank>(root),
                             .op = {commutative}});
}

/// Of messages inside a node; nothing if nothing is said.
struct InsideCosts {
    std::optional<double> alpha, beta, overhead;

    [[nodiscard]] std::optional<virtual_machine::LinkCosts> of(const virtual_machine::CostModel& costs) const {
        if (!alpha && !beta && !overhead) return std::nullopt;
        return virtual_machine::LinkCosts{alpha.value_or(costs.alpha), beta.value_or(costs.beta),
                                          overhead.value_or(costs.overhead)};
    }
};

nb::dict traced(std::string_view collective_name, std::string_view choice_text, Count processes, Count count,
                Count element_bytes, Count root, bool commutative, bool in_place, std::string_view nodes,
                std::string_view mode, double alpha, double beta, double gamma, double overhead,
                std::optional<double> alpha_inside, std::optional<double> beta_inside,
                std::optional<double> overhead_inside, int lanes, std::optional<Count> eager, double rendezvous,
                std::int64_t most_messages) {
    const Collective& collective = require_collective(collective_name);
    const Choice choice = parse_choice(collective, choice_text);
    if (choice.algorithm == nullptr)
        throw Error("what the MPI library's own " + std::string(collective.name) +
                    " does is not known; choose one of Rondo's algorithms");
    SharedFacts facts = checked_facts(collective, processes, count, element_bytes, root, commutative);
    const auto placement = nodes.empty() ? std::nullopt : std::optional(parse_nodes(nodes, facts.size));
    if (placement) facts.placement = &*placement;
    for (const double cost : {alpha, beta, gamma, overhead, alpha_inside.value_or(0), beta_inside.value_or(0),
                              overhead_inside.value_or(0), rendezvous}) {
        if (!(cost >= 0)) throw Error("costs must not be negative");
    }
    if (lanes < 1) throw Error("a node has at least one lane");
    virtual_machine::CostModel costs{.alpha = alpha,
                                     .beta = beta,
                                     .gamma = gamma,
                                     .overhead = overhead,
                                     .lanes = lanes,
                                     .eager = eager.value_or(virtual_machine::no_eager_limit),
                                     .rendezvous = rendezvous};
    costs.inside = InsideCosts{alpha_inside, beta_inside, overhead_inside}.of(costs);
    const auto settings = virtual_machine::closed_settings(*choice.algorithm, facts, choice.settings, costs);
    virtual_machine::Problem problem{*choice.algorithm, facts, settings, in_place};
    const auto equal_parts = [&](Rank, Rank) { return count / processes; };
    std::optional<virtual_machine::PartTable> parts;
    if (collective.has.local_lengths) {
        parts.emplace(facts.size, equal_parts, 0, false);
        problem.parts = &*parts;
    }
    const virtual_machine::TraceOptions options{execution_of(mode), costs, most_messages};
    const virtual_machine::Trace trace = virtual_machine::trace(problem, options);

    nb::dict description;
    description["choice"] = to_string(Choice{choice.algorithm, settings});
    description["time"] = trace.outcome.time;
    description["ranks"] = described_each(trace.outcome.ranks);
    description["messages"] = described_each(trace.messages);
    description["locals"] = described_each(trace.locals);
    return description;
}

Count quantity_of(std::string_view text) {
    if (const auto value = parse_quantity(text)) return *value;
    throw Error("'" + std::string(text) + "' is not a number; " + expected_quantity(text));
}

nb::list unreachable_rules(std::string_view text, std::string_view name) {
    nb::list found;
    for (const Rules::Unreachable& each : Rules::parse(text, name).unreachable()) {
        found.append(nb::make_tuple(each.line, each.covered_by));
    }
    return found;
}

std::optional<std::string> choice_by_rules(const std::string& text, std::string_view name, std::string_view collective,
                                           Count bytes, Rank processes, Rank ranks_per_node, bool commutative,
                                           std::string_view library, std::optional<Count> eager, Rank nodes,
                                           bool shared_memory) {
    Situation situation{.collective = require_collective(collective).name,
                        .bytes = bytes,
                        .processes = processes,
                        .ranks_per_node = ranks_per_node,
                        .nodes = nodes,
                        .commutative = commutative,
                        .shared_memory = shared_memory,
                        .library = library.empty() ? MpiLibrary::other : require_library(library)};
    if (eager) situation.eager = *eager;
    const Rules rules = Rules::parse(text, name);
    const Choice* choice = rules.match(situation);
    return choice == nullptr ? std::nullopt : std::optional(to_string(*choice));
}

std::vector<std::string_view> nearest_of(std::string_view word, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    return nearest(word, views);
}

}  // namespace
}  // namespace rondo

NB_MODULE(_core, module) {
    rondo::bind_machine(module);
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const rondo::Error& error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        }
    });

    module.doc() =
        "Rondo's algorithms and the checks of what users write. Every refusal is a ValueError that says why.";
    module.def("collectives", &rondo::described_collectives,
               "All collectives in alphabetical order: dictionaries with name, summary, has_root, has_operation, "
               "has_data, all_to_all: has each rank a vector of its own? and gathers: does every rank put in a part of "
               "the vector?");
    module.def(
        "algorithms", &rondo::described_algorithms, "collective"_a,
        "The algorithms of a collective: dictionaries with name, summary, citation (a key), reference (its text), "
        "requirements (one line each) and parameters (dictionaries with name, summary, minimum, maximum, "
        "standard, unit: 'bytes' or '', names: of the values from 0 on, or none), uses_nodes.\n\nRaises ValueError for "
        "an unknown collective.");
    module.def("check_choice", &rondo::checked_choice, "collective"_a, "text"_a,
               "The choice, such as 'linear_pipeline:segment=4Ki', with every setting written out.\n\n"
               "Raises ValueError if there is no such algorithm, parameter or value.");
    module.def(
        "check_rules", &rondo::unreachable_rules, "text"_a, "name"_a,
        "Reads the text of a rules file called `name`, and gives the rules that never decide: for each its line, "
        "and the lines of the rules above it that match all its calls.\n\nRaises ValueError('<name>:<line>: what "
        "was wrong') if one is malformed.");
    module.def(
        "choice_by_rules", &rondo::choice_by_rules, "text"_a, "name"_a, "collective"_a, "bytes"_a, "processes"_a,
        "ranks_per_node"_a = 0, "commutative"_a = true, "library"_a = "", "eager"_a = nb::none(), "nodes"_a = 0,
        "shared_memory"_a = false,
        "What the text of a rules file called `name` says of a call, as `check_choice` writes it; None if it says "
        "nothing. eager: bytes of the longest message that waits for no receiver; None: of any length.\n\nRaises "
        "ValueError if the rules are malformed, or the collective or the library ('mpich', "
        "'openmpi', 'impi') is unknown.");
    module.def("nearest", &rondo::nearest_of, "word"_a, "known"_a,
               "At most three of the known names that the word may be a misspelling of, nearest first.");
    module.def("trace", &rondo::traced, "collective"_a, "choice"_a, "processes"_a, "count"_a, nb::kw_only(),
               "element_bytes"_a = 8, "root"_a = 0, "commutative"_a = false, "in_place"_a = false, "nodes"_a = "",
               "mode"_a = "lockstep", "alpha"_a = 1.0, "beta"_a = 0.0, "gamma"_a = 0.0, "overhead"_a = 0.0,
               "alpha_inside"_a = nb::none(), "beta_inside"_a = nb::none(), "overhead_inside"_a = nb::none(),
               "lanes"_a = 1, "eager"_a = nb::none(), "rendezvous"_a = 0.0, "most_messages"_a = 0,
               "Runs all ranks of a choice such as 'linear_pipeline:segment=4Ki' in virtual time, 'lockstep' (with the "
               "standard costs, time is the number of rounds) or 'overlapped', and says what happened: a dictionary "
               "with\n"
               "choice: with every setting written out, open ones as they are best under these costs; time: of the "
               "slowest rank;\n"
               "ranks: dictionaries with sent, received (messages), volume (elements sent), operations, combined "
               "(elements that they produced), time;\n"
               "messages, by start: from, to, source, target (blocks: buffer, first element, count), step_from, "
               "step_to, start, end, data (pieces: first element, count, and which inputs it combines: 'V0..V3');\n"
               "locals, by end: rank, step, kind ('combine' or 'copy'), left, right (not of a copy), into, start, end, "
               "data (of `into`).\n"
               "alpha is the time of a message, beta per byte, gamma per byte that an operator produces, overhead of "
               "the processor per message sent or received. nodes: where ranks are, as in 4x8 or 4,4,3 ('': each on a "
               "node of its own). Messages inside a node take the costs that end in _inside; None: those of all. The "
               "ranks of a node share its lanes to others. Messages of more bytes than eager (None: none) ask their "
               "receivers, which takes rendezvous in addition.\n\n"
               "Raises ValueError for an unknown choice, a call that makes no sense or that the algorithm refuses, and "
               "beyond `most_messages` (0: no limit).");
    module.def("ranks_on_nodes", &rondo::parse_ranks_on_nodes, "text"_a,
               "The ranks on each node that a text such as '4x8' or '4,4,3' describes.\n\nRaises ValueError if it "
               "describes none.");
    module.def("quantity", &rondo::quantity_of, "text"_a,
               "The whole number that a text such as '64Ki' or '1M' stands for.\n\nRaises ValueError if it is none.");
    module.def("quantity_text", &rondo::quantity_text, "value"_a,
               "The shortest text that stands for a whole number: 65536 is '64Ki'.");
}
