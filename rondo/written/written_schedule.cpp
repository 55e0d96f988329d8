// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/written/written_schedule.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "rondo/algorithms/requirements.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/fingerprint.hpp"

namespace rondo::written {
namespace {

constexpr std::string_view mark = "schedule";  // the parameter

/// An algorithm with what it borrows.
struct Entry {
    std::string name;
    WrittenSchedule schedule;
    Parameter parameter;
    AlgorithmInfo info;
};

/// All that were read, by the fingerprints of their texts. Entries stay.
struct Known {
    std::mutex mutex;
    std::map<Count, Entry> entries;
};

Known& known() {
    static Known& all = *new Known;  // never destroyed: ranks may still be in a call when the process ends
    return all;
}

const WrittenSchedule& schedule_in(Count fingerprint) {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    return all.entries.at(fingerprint).schedule;
}

const WrittenSchedule& schedule_in(std::span<const Setting> settings) {
    const auto found = std::ranges::find(settings, mark, &Setting::name);
    if (found == settings.end()) throw Error("a written schedule without its fingerprint");
    return schedule_in(found->value);
}

std::optional<std::string> other_ranks(const SharedFacts& facts, std::span<const Setting> settings) {
    const auto ranks = std::ssize(schedule_in(settings).ranks);
    if (facts.size == ranks) return std::nullopt;
    return "it is written for " + std::to_string(ranks) + " ranks, not for " + std::to_string(facts.size);
}

std::optional<std::string> other_root(const SharedFacts& facts, std::span<const Setting> settings) {
    const Rank root = schedule_in(settings).root;
    if (facts.root == root) return std::nullopt;
    return "its root is " + std::to_string(root) + ", not " + std::to_string(facts.root);
}

std::optional<std::string> uneven_chunks(const SharedFacts& facts, std::span<const Setting> settings) {
    const Count chunks = schedule_in(settings).chunks;
    if (facts.count % chunks == 0) return std::nullopt;
    return std::to_string(facts.count) + " elements do not divide into " + std::to_string(chunks) + " equal chunks";
}

constexpr Requirement requirements[] = {
    {"as many ranks as it is written for", other_ranks},
    {"the root that it is written for", other_root},
    {"a vector that divides evenly into its chunks", uneven_chunks},
    commutative_requirement,  // the last one: see below
};

Count ports_of(std::span<const Setting> settings) { return schedule_in(settings).ports(); }

Schedule steps_of_rank(const Call& call) {
    const WrittenSchedule& schedule = schedule_in(call.setting(mark));
    const WrittenRank& rank = schedule.ranks[static_cast<std::size_t>(call.ranks().first)];
    if (!call.facts().starts.empty()) throw Error("a written schedule needs parts of equal length");
    const Count chunk = call.count() / schedule.chunks;
    const Block wholes[] = {call.input(), call.output(), call.scratch(rank.scratch * chunk)};
    const auto placed = [&](const Block& block) {
        const Block& whole = wholes[static_cast<std::size_t>(block.buffer)];
        return whole.part(block.first * chunk, block.count * chunk);
    };
    std::vector<Transfer> transfers;
    for (const WrittenStep& step : rank.steps) {
        if (step.kind == StepKind::copy) co_yield copy(placed(step.left)).into(placed(step.into));
        if (step.kind == StepKind::combine) {
            co_yield combine(placed(step.left), placed(step.right)).into(placed(step.into));
        }
        if (step.kind != StepKind::exchange) continue;
        transfers = step.transfers;
        for (Transfer& each : transfers) each.block = placed(each.block);
        co_yield exchange(std::span<const Transfer>(transfers));
    }
}

void describe(Entry& entry, Count fingerprint) {
    entry.parameter = {.name = mark,
                       .summary = "the fingerprint of the file",
                       .minimum = fingerprint,
                       .maximum = fingerprint,
                       .standard = fingerprint};
    const std::span<const Requirement> all = requirements;
    entry.info = {.collective = entry.schedule.collective,
                  .name = entry.name,
                  .summary = "a schedule from a file",
                  .citation = {},
                  .parameters = {&entry.parameter, 1},
                  .requirements = entry.schedule.reduces ? all : all.first(all.size() - 1),
                  .tolerates_in_place = entry.schedule.tolerates_in_place,
                  .ports = ports_of,
                  .schedule = steps_of_rank};
}

}  // namespace

Count WrittenSchedule::ports() const {
    Count most = 1;
    for (const WrittenRank& rank : ranks) {
        for (const WrittenStep& step : rank.steps) {
            const Count sends = std::ranges::count(step.transfers, Direction::send, &Transfer::direction);
            most = std::max({most, sends, std::ssize(step.transfers) - sends});
        }
    }
    return most;
}

const AlgorithmInfo& algorithm_of(std::string_view name, std::string_view text,
                                  const std::function<WrittenSchedule()>& read) {
    Fingerprint fingerprint;
    fingerprint.add(name);
    fingerprint.add(text);
    const auto key = static_cast<Count>(fingerprint.value() >> 2);  // fits, and is not negative
    Known& all = known();
    {
        const std::lock_guard lock(all.mutex);
        const auto found = all.entries.find(key);
        if (found != all.entries.end()) return found->second.info;
    }
    WrittenSchedule schedule = read();
    const std::lock_guard lock(all.mutex);
    const auto [found, is_new] = all.entries.try_emplace(key);
    Entry& entry = found->second;
    if (is_new) {
        entry.name = name;
        entry.schedule = std::move(schedule);
        describe(entry, key);
    }
    return entry.info;
}

const WrittenSchedule* schedule_of_written(const AlgorithmInfo& algorithm) {
    return algorithm.schedule == steps_of_rank ? &schedule_in(algorithm.parameters.front().standard) : nullptr;
}

}  // namespace rondo::written
