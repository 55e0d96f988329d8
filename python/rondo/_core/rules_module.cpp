// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: what rules files say of calls, and why.
#include "python/rondo/_core/rules_module.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/closing.hpp"
#include "rondo/selection/conditions.hpp"
#include "rondo/selection/eager_limit.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/native.hpp"
#include "rondo/selection/nodes.hpp"
#include "rondo/selection/proposal.hpp"
#include "rondo/selection/rules.hpp"
#include "rondo/selection/written_proof.hpp"
#include "python/rondo/_core/described_call.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

nb::list unreachable_rules(std::string_view text, std::string_view name) {
    const Rules rules = Rules::parse(text, name);
    for (const Collective& collective : collectives()) {
        for (const Choice* choice : rules.choices(collective.name)) {
            if (is_written(*choice)) prove(*choice->algorithm);
        }
    }
    nb::list found;
    for (const Rules::Unreachable& each : rules.unreachable()) {
        found.append(nb::make_tuple(each.line, each.covered_by));
    }
    return found;
}

std::optional<std::string> choice_by_rules(const std::string& text, std::string_view name, std::string_view collective,
                                           Count bytes, Rank processes, Rank ranks_per_node, bool commutative,
                                           std::string_view library, std::optional<Count> eager, Rank nodes,
                                           bool shared_memory, bool oversubscribed) {
    Situation situation{.collective = require_collective(collective).name,
                        .bytes = bytes,
                        .processes = processes,
                        .ranks_per_node = ranks_per_node,
                        .nodes = nodes,
                        .commutative = commutative,
                        .shared_memory = shared_memory,
                        .oversubscribed = oversubscribed,
                        .library = library.empty() ? MpiLibrary::other : require_library(library)};
    if (eager) situation.eager = *eager;
    const Rules rules = Rules::parse(text, name);
    const Choice* choice = rules.match(situation);
    return choice == nullptr ? std::nullopt : std::optional(to_string(*choice));
}

/// What a user calls a library: its name, or its version.
nb::dict described_library(std::string_view text) {
    const bool is_version = text.find(' ') != std::string_view::npos;
    const MpiLibrary library = is_version ? library_of(text) : require_library(text);
    const auto number = static_cast<Count>(library);
    const std::string version(is_version ? text : usual_version_of(library));
    nb::dict description;
    description["name"] = number == 0 ? std::string() : value_text(Rules::library, {number, number});
    description["version"] = version;
    description["eager"] = eager_limit_of(version);
    description["native_rules"] = native_rules_of(version);
    return description;
}

double correction_of_native(const std::vector<std::tuple<Count, Rank, Rank, double>>& measured, Count bytes,
                            Rank processes, Rank nodes) {
    std::vector<MeasuredClass> classes;
    for (const auto& [length, ranks, on_nodes, ratio] : measured) {
        if (!(ratio > 0)) throw Error("a ratio of times is above 0");
        classes.push_back({length, ranks, on_nodes, ratio});
    }
    return native_correction(classes, bytes, processes, nodes);
}

/// One call, as the user describes it.
struct Asked {
    const Collective& collective;
    SharedFacts facts;
    Placement placement;

    /// As the preload library knows it. Nodes are looked for only where a rule may depend on them.
    [[nodiscard]] SharedFacts known_facts(bool knows_nodes) const {
        SharedFacts known = facts;
        known.placement = knows_nodes ? &placement : nullptr;
        return known;
    }
};

/// What becomes of a choice: why it refuses the call, or with which settings it serves it.
nb::dict outcome_of(const Choice& choice, const Asked& asked, bool knows_nodes, const Machine& machine) {
    const AlgorithmInfo& algorithm = *choice.algorithm;
    SharedFacts facts = asked.known_facts(knows_nodes && algorithm.uses_nodes);
    nb::dict outcome;
    outcome["algorithm"] = algorithm.name;
    outcome["choice"] = to_string(choice);
    outcome["closed"] = nb::none();
    outcome["refusal"] = nb::none();
    outcome["needs"] = nb::none();
    if (const Requirement* unmet = algorithm.unmet(facts, choice.settings)) {
        outcome["refusal"] = unmet->unmet(facts, choice.settings).value_or("");
        outcome["needs"] = unmet->summary;
        return outcome;
    }
    facts = asked.known_facts(knows_nodes);
    outcome["closed"] = to_string(Choice{&algorithm, settings_for(choice, facts, machine)});
    return outcome;
}

