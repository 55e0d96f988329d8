// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/decide.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/pipeline.hpp"
#include "rondo/interposer/report.hpp"

namespace rondo::interposer {

using mpi::CallKey;
using mpi::Communicator;
using mpi::Decision;

namespace {

/// The same text, for ever.
const char* kept(const std::string& text) {
    static std::mutex& mutex = *new std::mutex;
    static std::set<std::string>& texts = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return texts.insert(text).first->c_str();
}

bool large_messages_possible() {
#ifdef RONDO_HAVE_LARGE_COUNT_API
    const mpi::Library& library = mpi::library();
    return library.Isend_c != nullptr && library.Irecv_c != nullptr && library.Pack_c != nullptr &&
           library.Unpack_c != nullptr && library.Sendrecv_c != nullptr;
#else
    return false;
#endif
}

Decision native_decision(const Runtime& runtime, const Collective& collective, const std::string& reason) {
    return {nullptr, runtime.reporting ? tally_of(collective.name, "native", reason) : nullptr, kept(reason)};
}

Count eager_limit(const Machine& machine) { return machine.eager.value_or(virtual_machine::no_eager_limit); }

/// The choice's settings for one kind of call. What it leaves open is found by running the schedule in virtual time,
/// from facts and figures that are equal on all ranks.
std::vector<Setting> settings_for(const Choice& choice, const CallFacts& facts, const Machine& machine) {
    std::vector<Setting> settings = choice.settings;
    if (const auto known = machine.segment(*choice.algorithm, facts.size, facts.bytes())) {
        for (Setting& setting : settings) {
            if (setting.name == segment_parameter.name && setting.value == automatic) setting.value = *known;
        }
        if (choice.algorithm->refusal(facts, settings)) settings = choice.settings;
    }
    const virtual_machine::CostModel costs{
        .alpha = machine.alpha, .beta = machine.beta, .gamma = machine.gamma, .overhead = machine.overhead};
    return virtual_machine::closed_settings(*choice.algorithm, facts, settings, costs,
                                            virtual_machine::actions_per_choice, eager_limit(machine));
}

}  // namespace

Decision decide(const Runtime& runtime, const CallKey& key, Communicator& communicator, MPI_Comm comm,
                std::span<const Count> starts) {
    const Collective& subject = collectives()[key.collective];
    if (key.over_int && !large_messages_possible()) {
        return native_decision(runtime, subject, "messages of more than 2^31-1 elements");
    }
    Situation situation{.collective = subject.name,
                        .bytes = key.count * key.element_bytes,
                        .processes = communicator.size(),
                        .commutative = key.commutative,
                        .library = runtime.library,
                        .eager = eager_limit(runtime.instructions.machine())};
    if (runtime.instructions.ask_ranks_per_node(key.collective, situation)) {
        situation.ranks_per_node = communicator.ranks_per_node();
    }
    const Choice* choice = runtime.instructions.choose(key.collective, situation);
    if (choice == nullptr) return native_decision(runtime, subject, "no rule");
    if (choice->algorithm == nullptr) return native_decision(runtime, subject, "chosen");
    const CallFacts facts = subject.facts({.size = communicator.size(),
                                           .count = key.count,
                                           .element_bytes = key.element_bytes,
                                           .root = key.root,
                                           .op = {key.commutative},
                                           .starts = starts});
    // Before anything is closed: what cannot be served need not be timed.
    if (const Requirement* unmet = choice->algorithm->unmet(facts, choice->settings)) {
        const std::string name(choice->algorithm->name);
        static std::atomic<bool> said{false};
        if (communicator.rank() == 0 && !said.exchange(true)) {
            const std::string refusal = unmet->unmet(facts, choice->settings).value_or("");
            warn((name + " refuses: " + refusal + "; the native collective is used").c_str());
        }
        // Without the figures of this call, so that reasons stay few.
        return native_decision(runtime, subject, name + " needs " + std::string(unmet->summary));
    }
    if (!communicator.can_communicate(comm)) {
        return native_decision(runtime, subject, "no context for messages to be had");
    }
    const std::vector<Setting> settings = settings_for(*choice, facts, runtime.instructions.machine());
    const Call call(facts, communicator.rank(), settings, key.in_place);
    auto plan = std::make_unique<Plan>(Plan::of(call, *choice->algorithm));
    return {std::move(plan), runtime.reporting ? tally_of(subject.name, choice->algorithm->name, "") : nullptr};
}

void warn_of_disagreement(const Communicator& communicator) {
    static std::atomic<bool> said{false};
    if (!communicator.ranks_disagree() || communicator.rank() != 0 || said.exchange(true)) return;
    warn("the ranks were given different RONDO_ variables or rules; the native collectives are used");
}

}  // namespace rondo::interposer
