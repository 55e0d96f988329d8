// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: all ranks of a choice, run in virtual time.
#include "python/rondo/_core/trace_module.hpp"

#include <algorithm>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/prediction.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/backends/virtual/timing.hpp"
#include "rondo/backends/virtual/trace.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/network.hpp"
#include "rondo/selection/nodes.hpp"
#include "python/rondo/_core/described_call.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

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
                std::int64_t most_messages, const std::vector<double>& ready) {
    const Collective& collective = require_collective(collective_name);
    const Choice choice = known_choice(collective, choice_text);
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
    const EqualParts parts(collective, facts, count);
    const virtual_machine::Problem problem{.algorithm = *choice.algorithm,
                                           .facts = facts,
                                           .settings = settings,
                                           .in_place = in_place,
                                           .parts = parts.table()};
    const virtual_machine::TraceOptions options{execution_of(mode), costs, most_messages, ready};
    const virtual_machine::Trace trace = virtual_machine::trace(problem, options);

    nb::dict description;
    description["choice"] = to_string(Choice{choice.algorithm, settings});
    description["time"] = trace.outcome.time;
    description["ranks"] = described_each(trace.outcome.ranks);
    description["messages"] = described_each(trace.messages);
    description["locals"] = described_each(trace.locals);
    return description;
}

std::vector<double> timed(std::string_view collective, std::string_view choice, Count processes, Count count,
                          const std::vector<std::string>& machines, Count element_bytes, Count root,
                          std::string_view nodes, bool fluid, Count most_messages, const std::vector<double>& ready) {
    const DescribedCall call(collective, choice, processes, count, element_bytes, root, nodes, most_messages);
    std::vector<double> times;
    std::vector<Setting> planned;
    std::optional<virtual_machine::Timing> timing;  // with those settings
    for (const std::string& text : machines) {
        virtual_machine::CostModel costs = Machine::parse(text, "machine").costs(call.facts().placement);
        auto settings = call.settings_on(costs);
        if (!timing || !std::ranges::equal(settings, planned, {}, &Setting::value, &Setting::value)) {
            planned = std::move(settings);
            timing.reset();  // the memory of one at a time
            timing = virtual_machine::Timing::of(call.problem(planned), {}, most_messages);
            if (!timing) throw DescribedCall::too_many(most_messages);
        }
        costs.fluid = fluid;  // not when segments are chosen: programs have no time for that
        times.push_back(timing->time(costs, call.facts().element_bytes, ready));
    }
    return times;
}

std::string_view name_of(virtual_machine::Means means) {
    switch (means) {
        case virtual_machine::Means::whole: return "whole";
        case virtual_machine::Means::one_node: return "one node";
        case virtual_machine::Means::equal_parts: return "equal parts";
        case virtual_machine::Means::few_segments: break;
    }
    return "few segments";
}

/// The nodes of a call in the network; nothing if that makes no difference to its messages.
std::optional<virtual_machine::Network> network_of(const SharedFacts& facts, std::string_view network,
                                                   std::string_view placement) {
    const auto described = network.empty() ? std::nullopt : parse_network(network);
    if (!described) return std::nullopt;
    const Rank nodes = virtual_machine::NodesOf(facts).size();
    virtual_machine::Network found(described->shape, parse_places(placement, *described, nodes));
    return found.is_flat() ? std::nullopt : std::optional(std::move(found));
}