nb::dict explained(std::string_view rules_text, std::string_view rules_name, std::string_view collective_name,
                   Count processes, Count count, std::string_view machine_text, Count element_bytes, Count root,
                   bool commutative, std::string_view nodes, std::string_view version, bool shared_memory,
                   std::string_view choice_text, bool oversubscribed) {
    const Collective& collective = require_collective(collective_name);
    const Rules rules = Rules::parse(rules_text, rules_name);
    Machine machine = Machine::parse(machine_text, "machine");
    if (!machine.eager) machine.eager = eager_limit_of(version);
    const SharedFacts facts = checked_facts(collective, processes, count, element_bytes, root, commutative);
    const Asked asked = {collective, facts,
                         nodes.empty() ? Placement::regular(facts.size, 1) : parse_nodes(nodes, facts.size)};
    std::optional<Choice> forced;
    if (!choice_text.empty()) forced = parse_choice(collective, choice_text);
    const Situation situation{.collective = collective.name,
                              .bytes = facts.bytes(),
                              .processes = facts.size,
                              .commutative = commutative,
                              .shared_memory = shared_memory,
                              .oversubscribed = oversubscribed,
                              .library = library_of(version),
                              .eager = *machine.eager};
    const bool knows_nodes = rules.ask_nodes() || (forced && forced->uses_nodes());
    Rules::Explanation found;
    if (!forced) found = rules.explain(situation, knows_nodes ? Spread::of(asked.placement) : Spread());
    const Choice* choice = forced ? &*forced : found.choice;
    const std::string said = choice == nullptr ? "" : to_string(*choice);
    std::optional<Proposal> proposal;
    if (choice != nullptr && choice->is_predicted) {
        proposal = proposed(collective, typical_call(collective, asked.known_facts(knows_nodes)), machine);
        choice = proposal ? &proposal->choice : nullptr;
    }

    nb::list passed_over, candidates;
    for (const Rules::PassedOver& each : found.passed_over) {
        nb::dict description;
        description["line"] = each.line;
        description["choice"] = to_string(*each.choice);
        description["condition"] = each.condition;
        description["value"] = each.value;
        passed_over.append(description);
    }
    const std::string chosen = choice == nullptr ? "" : to_string(*choice);
    std::set<std::string> added;  // two choices may come to the same settings
    const auto add = [&](const Choice& candidate) {
        const std::string text = to_string(candidate);
        if (!added.insert(text).second) return;
        nb::dict outcome = outcome_of(candidate, asked, knows_nodes, machine);
        const std::string closed = outcome["closed"].is_none() ? text : nb::cast<std::string>(outcome["closed"]);
        if (closed != text && !added.insert(closed).second) return;
        outcome["chosen"] = text == chosen;
        candidates.append(outcome);
    };
    if (choice != nullptr && !choice->is_native()) add(*choice);
    for (const AlgorithmInfo* info : collective.algorithms) add({info, info->open_settings()});
    for (const Choice* each : rules.choices(collective.name)) add(*each);
    nb::dict description;
    description["bytes"] = situation.bytes;
    description["elements"] = facts.count;
    description["eager"] = *machine.eager;
    description["knows_nodes"] = knows_nodes;
    description["passed_over"] = passed_over;
    description["line"] = found.line;
    description["choice"] = said;
    description["proposal"] = proposal ? nb::cast(chosen) : nb::none();
    description["candidates"] = candidates;
    return description;
}

nb::dict inspected(std::string_view text) {
    std::vector<Rules::Complaint> complaints;
    const Rules rules = Rules::parse_what_is_right(text, complaints);
    nb::list wrong, unreachable, overlaps, refusing;
    for (const Rules::Complaint& each : complaints) wrong.append(nb::make_tuple(each.line, each.what));
    for (const Rules::Unreachable& each : rules.unreachable()) {
        unreachable.append(nb::make_tuple(each.line, each.covered_by));
    }
    for (const Rules::Overlap& each : rules.overlaps()) overlaps.append(nb::make_tuple(each.line, each.with));
    for (const Rules::Refusing& each : rules.refusing()) {
        nb::dict description;
        description["line"] = each.line;
        description["algorithm"] = each.choice->algorithm->name;
        description["choice"] = to_string(*each.choice);
        description["needs"] = each.needs;
        description["always"] = each.always;
        refusing.append(description);
    }
    nb::dict description;
    description["wrong"] = wrong;
    description["unreachable"] = unreachable;
    description["overlaps"] = overlaps;
    description["refusing"] = refusing;
    return description;
}

nb::list described_regions(std::string_view text, std::string_view collective_name, Rank ranks_per_node,
                           std::string_view version, bool commutative, bool shared_memory, bool oversubscribed) {
    if (ranks_per_node < 1) throw Error("expected at least one rank on each node");
    const Collective& collective = require_collective(collective_name);
    std::vector<Rules::Complaint> complaints;
    const Rules rules = Rules::parse_what_is_right(text, complaints);
    const Situation situation{.collective = collective.name,
                              .commutative = collective.has.operation && commutative,
                              .shared_memory = shared_memory,
                              .oversubscribed = oversubscribed,
                              .library = library_of(version),
                              .eager = eager_limit_of(version)};
    nb::list rows;
    for (const Rules::Row& row : rules.regions(situation, ranks_per_node)) {
        nb::list regions;
        for (const Rules::Region& each : row.regions) {
            nb::dict region;
            region["lowest"] = each.bytes.lowest;
            region["highest"] = each.bytes.highest == any_count.highest ? nb::none() : nb::cast(each.bytes.highest);
            region["text"] = condition_text(Rules::bytes, {0, each.bytes.highest});
            region["choice"] = to_string(each.choice == nullptr ? Choice() : *each.choice);
            region["lines"] = each.lines;
            regions.append(region);
        }
        nb::dict description;
        const bool is_last = row.processes.highest + ranks_per_node > std::numeric_limits<Rank>::max();
        description["fewest"] = row.processes.lowest;
        description["most"] = is_last ? nb::none() : nb::cast(row.processes.highest);
        description["regions"] = regions;
        rows.append(description);
    }
    return rows;
}

}  // namespace

