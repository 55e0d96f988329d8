// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/decide.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/plan_store.hpp"
#include "rondo/backends/virtual/cost_model.hpp"
#include "rondo/interposer/model.hpp"
#include "rondo/interposer/service.hpp"
#include "rondo/selection/closing.hpp"

namespace rondo::interposer {

using mpi::CallKey;
using mpi::Communicator;
using mpi::Decision;

static_assert(number_of_collectives <= Communicator::most_collectives);

namespace {

/// Returns a copy of the text that is never freed.
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
           library.Unpack_c != nullptr;
#else
    return false;
#endif
}

/// Leaves calls to the library. The reason is never freed.
Decision left_to_library(const char* reason, int line = 0) { return {.reason = reason, .line = line}; }

/// Leaves all calls of these lengths to the library.
Decision left_by_rules(const char* reason, int line, Interval bytes) {
    Decision decision = left_to_library(reason, line);
    decision.lowest = bytes.lowest;
    decision.highest = bytes.highest;
    return decision;
}

/// Why the algorithm does not serve such calls. The figures of a call are left out, so that reasons stay few.
const char* reason_of_refusal(const AlgorithmInfo& algorithm, const Requirement& unmet) {
    try {
        return kept(std::string(algorithm.name) + " needs " + std::string(unmet.summary));
    } catch (const std::bad_alloc&) {
        return "the algorithm needs what the call has not";
    }
}

void warn_of_refusal(const Choice& choice, const Requirement& unmet, const SharedFacts& facts) {
    static std::atomic<bool> said{false};
    if (said.exchange(true)) return;
    try {
        warn((std::string(choice.algorithm->name) + " refuses: " + unmet.unmet(facts, choice.settings).value_or("") +
              "; the native collective is used")
                 .c_str());
    } catch (const std::bad_alloc&) {
        return;  // the report says it
    }
}

Count eager_limit(const Machine& machine) { return machine.eager.value_or(virtual_machine::no_eager_limit); }

bool is_served(const Choice* choice) { return choice != nullptr && !choice->is_native(); }

/// The blocks in a list that Exchanging::places has made.
struct LocalParts {
    LocalParts() = default;
    explicit LocalParts(std::span<const Count> places) {
        const std::size_t end_of_outgoing = 1 + 2 * static_cast<std::size_t>(places.front());
        for (std::size_t at = 1; at < places.size(); at += 2) {
            const bool goes_out = at < end_of_outgoing;
            (goes_out ? outgoing : incoming)
                .emplace_back(places[at], places[at + 1], goes_out ? Buffer::input : Buffer::output);
        }
    }
    std::vector<Block> outgoing, incoming;
};

/// What the rules say, by what is known of the nodes so far; nothing if they have to know more. `lengths` become those
/// with the same answer.
std::optional<const Choice*> choose(const Runtime& runtime, const CallKey& key, const Communicator& communicator,
                                    Interval& lengths) {
    const Situation situation{.collective = collectives()[key.collective].name,
                              .bytes = key.count * key.element_bytes,
                              .processes = communicator.size(),
                              .commutative = key.commutative,
                              .shared_memory = mpi::world().shares_memory(),
                              .oversubscribed = mpi::world().is_oversubscribed(),
                              .library = runtime.library,
                              .eager = eager_limit(runtime.instructions.machine())};
    return runtime.instructions.choose(key.collective, situation, communicator.spread(), lengths);
}

SharedFacts facts_of(const CallKey& key, const Communicator& communicator, const std::optional<Placement>& placement) {
    return collectives()[key.collective].facts({.size = communicator.size(),
                                                .count = key.count,
                                                .element_bytes = key.element_bytes,
                                                .root = key.root,
                                                .op = {key.commutative},
                                                .placement = placement ? &*placement : nullptr});
}

std::optional<Placement> placement_for(const AlgorithmInfo& algorithm, const Communicator& communicator) {
    return algorithm.uses_nodes ? communicator.placement() : std::nullopt;
}

ModelChoice proposal_for(const Choice& rule, const Runtime& runtime, const CallKey& key,
                         const Communicator& communicator) {
    const std::optional<Placement> placement = communicator.placement();
    return remembered_proposal(rule, collectives()[key.collective], facts_of(key, communicator, placement),
                               runtime.instructions.machine());
}

}  // namespace

