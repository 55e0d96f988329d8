// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/instructions.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/core/version.hpp"
#include "rondo/selection/eager_limit.hpp"
#include "rondo/selection/nodes.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"

namespace rondo::interposer {
namespace {

const char* variable(const std::string& name) {
    const char* value = std::getenv(name.c_str());
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// True if the value means "off", in any of the ways that people write it.
bool means_off(const char* value) {
    std::string text;
    for (const char* letter = value; *letter != '\0'; ++letter) {
        text += static_cast<char>(std::tolower(static_cast<unsigned char>(*letter)));
    }
    return text == "off" || text == "0" || text == "no" || text == "false";
}

}  // namespace

std::string variable_of(std::string_view collective) {
    std::string name = "RONDO_";
    for (const char letter : collective) name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return name;
}

Instructions Instructions::from_environment() {
    Instructions instructions;
    const char* master = variable("RONDO");
    if (master != nullptr && means_off(master)) {
        instructions.off_ = true;
        return instructions;
    }
    instructions.fingerprint_.add(version);
    instructions.read_rules();
    instructions.read_machine();
    instructions.read_nodes();
    instructions.read_guard();
    instructions.read_plan_memory();
    instructions.read_shared_memory();
    for (std::size_t i = 0; i < collectives().size(); ++i) instructions.read_choice(i);
    if (const char* directory = variable("RONDO_REPORT")) instructions.report_directory_ = directory;
    return instructions;
}

void Instructions::read_rules() {
    const char* path = variable("RONDO_RULES");
    if (path == nullptr) return;
    try {
        rules_ = Rules::read(path);
        fingerprint_.add(rules_->fingerprint());
    } catch (const Error& error) {
        complaints_.push_back("RONDO_RULES: " + std::string(error.what()) + "; the native collectives are used");
    }
}

void Instructions::read_machine() {
    if (const char* path = variable("RONDO_MACHINE")) {
        try {
            machine_ = Machine::read(path);
        } catch (const Error& error) {
            complaints_.push_back("RONDO_MACHINE: " + std::string(error.what()) + "; the standard figures are used");
        }
    }
    fingerprint_.add(machine_.fingerprint());
}

void Instructions::read_nodes() {
    const char* text = variable("RONDO_NODES");
    if (text == nullptr) return;
    nodes_ = text;
    fingerprint_.add("RONDO_NODES=" + nodes_);
}

void Instructions::know_ranks(int ranks) {
    if (nodes_.empty()) return;
    try {
        const Placement placement = parse_nodes(nodes_, ranks);
        node_of_.reserve(static_cast<std::size_t>(ranks));
        for (Rank rank = 0; rank < ranks; ++rank) node_of_.push_back(placement.place(rank).node);
    } catch (const Error& error) {
        complaints_.push_back("RONDO_NODES: " + std::string(error.what()) + "; ranks are where the MPI library says");
    }
}

void Instructions::read_guard() {
    const char* text = variable("RONDO_GUARD");
    if (text == nullptr || std::string_view(text) == "off") return;
    if (std::string_view(text) == "exact") guard_ = Guard::exact;
    else if (std::string_view(text) == "free") guard_ = Guard::free;
    else complaints_.push_back("RONDO_GUARD: " + quoted(text) + " is none of off, exact, free; it is off");
    fingerprint_.add("RONDO_GUARD=" + std::string(text));
    const char* directory = variable("RONDO_LEARNED");
    if (guard_ == Guard::off || directory == nullptr) return;
    learned_directory_ = directory;
    fingerprint_.add("RONDO_LEARNED");  // rank 0 says what is in it
}

void Instructions::read_plan_memory() {
    const char* text = variable("RONDO_PLAN_MEMORY");
    if (text == nullptr) return;
    if (const auto bytes = parse_quantity(text)) {
        plan_memory_ = *bytes;
        return;
    }
    complaints_.push_back("RONDO_PLAN_MEMORY: " + quoted(text) + " is not a number; " + expected_quantity(text) +
                          ", as 64Mi, which is used");
}

void Instructions::read_shared_memory() {
#ifdef RONDO_ABI_SIMGRID
    memory_sharing_ = mpi::MemorySharing::off;  // ranks are threads on simulated machines
#endif
    const char* text = variable("RONDO_SHARED_MEMORY");
    const std::string_view value = text != nullptr ? text : "auto";
    if (value == "on") memory_sharing_ = mpi::MemorySharing::on;
    else if (value != "auto") memory_sharing_ = mpi::MemorySharing::off;
    if (value != "on" && value != "auto" && value != "off") {
        complaints_.push_back("RONDO_SHARED_MEMORY: " + quoted(value) + " is none of auto, on, off; it is off");
    }
    fingerprint_.add("RONDO_SHARED_MEMORY");
    fingerprint_.add(static_cast<int>(memory_sharing_));
}

void Instructions::know_library(std::string_view version) {
    if (!machine_.eager) machine_.eager = eager_limit_of(version);
    fingerprint_.add(*machine_.eager);
}

void Instructions::read_choice(std::size_t collective) {
    const Collective& subject = collectives()[collective];
    const std::string name = variable_of(subject.name);
    if (const char* value = variable(name)) {
        fingerprint_.add(name + "=" + value);
        try {
            Choice choice = parse_choice(subject, value);
            add_to(fingerprint_, choice);
            forced_[collective] = std::move(choice);
        } catch (const Error& error) {
            spoiled_[collective] = true;
            complaints_.push_back(name + ": " + error.what() + "; the native collective is used");
        }
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
    if (!node_of_.empty()) return false;
    return !learned_directory_.empty() ||  // verdicts hold where ranks are as they were
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
