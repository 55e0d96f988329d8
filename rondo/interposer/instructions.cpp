// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/instructions.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/core/host.hpp"
#include "rondo/core/switch.hpp"
#include "rondo/core/version.hpp"
#include "rondo/selection/eager_limit.hpp"
#include "rondo/selection/nodes.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"

namespace rondo::interposer {

Instructions Instructions::from_environment() {
    Instructions instructions;
    instructions.off_ = switched_off();
    if (instructions.off_) return instructions;
    instructions.fingerprint_.add(version);
    const Settings settings = Settings::of_process();
    instructions.complaints_ = settings.complaints();
    instructions.left_out_by_ = settings.leaves_out(own_program(), host_name()).value_or("");
    // Other ranks may be told otherwise, so such a rank agrees with them: on different instructions, if they are.
    if (instructions.left_out_by_.empty()) instructions.read(settings);
    else instructions.fingerprint_.add("nothing");
    return instructions;
}

void Instructions::read(const Settings& settings) {
    read_rules(settings.find_path("RONDO_RULES"));
    read_machine(settings.find("RONDO_MACHINE"));
    read_nodes(settings.find("RONDO_NODES"));
    read_guard(settings.find("RONDO_GUARD"), settings.find_path("RONDO_LEARNED"));
    read_plan_memory(settings.find("RONDO_PLAN_MEMORY"));
    read_shared_memory(settings.find("RONDO_SHARED_MEMORY"));
    for (std::size_t i = 0; i < collectives().size(); ++i) {
        if (const Given* const given = settings.find(variable_of(collectives()[i].name))) read_choice(i, *given);
    }
    if (const Given* const directory = settings.find("RONDO_REPORT")) report_directory_ = directory->text;
    if (const Given* const directory = settings.find_path("RONDO_JOBS")) {
        jobs_directory_ = directory->text;
        fingerprint_.add("RONDO_JOBS");  // all ranks add up
    }
    if (const Given* const directory = settings.find("RONDO_TRACE")) {
        trace_directory_ = directory->text;
        fingerprint_.add("RONDO_TRACE");  // ranks with a trace carry short messages in another way
    }
}

void Instructions::read_rules(const Given* path) {
    if (path == nullptr) return;
    try {
        rules_ = Rules::read(path->text);
        rules_path_ = path->text;
        fingerprint_.add(rules_->fingerprint());
    } catch (const Error& error) {
        complaints_.push_back(path->origin + ": " + error.what() + "; the native collectives are used");
    }
}

void Instructions::read_machine(const Given* path) {
    is_machine_given_ = path != nullptr;
    fingerprint_.add(static_cast<int>(is_machine_given_));
    if (is_machine_given_) {
        try {
            machine_ = Machine::read(path->text);
        } catch (const Error& error) {
            complaints_.push_back(path->origin + ": " + error.what() + "; the standard figures are used");
        }
    }
    fingerprint_.add(machine_.fingerprint());
}

void Instructions::read_nodes(const Given* shape) {
    if (shape == nullptr) return;
    nodes_ = shape->text;
    fingerprint_.add("RONDO_NODES=" + nodes_);
}

void Instructions::know_ranks(int ranks) {
    if (nodes_.empty()) return;
    try {
        imposed_ = parse_nodes(nodes_, ranks);
    } catch (const Error& error) {
        complaints_.push_back("RONDO_NODES: " + std::string(error.what()) + "; ranks are where the MPI library says");
    }
}

void Instructions::read_guard(const Given* given, const Given* directory) {
    if (given == nullptr || means_no(given->text.c_str())) return;
    const std::string& text = given->text;
    if (text == "exact" || means_yes(text.c_str())) guard_ = Guard::exact;
    else if (text == "free") guard_ = Guard::free;
    else complaints_.push_back(given->origin + ": " + quoted(text) + " is none of off, exact, free; it is off");
    fingerprint_.add("RONDO_GUARD=" + text);
    if (guard_ == Guard::off || directory == nullptr) return;
    learned_directory_ = directory->text;
    fingerprint_.add("RONDO_LEARNED");  // rank 0 says what is in it
}

void Instructions::read_plan_memory(const Given* given) {
    if (given == nullptr) return;
    if (const auto bytes = parse_quantity(given->text)) {
        plan_memory_ = *bytes;
        return;
    }
    complaints_.push_back(given->origin + ": " + quoted(given->text) + " is not a number; " +
                          expected_quantity(given->text) + ", as 64Mi, which is used");
}

void Instructions::read_shared_memory(const Given* given) {
#ifdef RONDO_ABI_SIMGRID
    memory_sharing_ = mpi::MemorySharing::off;  // ranks are threads on simulated machines
#endif
    const std::string text = given != nullptr ? given->text : "auto";
    const bool is_on = means_yes(text.c_str()), is_automatic = text == "auto";
    if (is_on) memory_sharing_ = mpi::MemorySharing::on;
    else if (!is_automatic) memory_sharing_ = mpi::MemorySharing::off;
    if (!is_on && !is_automatic && !means_no(text.c_str()))
        complaints_.push_back(given->origin + ": " + quoted(text) + " is none of auto, on, off; it is off");
    fingerprint_.add("RONDO_SHARED_MEMORY");
    fingerprint_.add(static_cast<int>(memory_sharing_));
}

void Instructions::know_library(std::string_view version) {
    if (!machine_.eager) machine_.eager = eager_limit_of(version);
    fingerprint_.add(*machine_.eager);
}

void Instructions::know_machine(const Machine& measured, std::string_view library_version) {
    machine_ = measured;
    if (!machine_.eager) machine_.eager = eager_limit_of(library_version);
}

void Instructions::read_choice(std::size_t collective, const Given& given) {
    const Collective& subject = collectives()[collective];
    fingerprint_.add(variable_of(subject.name) + "=" + given.text);
    try {
        Choice choice = parse_choice(subject, given.text);
        add_to(fingerprint_, choice);
        forced_[collective] = std::move(choice);
    } catch (const Error& error) {
        spoiled_[collective] = true;
        complaints_.push_back(given.origin + ": " + error.what() + "; the native collective is used");
    }
}

void Instructions::override_choice(std::size_t collective, std::optional<Choice> choice) {
    std::uint16_t number = 0;
    if (choice) {
        const std::string text = to_string(*choice);
        const auto same = [&](const Choice& each) {
            return each.algorithm == choice->algorithm && to_string(each) == text;
        };
        const auto known = std::find_if(choices_.begin(), choices_.end(), same);
        const std::ptrdiff_t index = known - choices_.begin();
        if (index == std::numeric_limits<std::uint16_t>::max()) throw Error("too many different choices");
        if (known == choices_.end()) choices_.push_back(*std::move(choice));
        number = static_cast<std::uint16_t>(index + 1);
    }
    chosen_[collective] = number;
}

bool Instructions::ask_nodes() const {
    if (rules_ && rules_->ask_processors()) return true;
    if (imposed_) return imposed_->is_of_domains();  // of one node, as has to be found out
    return !learned_directory_.empty() ||            // verdicts hold where ranks are as they were
           (rules_ && rules_->ask_nodes()) ||
           std::any_of(forced_.begin(), forced_.end(),
                       [](const std::optional<Choice>& choice) { return choice && choice->uses_nodes(); });
}

std::optional<const Choice*> Instructions::choose(std::size_t collective, const Situation& situation,
                                                  const Spread& spread, Interval& lengths) const {
    lengths = {};
    if (chosen_[collective] != 0) return &choices_[chosen_[collective] - 1U];
    if (spoiled_[collective]) return nullptr;
    if (const std::optional<Choice>& forced = forced_[collective]; forced.has_value()) return &*forced;
    return rules_ ? rules_->match(situation, spread, lengths) : nullptr;
}

}  // namespace rondo::interposer
