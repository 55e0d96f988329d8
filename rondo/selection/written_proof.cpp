// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/written_proof.hpp"

#include <string>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/written_file.hpp"
#include "rondo/written/rounds.hpp"

namespace rondo {
namespace {

virtual_machine::Outcome outcome_of(const AlgorithmInfo& written, bool in_place) {
    const auto settings = written.standard_settings();
    const virtual_machine::Problem problem{
        .algorithm = written, .facts = smallest_facts(written), .settings = settings, .in_place = in_place};
    run_dataflow(problem);
    return run_lock_step(problem);
}

}  // namespace

SharedFacts smallest_facts(const AlgorithmInfo& written) {
    const written::WrittenSchedule& schedule = *written::schedule_of_written(written);
    return find_collective(schedule.collective)
        ->facts({.size = static_cast<Rank>(schedule.ranks.size()),
                 .count = schedule.chunks,
                 .root = schedule.root,
                 .op = {.commutative = true}});
}

Proved prove(const AlgorithmInfo& written) {
    const std::string path(written.name.substr(of_a_file.size()));
    const written::MscclProgram program = written_program(path);
    try {
        Proved proved{.outcome = {}, .without_races = written::Races::can_be_found(program)};
        if (proved.without_races) {
            written::Races races(program);
            written::in_rounds(program, &races);
        }
        outcome_of(written, true);
        proved.outcome = outcome_of(written, false);
        return proved;
    } catch (const Error& error) {
        throw Error(path + ": " + error.what());
    }
}

}  // namespace rondo