nb::dict predicted(std::string_view collective, std::string_view choice, Count processes, Count count,
                   std::string_view machine, Count element_bytes, Count root, std::string_view nodes,
                   Count most_messages, bool is_step_by_step, std::string_view network, std::string_view placement) {
    const auto found = [&] {
        const nb::gil_scoped_release others_go_on;
        const DescribedCall call(collective, choice, processes, count, element_bytes, root, nodes, most_messages);
        virtual_machine::CostModel costs = Machine::parse(machine, "machine").costs(call.facts().placement);
        const auto settings = call.settings_on(costs);
        const auto shaped = network_of(call.facts(), network, placement);
        virtual_machine::PredictionLimits limits;
        limits.alike = !shaped;
        limits.whole = std::min(limits.whole, most_messages);
        limits.messages = most_messages;
        if (is_step_by_step) limits.flight = step_by_step;
        auto predictor = virtual_machine::Predictor::of(call.problem(settings), limits);
        if (!predictor) throw DescribedCall::too_many(most_messages);
        costs.fluid = true;
        if (shaped) costs.network = &*shaped;
        return predictor->predict(costs);
    }();
    nb::dict description;
    description["seconds"] = found.seconds;
    description["means"] = name_of(found.means);
    description["change"] = found.change;
    return description;
}

}  // namespace

void bind_trace(nb::module_& module) {
    module.def("trace", &traced, "collective"_a, "choice"_a, "processes"_a, "count"_a, nb::kw_only(),
               "element_bytes"_a = 8, "root"_a = 0, "commutative"_a = false, "in_place"_a = false, "nodes"_a = "",
               "mode"_a = "lockstep", "alpha"_a = 1.0, "beta"_a = 0.0, "gamma"_a = 0.0, "overhead"_a = 0.0,
               "alpha_inside"_a = nb::none(), "beta_inside"_a = nb::none(), "overhead_inside"_a = nb::none(),
               "lanes"_a = 1, "eager"_a = nb::none(), "rendezvous"_a = 0.0, "most_messages"_a = 0,
               "ready"_a = std::vector<double>(),
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
               "receivers, which takes rendezvous in addition. ready: when each rank comes to the call, overlapped; "
               "empty: all "
               "at 0.\n\n"
               "Raises ValueError for an unknown choice, a call that makes no sense or that the algorithm refuses, and "
               "beyond `most_messages` (0: no limit).");
    module.def(
        "times", &timed, "collective"_a, "choice"_a, "processes"_a, "count"_a, "machines"_a, nb::kw_only(),
        "element_bytes"_a = 8, "root"_a = 0, "nodes"_a = "", "fluid"_a = false, "most_messages"_a = Count{1} << 21,
        "ready"_a = std::vector<double>(), nb::call_guard<nb::gil_scoped_release>(),
        "When the slowest rank has finished, in seconds of virtual time, overlapped, on each of these machines "
        "(texts of machine files): as `trace` finds it, but nothing is checked and nothing written down, so "
        "that thousands of ranks can be timed. fluid: messages share lanes, and short sends are buffered, as on "
        "real networks; segments are chosen without that, as programs do. ready: when each rank comes to the call; "
        "empty: all at 0.\n\nRaises ValueError as `trace` does, for a malformed machine, and beyond `most_messages`.");
    module.def(
        "predict", &predicted, "collective"_a, "choice"_a, "processes"_a, "count"_a, "machine"_a, nb::kw_only(),
        "element_bytes"_a = 8, "root"_a = 0, "nodes"_a = "",
        "most_messages"_a = virtual_machine::PredictionLimits{}.messages, "step_by_step"_a = false, "network"_a = "",
        "placement"_a = "block",
        "What `times` finds with messages that share lanes, for up to a million ranks: no more is run than says what "
        "the "
        "whole takes. A dictionary with\n"
        "seconds: of the slowest rank;\n"
        "means: 'whole' if all ranks were run; 'one node' that stands for all, where the schedule is the same from "
        "each; "
        "'equal parts': that, as if all parts were as long as the longest; 'few segments' of a pipeline;\n"
        "change: of few segments, how far the seconds change, relatively, if further segments take as long as between "
        "the first samples and not as between the last.\n\n"
        "step_by_step: a rank starts no step before all those before it are over, as MPI libraries do that send and "
        "receive and wait. network: whose links messages share, as in 'fat_tree:nodes=32,taper=2' ('': none), with "
        "nodes placed as `network_places` says.\n"
        "The answer depends on counts only, not on how fast it is found. Raises ValueError as `times` does.");
}

}  // namespace rondo
