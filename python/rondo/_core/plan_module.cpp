// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: the plans of a call, whole; and schedules that somebody else has written down.
#include "python/rondo/_core/plan_module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/core/error.hpp"
#include "rondo/core/plan.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/written_file.hpp"
#include "rondo/selection/written_proof.hpp"
#include "rondo/written/written_schedule.hpp"
#include "python/rondo/_core/described_call.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

std::string_view name_of(ActionKind kind) {
    switch (kind) {
        case ActionKind::receive: return "receive";
        case ActionKind::send: return "send";
        case ActionKind::combine: return "combine";
        case ActionKind::copy: break;
    }
    return "copy";
}

/// The actions that an action has to wait for, completed or started (rondo/core/plan.hpp says which those are).
struct Waits {
    std::vector<std::uint32_t> completed;
    std::uint32_t started = Action::none;
};

std::vector<Waits> waits_in(const Plan& plan) {
    std::vector<Waits> waits(plan.actions().size());
    for (std::uint32_t action = 0; action < waits.size(); ++action) {
        for (const std::uint32_t dependent : plan.dependents(action)) waits[dependent].completed.push_back(action);
        if (!plan.actions()[action].is_transfer()) continue;
        const std::uint32_t next = plan.next_to_peer(action);
        if (next != Action::none) waits[next].started = action;
    }
    return waits;
}

nb::dict described(const Plan& plan, std::uint32_t number, const Waits& waits) {
    const Action& action = plan.actions()[number];
    nb::dict description;
    description["step"] = static_cast<std::uint32_t>(action.step);
    description["kind"] = name_of(action.kind);
    description["block"] = described(action.block);
    if (action.is_transfer()) {
        description["peer"] = action.peer;
        description["inside"] = static_cast<bool>(action.inside);
        const std::uint32_t combine = action.kind == ActionKind::receive ? plan.sole_combine(number) : Action::none;
        if (combine != Action::none) description["combined_by"] = combine;
    } else {
        const LocalWork& work = plan.local_work(action);
        if (action.kind == ActionKind::combine) description["right"] = described(work.right);
        description["into"] = described(work.into);
        const Pieces pieces = plan.pieces(action);
        if (action.kind == ActionKind::copy && pieces.number > 1) {
            description["row"] = nb::make_tuple(pieces.number, pieces.from_distance, pieces.into_distance);
        }
    }
    description["after"] = waits.completed;
    if (waits.started != Action::none) description["behind"] = waits.started;
    return description;
}

nb::dict described(const Call& call, const Plan& plan) {
    const std::vector<Waits> waits = waits_in(plan);
    nb::list actions;
    for (std::uint32_t i = 0; i < waits.size(); ++i) actions.append(described(plan, i, waits[i]));
    nb::dict description;
    description["rank"] = call.local().rank;
    description["in_place"] = call.in_place();
    description["input"] = described(call.input());
    description["output"] = described(call.output());
    description["scratch"] = plan.scratch();
    description["actions"] = actions;
    return description;
}

nb::dict planned(std::string_view collective, std::string_view choice, Count processes, Count count,
                 std::string_view machine, Count element_bytes, Count root, bool commutative, bool in_place,
                 std::string_view nodes, Count most_actions) {
    const DescribedCall call(collective, choice, processes, count, element_bytes, root, nodes, most_actions,
                             commutative);
    const auto settings = call.settings_on(Machine::parse(machine, "machine").costs(call.facts().placement));
    const virtual_machine::Problem problem = call.problem(settings, in_place);
    nb::list ranks;
    Count actions = 0;
    for (Rank rank = 0; rank < call.facts().size; ++rank) {
        const auto of_rank = problem.call(rank);
        const Plan plan = Plan::of(*of_rank, call.algorithm());
        actions += std::ssize(plan.actions());
        if (actions > most_actions) {
            throw Error("more than " + std::to_string(most_actions) +
                        " actions; take fewer processes, a shorter vector or longer segments");
        }
        ranks.append(described(*of_rank, plan));
    }
    nb::dict description;
    description["choice"] = to_string(Choice{&call.algorithm(), settings});
    description["count"] = call.facts().count;
    description["element_bytes"] = call.facts().element_bytes;
    description["ranks"] = ranks;
    return description;
}

nb::dict described_schedule(std::string_view path) {
    const AlgorithmInfo& algorithm = written_algorithm(path);
    const Proved proved = prove(algorithm);
    const virtual_machine::Outcome& outcome = proved.outcome;
    const written::WrittenSchedule& schedule = *written::schedule_of_written(algorithm);
    std::int64_t messages = 0;
    for (const virtual_machine::RankCounts& rank : outcome.ranks) messages += rank.sent;
    nb::dict description;
    description["collective"] = schedule.collective;
    description["processes"] = schedule.ranks.size();
    description["chunks"] = schedule.chunks;
    description["root"] = schedule.root;
    description["reduces"] = schedule.reduces;
    description["without_races"] = proved.without_races;
    description["messages"] = messages;
    description["rounds"] = outcome.time;
    description["operations"] = outcome.most_operations();
    description["volume"] = outcome.most_volume();
    return description;
}

}  // namespace

void bind_plans(nb::module_& module) {
    module.def(
        "plans", &planned, "collective"_a, "choice"_a, "processes"_a, "count"_a, "machine"_a, nb::kw_only(),
        "element_bytes"_a = 8, "root"_a = 0, "commutative"_a = true, "in_place"_a = false, "nodes"_a = "",
        "most_actions"_a = Count{1} << 20,
        "The plans of all ranks for a call, whose segments are chosen for a machine, the text of a machine file: a "
        "dictionary with choice (every setting written out), count, element_bytes and ranks. A rank is a dictionary "
        "with rank, in_place, input and output (blocks), scratch (elements) and actions. A block is a tuple of the "
        "name of its buffer, its first element and how many it has.\n\n"
        "An action is a dictionary with step (of the schedule), kind ('receive', 'send', 'combine', 'copy') and block: "
        "what is sent, received or copied, or the left operand; of a transfer also peer and inside (a node); of a "
        "receive "
        "combined_by, the combine that alone needs what it brings, if there is such a one; of local work into, of a "
        "combine right, of a copy of a row of blocks row: how many, and how far apart they begin in "
        "either place. after: numbers of the actions that must have completed before it starts; behind: the one that "
        "must have started, if there is one.\n\n"
        "Raises ValueError as `trace`, and for more than `most_actions` in all.");
    module.def(
        "read_schedule", &described_schedule, "path"_a,
        "The schedule in a file of MSCCL's XML, once it was shown on symbols that every rank holds in the end what the "
        "collective promises: a dictionary with collective, processes, chunks (of the whole vector), root, reduces, "
        "without_races (false: it is too large for a look at them), "
        "and, of a call in lock step, messages, rounds, operations and volume (chunks; of the rank with the most). "
        "'file:<path>' is a choice then.\n\n"
        "Raises ValueError('<path>: where and what was wrong').");
}

}  // namespace rondo