Decision decide(const Runtime& runtime, const CallKey& key, Communicator& communicator, MPI_Comm comm) {
    if (key.over_int && !large_messages_possible()) {
        return left_to_library("messages of more than 2^31-1 elements");
    }
    Interval lengths;
    // Many calls go to the library wherever the ranks are. To find these out is most of what such a call costs.
    std::optional<const Choice*> chosen = choose(runtime, key, communicator, lengths);
    if (!chosen || is_served(*chosen)) {
        if (!communicator.find_in_world(comm)) {
            return left_to_library(communicator.native_reason());
        }
        chosen = choose(runtime, key, communicator, lengths);
    }
    const Choice* choice = chosen.value_or(nullptr);
    const int line = runtime.instructions.line_of(choice);
    if (!is_served(choice)) {
        Decision decision = left_by_rules(choice == nullptr ? "no rule" : "chosen", line, lengths);
        decision.holds_on_any = !communicator.is_found();  // all that is known of the ranks is their number
        return decision;
    }
    if (choice->is_predicted) {
        const ModelChoice found = proposal_for(*choice, runtime, key, communicator);
        lengths = {std::max(lengths.lowest, found.bytes.lowest), std::min(lengths.highest, found.bytes.highest)};
        if (found.choice == nullptr) return left_by_rules("the model proposes no algorithm", line, lengths);
        choice = found.choice;
    }
    const std::optional<Placement> placement = placement_for(*choice->algorithm, communicator);
    const SharedFacts facts = facts_of(key, communicator, placement);
    if (const Requirement* unmet = choice->algorithm->unmet(facts, choice->settings)) {
        if (communicator.rank() == 0) warn_of_refusal(*choice, *unmet, facts);
        return left_to_library(reason_of_refusal(*choice->algorithm, *unmet), line);
    }
    if (key.division != 0 && is_written(*choice)) {
        return left_to_library("a schedule from a file needs parts of equal length", line);
    }
    return {.chosen = choice, .algorithm = choice->algorithm->name, .line = line};
}

void make_plan(Decision& decision, const Runtime& runtime, const CallKey& key, Communicator& communicator,
               Starts starts) {
    const Collective& subject = collectives()[key.collective];
    const Choice& choice = *static_cast<const Choice*>(decision.chosen);
    std::optional<Placement> placement = placement_for(*choice.algorithm, communicator);
    SharedFacts facts = facts_of(key, communicator, placement);
    const LocalParts parts = subject.has.local_lengths ? LocalParts(*starts) : LocalParts();
    if (starts && !subject.has.local_lengths) facts.starts = *starts;
    if (!placement && has_open_segment(choice.settings)) placement = communicator.placement();
    SharedFacts timed = facts;  // messages inside a node cost less, whether the algorithm asks or not
    timed.placement = placement ? &*placement : nullptr;
    const std::vector<Setting> settings =
        settings_for(choice, timed, runtime.instructions.machine(), remembered_settings);
    const LocalFacts local{
        .rank = communicator.rank(), .in_place = key.in_place, .outgoing = parts.outgoing, .incoming = parts.incoming};
    decision.plan = mpi::plan_of(Call(facts, local, settings), *choice.algorithm, settings);
    decision.starts = std::move(starts);
}

void warn_of_disagreement(const Communicator& communicator) {
    static std::atomic<bool> said{false};
    if (!communicator.ranks_disagree() || communicator.rank() != 0 || said.exchange(true)) return;
    warn(
        "the ranks were given different RONDO_ variables, configurations or rules, or have different versions of "
        "Rondo; the native "
        "collectives are used");
}

}  // namespace rondo::interposer
