// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/guard/history.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <new>
#include <span>
#include <utility>

#include "rondo/backends/mpi/warn.hpp"
#include "rondo/backends/mpi/world.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/host.hpp"
#include "rondo/core/version.hpp"
#include "rondo/selection/text_file.hpp"
#include "rondo/selection/verdict_file.hpp"

namespace rondo::guard {
namespace {

constexpr double nanosecond = 1e-9;  // trials count nanoseconds, verdicts seconds

float nanoseconds(double seconds) { return static_cast<float>(seconds / nanosecond); }

/// The date that was so many days before now: 2026-11-23.
std::string day_before(int days) {
    constexpr std::time_t seconds_a_day = 86400;
    std::array<char, 16> text{};
    const std::time_t then = std::time(nullptr) - days * seconds_a_day;
    std::tm date{};
    gmtime_r(&then, &date);
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d", &date);
    return {text.data(), length};
}

/// True if the verdict need not be found anew. Machines change, and a trial may have been misled, the more easily the
/// fewer calls were compared: a verdict holds as many days as there were calls of each, and a week at most. It always
/// holds where a new one would change the last bits of results.
constexpr int days_to_hold = 7;

bool holds(const Verdict& verdict) {
    if (verdict.keeps_bits()) return true;
    const int days = verdict.is_begun() || verdict.calls == 0 ? days_to_hold : std::min(verdict.calls, days_to_hold);
    return verdict.day >= day_before(days);
}

/// Verdicts about choices that nobody makes any more are deleted after so many days, unless bits depend on them.
constexpr int days_to_keep = 90;

/// Says that lines of the file were left out, if any.
void warn_of(const std::string& path, const std::vector<Verdicts::Complaint>& complaints) {
    if (complaints.empty()) return;
    const Verdicts::Complaint& first = complaints.front();
    std::string where = path + ":" + std::to_string(first.line) + ": " + first.what;
    std::ranges::replace_if(where, [](char each) { return std::iscntrl(static_cast<unsigned char>(each)) != 0; }, '?');
    const std::size_t others = complaints.size() - 1;
    mpi::warn((where + (others == 0 ? "; left out" : "; left out, and more lines: " + std::to_string(others))).c_str());
}

/// The text of the verdicts that hold.
std::string content(const std::string& path) {
    if (access(path.c_str(), F_OK) != 0) return "";  // nothing was learned yet
    try {
        std::vector<Verdicts::Complaint> complaints;
        Verdicts verdicts = Verdicts::parse(read_text_file(path, "what was learned"), complaints);
        warn_of(path, complaints);
        verdicts.remove_if([](const Verdict& each) { return !holds(each); });
        return verdicts.empty() ? "" : verdicts.text();
    } catch (const Error& error) {
        mpi::warn(error.what());
        return "";
    }
}

Shape shape_of(const mpi::Communicator& communicator) {
    return Shape::of(communicator.size(), communicator.spread(), mpi::world().shares_memory());
}

Shape shape_of(const mpi::World& world) { return Shape::of(world.size(), world.whole_spread(), world.shares_memory()); }

/// Goes on with a trial that an earlier run has begun, if its calls were about as long as those of this one.
std::optional<Trial> begun_trial(const Verdict& verdict, const Trial& fresh) {
    Trial trial(fresh.key(), verdict.bytes, fresh.chosen());
    if (!trial.compares_calls_of(fresh.bytes())) return std::nullopt;
    Trial::Times times{};
    const std::size_t known = std::min(verdict.begun.size(), times.size());
    std::transform(verdict.begun.begin(), verdict.begun.begin() + static_cast<std::ptrdiff_t>(known), times.begin(),
                   nanoseconds);
    trial.resume(std::span(times).first(known));
    return trial;
}

__attribute__((destructor)) void write_what_was_learned() { history().write(); }

}  // namespace

History& history() {
    static History& what = *new History;
    return what;
}

void History::open(const std::string& directory, const std::string& library_version, std::uint64_t machine) {
    mpi::World& world = mpi::world();
    if (!world.agreed() || world.ranks_disagree()) return;
    std::string path, text;
    try {
        path = directory + "/" + verdict_file_name(host_name(), library_version, version, machine);
        if (world.rank() == 0) text = content(path);
    } catch (const std::bad_alloc&) {
        path.clear();
        text.clear();
    }
    if (world.rank() == 0) path_ = std::move(path);
    process_ = getpid();
    opened_ = true;
    bool done = world.share_text(text);
    if (text.empty() && done) return;
    Verdicts verdicts;
    try {
        std::vector<Verdicts::Complaint> complaints;
        if (done) verdicts = Verdicts::parse(text, complaints);
        used_.assign(verdicts.all().size(), false);
    } catch (const std::bad_alloc&) {
        done = false;
    }
    if (world.all_say(done)) before_ = std::move(verdicts);
    else used_.clear();
}

const Verdict* History::find(const TrialKey& key, const Choice& choice, const Shape& shape) const noexcept {
    return before_.find(collectives()[key.collective].name, key.length, key.commutative, key.rounding, key.empty_parts,
                        shape, choice);
}

const Verdict* History::use_verdict(const TrialKey& key, const Choice& choice,
                                    const mpi::Communicator& communicator) noexcept {
    const mpi::World& world = mpi::world();
    if (before_.empty()) return nullptr;
    const Verdict* const own = find(key, choice, shape_of(communicator));
    const bool is_begun = own != nullptr && own->is_begun();
    const Verdict* const verdict = own == nullptr || is_begun ? find(key, choice, shape_of(world)) : own;
    if (verdict == nullptr || verdict->is_begun()) return is_begun && keeps_begun() && !key.any_length ? own : nullptr;
    if (key.any_length && !verdict->is_lost()) return nullptr;  // these calls may be the longer ones
    const std::lock_guard lock(mutex_);
    used_[static_cast<std::size_t>(verdict - before_.all().data())] = true;
    return verdict;
}

std::optional<Trial> History::take_up(const Trial& fresh, const mpi::Communicator& communicator) noexcept {
    const Choice& choice = *static_cast<const Choice*>(fresh.chosen());
    const Verdict* const verdict = use_verdict(fresh.key(), choice, communicator);
    if (verdict == nullptr) return std::nullopt;
    if (verdict->is_begun()) return begun_trial(*verdict, fresh);
    Trial trial = fresh;
    if (verdict->is_compared()) {
        trial.settle(verdict->is_lost() ? Contender::library : Contender::rondo, nanoseconds(verdict->rondo),
                     nanoseconds(verdict->library), nanoseconds(verdict->alone));
    } else {
        trial.settle_uncompared(nanoseconds(verdict->alone));
    }
    return trial;
}

void History::note(const Trial& trial, const mpi::Communicator& communicator) noexcept try {
    const bool is_begun = !trial.is_over() || trial.is_undecided();
    if (mpi::world().rank() != 0 || (is_begun && !keeps_begun())) return;
    const TrialKey& key = trial.key();
    Verdict verdict{.collective = &collectives()[key.collective],
                    .bytes = trial.bytes(),
                    .commutative = key.commutative,
                    .rounding = key.rounding,
                    .empty_parts = key.empty_parts,
                    .shape = shape_of(communicator),
                    .choice = *static_cast<const Choice*>(trial.chosen()),
                    .rondo = trial.time_of(Contender::rondo) * nanosecond,
                    .library = trial.time_of(Contender::library) * nanosecond,
                    .calls = trial.is_uncompared() && trial.alone() > 0 ? 1 : trial.timed_calls() / 2,  // for a day
                    .alone = trial.alone() * nanosecond,
                    .day = day_before(0)};
    if (is_begun) {
        const auto times = std::span(trial.times()).first(static_cast<std::size_t>(trial.timed_calls()));
        verdict.begun.resize(times.size());
        std::ranges::transform(times, verdict.begun.begin(), [](float time) { return time * nanosecond; });
    }
    constexpr double longest = 1e9;
    const auto is_unseen = [](double time) { return time > longest; };  // the call has not ended in any timing
    if (is_unseen(verdict.rondo) || is_unseen(verdict.library) || std::ranges::any_of(verdict.begun, is_unseen)) return;
    const std::lock_guard lock(mutex_);
    // One of several trials about the same calls, on several communicators, may be over, or further on.
    const auto says_more = [&](const Verdict& each) {
        const bool is_further_on = verdict.is_begun() && each.begun.size() > verdict.begun.size();
        return each.is_about(verdict) && (is_further_on || each.certainty() > verdict.certainty());
    };
    if (std::ranges::none_of(fresh_.all(), says_more)) fresh_.add(std::move(verdict));
} catch (const std::bad_alloc&) {
    return;  // the next run has the same trial
}

void History::note(KeptProposal proposal) noexcept try {
    if (mpi::world().rank() != 0) return;
    proposal.day = day_before(0);
    const std::lock_guard lock(mutex_);
    fresh_.add(std::move(proposal));
} catch (const std::bad_alloc&) {
    return;  // the next run asks the model
}

bool History::keeps_begun() const { return opened_ && mpi::world().is_serial(); }

std::vector<History::Known> History::known() {
    const std::lock_guard lock(mutex_);
    std::vector<Known> known;
    for (std::size_t i = 0; i < used_.size(); ++i) {
        const Verdict& before = before_.all()[i];
        const auto replaces_it = [&](const Verdict& each) { return !each.is_begun() && each.is_about(before); };
        if (used_[i] && std::ranges::none_of(fresh_.all(), replaces_it)) known.push_back({before, false});
    }
    for (const Verdict& each : fresh_.all()) {
        if (!each.is_begun()) known.push_back({each, true});
    }
    return known;
}

/// Writes what is new. A child of the process writes nothing.
void History::write() {
    if (path_.empty() || fresh_.empty() || process_ != getpid()) return;
    try {
        const std::string problem = update_verdicts(path_, [this, limit = day_before(days_to_keep)](Verdicts& kept) {
            kept.remove_if([&](const Verdict& each) { return !each.keeps_bits() && each.day < limit; });
            kept.remove_proposals_if([&](const KeptProposal& each) { return each.day < limit; });
            for (const KeptProposal& each : fresh_.proposals()) kept.add(each);
            for (const Verdict& each : fresh_.all()) {
                // Another run at the same time may have been the first to know, or know more. A verdict that bits
                // depend on stays.
                const bool is_known = std::ranges::any_of(kept.all(), [&](const Verdict& k) {
                    return !k.is_begun() && holds(k) && k.is_about(each) &&
                           (each.rounding || k.certainty() > each.certainty());
                });
                if (!is_known) kept.add(each);
            }
        });
        if (!problem.empty()) mpi::warn(("what was learned is lost: " + problem).c_str());
    } catch (const std::bad_alloc&) {
        mpi::warn("what was learned is lost: no memory");
    }
}

}  // namespace rondo::guard
