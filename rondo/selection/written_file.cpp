// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/written_file.hpp"

#include <string>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/dataflow.hpp"
#include "rondo/backends/virtual/lock_step.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/text.hpp"
#include "rondo/selection/text_file.hpp"
#include "rondo/written/msccl.hpp"
#include "rondo/written/rounds.hpp"

namespace rondo {
namespace {

std::string text_of(const std::string& path) { return read_text_file(path, "the schedule"); }

written::MscclProgram program_in(const std::string& text) {
    if (!trimmed(text).starts_with("<")) throw Error("expected MSCCL's XML, which says what happens to the data");
    return written::read_msccl(text);
}

/// What `body()` gives; an Error of its with the path.
auto about(const std::string& path, const auto& body) {
    try {
        return body();
    } catch (const Error& error) {
        throw Error(path + ": " + error.what());
    }
}

virtual_machine::Outcome outcome_of(const AlgorithmInfo& written, bool in_place) {
    const auto settings = written.standard_settings();
    const virtual_machine::Problem problem{
        .algorithm = written, .facts = smallest_facts(written), .settings = settings, .in_place = in_place};
    run_dataflow(problem);
    return run_lock_step(problem);
}

}  // namespace

const AlgorithmInfo& written_algorithm(std::string_view path) {
    const std::string name(path), text = text_of(name);
    return written::algorithm_of(std::string(of_a_file) + name, text,
                                 [&] { return about(name, [&] { return written::in_rounds(program_in(text)); }); });
}

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
    return about(path, [&] {
        const written::MscclProgram program = program_in(text_of(path));
        Proved proved{.outcome = {}, .without_races = written::Races::can_be_found(program)};
        if (proved.without_races) {
            written::Races races(program);
            written::in_rounds(program, &races);
        }
        outcome_of(written, true);
        proved.outcome = outcome_of(written, false);
        return proved;
    });
}

}  // namespace rondo