void bind_rules(nb::module_& module) {
    module.def(
        "check_rules", &unreachable_rules, "text"_a, "name"_a,
        "Reads the text of a rules file called `name`, and gives the rules that never decide: for each its line, "
        "and the lines of the rules above it that match all its calls.\n\nRaises ValueError('<name>:<line>: what "
        "was wrong') if one is malformed, and if a schedule from a file is wrong.");
    module.def(
        "choice_by_rules", &choice_by_rules, "text"_a, "name"_a, "collective"_a, "bytes"_a, "processes"_a,
        "ranks_per_node"_a = 0, "commutative"_a = true, "library"_a = "", "eager"_a = nb::none(), "nodes"_a = 0,
        "shared_memory"_a = false, "oversubscribed"_a = false,
        "What the text of a rules file called `name` says of a call, as `check_choice` writes it; None if it says "
        "nothing. eager: bytes of the longest message that waits for no receiver; None: of any length.\n\nRaises "
        "ValueError if the rules are malformed, or the collective or the library ('mpich', "
        "'openmpi', 'impi') is unknown.");
    module.def("inspect_rules", &inspected, "text"_a,
               "All that can be said of the text of a rules file: a dictionary with\n"
               "wrong: line and what was wrong, of malformed ones; the others are looked at all the same;\n"
               "unreachable: as of `check_rules`; overlaps: lines of other rules, with those of rules above that match "
               "some of their calls;\n"
               "refusing: dictionaries of rules whose algorithm refuses some of their calls: line, algorithm, choice, "
               "needs (of the algorithm, what these calls have not), always (it refused all that were tried).");
    module.def(
        "rule_regions", &described_regions, "text"_a, "collective"_a, nb::kw_only(), "ranks_per_node"_a = 1,
        "version"_a = "", "commutative"_a = true, "shared_memory"_a = false, "oversubscribed"_a = false,
        "What the text of a rules file chooses for calls of a collective on full nodes, with an MPI library (what "
        "MPI_Get_library_version says): a list of rows, dictionaries with fewest and most (ranks; None: without "
        "end) and regions, dictionaries with lowest, highest (bytes; None: without end), text (of the upper end), "
        "choice ('native' also where no rule matches) and lines (of the rules that decide).");
    module.def("plain_version", &plain_version, "text"_a,
               "What an MPI library calls itself, in few words (\"MPICH Version 5.0.2\"), of what "
               "MPI_Get_library_version says.");
    module.def(
        "library", &described_library, "text"_a,
        "An MPI library by its name ('mpich', 'openmpi', 'impi'), or by what MPI_Get_library_version says: name "
        "('' for others), version (of a name: the newest that was measured), eager (bytes of the longest message "
        "that waits for no receiver), native_rules (of the file tuning/native/<name>.rules, which says what its own "
        "collectives do; '' if nobody knows).\n\nRaises ValueError for an unknown name.");
    module.def(
        "native_correction", &correction_of_native, "measured"_a, "bytes"_a, "processes"_a, "nodes"_a,
        "By what the predicted time of a library's own collective is to be multiplied, where some classes of its calls "
        "were measured: tuples of bytes, processes, nodes, and the ratio of the measured time to the predicted one. 1 "
        "if "
        "none were.\n\nRaises ValueError for a ratio that is not above 0.");
    module.def(
        "explain", &explained, "text"_a, "name"_a, "collective"_a, "processes"_a, "count"_a, "machine"_a, nb::kw_only(),
        "element_bytes"_a = 8, "root"_a = 0, "commutative"_a = true, "nodes"_a = "", "version"_a = "",
        "shared_memory"_a = false, "choice"_a = "", "oversubscribed"_a = false,
        "What becomes of one call, of `count` elements of the whole vector, under the text of a rules file called "
        "`name`, on a machine (the text of a machine file), with an MPI library (what MPI_Get_library_version says), "
        "or "
        "under a `choice` that stands above the rules: a dictionary with\n"
        "bytes, elements: of the whole vector; eager: the limit that was taken; knows_nodes: whether ranks find out "
        "where they are, under these rules;\n"
        "passed_over: dictionaries of the rules before the one that decides, with line, choice, condition (the first "
        "that the call does not meet), value (what the call has);\n"
        "line: of the rule that decides, or 0; choice: '' if there is none; proposal: what the model proposes where it "
        "is asked, or None;\n"
        "candidates: dictionaries of what is chosen, of all algorithms of the collective, and of what the rules choose "
        "for other calls of it, each once: algorithm, choice, chosen; closed: the choice with every setting as the "
        "call would have it, or None with a refusal (why), and what the algorithm needs.\n\n"
        "Raises ValueError for what is malformed, and for a call that makes no sense.");
}

}  // namespace rondo
