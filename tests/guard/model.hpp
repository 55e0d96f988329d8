// SPDX-License-Identifier: BSD-3-Clause
// Small models of ranks that make calls: what each of them remembers, and what it does in one call, with made-up
// answers to what it asks the others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/guard/guard.hpp"

namespace rondo::guard {

/// Calls of two lengths, of which the trial compares those of the first one that comes.
struct Kind {
    TrialKey key;
    bool waits_for_all;
    float call;  ///< nanoseconds
    std::array<std::int64_t, 2> lengths{1000, 800};
};
inline constexpr Kind broadcast{{.collective = 0}, false, 1e6F};
inline constexpr Kind short_broadcast{{.collective = 0}, false, 1e3F};
inline constexpr Kind long_broadcast{{.collective = 0}, false, 1e6F, {Trial::long_call, 2 * Trial::long_call - 1}};
inline constexpr Kind maximum{{.collective = 1}, true, 1e6F};
inline constexpr Kind sum{{.collective = 1, .rounding = true}, true, 1e6F};
inline constexpr Kind short_sum{{.collective = 1, .rounding = true}, true, 1e3F};
inline constexpr Kind ahead{{.collective = 0, .runs_ahead = true}, false, 1e6F};
inline constexpr Kind short_ahead{{.collective = 0, .runs_ahead = true}, false, 1e3F};
inline constexpr Kind any_ahead{{.collective = 0, .runs_ahead = true, .any_length = true}, false, 1e6F, {0, 0}};
inline constexpr Kind reduction{{.collective = 1, .rounding = true, .runs_ahead = true}, false, 1e6F};

/// What an earlier run has left for calls of the first kind.
enum class Earlier : std::uint8_t { nothing, won, lost, uncompared, begun };

struct Call {
    bool on_part;
    std::size_t kind, length;

    [[nodiscard]] std::size_t number() const { return (on_part ? 4U : 0U) + 2 * kind + length; }
};
inline constexpr std::size_t different_calls = 8;

/// Who carries out a call by the shortest way, as CachedCall has it.
using ShortestWay = std::optional<Contender>;

struct Tables {
    StoredTrials<2> world, part;

    friend bool operator==(const Tables& a, const Tables& b) {
        return a.world.table == b.world.table && a.part.table == b.part.table;
    }
};

struct Model {
    std::size_t ranks;  ///< of the world; the part has two, which may be all: then it is a duplicate of the world
    std::array<const Kind*, 2> kinds;  ///< or one
    int actions;                       ///< one after the other
    Earlier earlier = Earlier::nothing;

    [[nodiscard]] bool is_on_world(const Call& call) const { return !call.on_part || ranks == 2; }
    [[nodiscard]] std::size_t members(const Call& call) const { return call.on_part ? 2 : ranks; }
    [[nodiscard]] std::size_t calls() const { return kinds[1] == nullptr ? 4 : 8; }
    [[nodiscard]] const Kind& kind(const Call& call) const { return *kinds[call.kind]; }
    [[nodiscard]] TrialTable& table(Tables& tables, const Call& call) const {
        return is_on_world(call) ? tables.world.table : tables.part.table;
    }
    [[nodiscard]] Trial* trial(Tables& tables, const Call& call) const {
        return table(tables, call).find(kind(call).key, nullptr);
    }
};

struct Rank {
    Tables tables;
    std::array<ShortestWay, different_calls> remembered{};

    friend bool operator==(const Rank&, const Rank&) = default;
};

/// Whether a rank makes use of what it remembers beside trials.
enum class Use : std::uint8_t { shortest_way, nothing };

enum class Answer : std::uint8_t { rondo_is_faster, library_is_faster, alike, noise, failure };

/// The times of the two contenders' calls that show as much: odd and even numbers, in turn, show nothing.
inline float time_that_says(Answer answer, Contender contender, int call) {
    const bool is_rondo = contender == Contender::rondo;
    switch (answer) {
        case Answer::rondo_is_faster: return is_rondo ? 1.0F : 3.0F;
        case Answer::library_is_faster: return is_rondo ? 3.0F : 1.0F;
        case Answer::noise: return static_cast<float>(2 * call + (is_rondo ? 2 : 1));
        default: return 1.0F;
    }
}

/// The ranks' answers in one call. All get the same ones; which, is chosen as far as the first rank asks.
struct Answers {
    std::vector<int> chosen, possible;
    std::size_t asked = 0;

    int next(int number) {
        if (asked == chosen.size()) {
            chosen.push_back(0);
            possible.push_back(number);
        }
        return chosen[asked++];
    }
    /// The next combination; false if there is none.
    bool advance() {
        while (!chosen.empty() && chosen.back() + 1 >= possible.back()) {
            chosen.pop_back();
            possible.pop_back();
        }
        if (chosen.empty()) return false;
        ++chosen.back();
        return true;
    }
};

class ModelSite final : public Site {
  public:
    ModelSite(const Model& model, Tables& tables, const Call& call, Answers& answers, std::string& events)
        : Site(trials(model, tables, call), model.kind(call).waits_for_all), model_(model), call_(call),
          table_(model.table(tables, call)), answers_(answers), events_(events) {}

    Attendance come_together(bool /*ready*/, std::span<float> times) override {
        events_ += 'b';
        constexpr std::array all{Attendance::all_ready, Attendance::not_all_ready, Attendance::not_all_here};
        const Attendance attendance = all[static_cast<std::size_t>(answers_.next(call_waits_for_all() ? 2 : 3))];
        if (attendance == Attendance::all_ready && !times.empty()) {
            events_ += 'e';
            answer(times, different_times);
        }
        return attendance;
    }
    void meet() override { events_ += 'm'; }
    bool agree_on(std::span<float> times) override {
        events_ += 'e';
        const Trial& trial = *table_.find(kind().key, nullptr);
        if (!trial.notes_pauses()) return answer(times, different_times + 1);
        std::ranges::fill(times, -2 * kind().call);  // what coming together takes
        return answers_.next(2) == 0;
    }
    std::optional<Trial> take_up(const Trial& fresh) override {
        if (call_.kind != 0) return std::nullopt;
        Trial trial = fresh;
        switch (model_.earlier) {
            case Earlier::nothing: return std::nullopt;
            case Earlier::won: trial.settle(Contender::rondo, kind().call, 2 * kind().call); break;
            case Earlier::lost: trial.settle(Contender::library, 2 * kind().call, kind().call); break;
            case Earlier::uncompared: trial.settle_uncompared(); break;
            case Earlier::begun: trial.resume(std::array{kind().call, kind().call});
        }
        return trial;
    }
    [[nodiscard]] bool keeps_begun() const override { return true; }
    void note(const Trial& /*trial*/) override {}
    /// There may have been other calls before a watched one.
    [[nodiscard]] Moment now() const override {
        if (!table_.find(kind().key, nullptr)->notes_pauses()) return {};
        return {1, static_cast<std::uint32_t>(answers_.next(2)), 0};
    }
    [[nodiscard]] bool is_gone() const override { return false; }

  private:
    static constexpr int different_times = static_cast<int>(Answer::failure);

    /// One of so many answers about the slowest rank; false if ranks could not agree.
    bool answer(std::span<float> times, int possible) {
        const Trial& trial = *table_.find(kind().key, nullptr);
        if (trial.notes_pauses()) {
            times.front() = answers_.next(2) == 0 ? 0 : 2 * kind().call;
            times = times.subspan(1);
        }
        if (times.empty()) return true;
        const auto answer = static_cast<Answer>(answers_.next(possible));
        std::array<int, 2> calls{};
        for (int call = 0; call < trial.timed_calls(); ++call) {
            const Contender contender = trial.contender_in(call);
            const int before = calls[static_cast<std::size_t>(contender)]++;
            times[static_cast<std::size_t>(call)] = kind().call * time_that_says(answer, contender, before);
        }
        return answer != Answer::failure;
    }
    static Trials trials(const Model& model, Tables& tables, const Call& call) {
        if (model.is_on_world(call)) return {tables.world.table, nullptr, false};
        return {tables.part.table, &tables.world.table, false};
    }
    [[nodiscard]] const Kind& kind() const { return model_.kind(call_); }

    const Model& model_;
    const Call& call_;
    const TrialTable& table_;
    Answers& answers_;
    std::string& events_;
};

/// A rank's call, as the interposer serves it.
class Caller {
  public:
    Caller(const Model& model, Rank& rank, const Call& call, Use use, Answers& answers)
        : rank_(rank), use_(use), remembered_(rank.remembered[call.number()]),
          fresh_(model.kind(call).key, model.kind(call).lengths[call.length], nullptr),
          site_(model, rank.tables, call, answers, events_), known_(model.trial(rank.tables, call)) {}

    /// What it has done: b(arrier), e(xchange of times), m(eeting), R(ondo's call), L(ibrary's).
    std::string make() {
        const std::uint64_t epoch = mpi::epoch();
        if (use_ != Use::shortest_way || !goes_the_shortest_way()) serve();
        if (mpi::epoch() != epoch) {
            events_ += '!';
            rank_.remembered.fill({});
        }
        return events_;
    }

  private:
    int carry_out(Contender contender) {
        events_ += contender == Contender::rondo ? 'R' : 'L';
        return 0;
    }
    bool goes_the_shortest_way() {
        if (!remembered_ || --*known_->counter() < 0) return false;
        carry_out(*remembered_);
        return true;
    }
    void serve() {
        remembered_.reset();
        Trial& trial = *begin_call(fresh_, site_);
        const auto course = trial.course_of(fresh_.bytes());
        if (course == Trial::Course::compared) {
            compare_contenders(trial);
            return;
        }
        const auto contender = course == Trial::Course::rondo ? Contender::rondo : Contender::library;
        if (contender == Contender::library || trial.is_over()) remembered_ = contender;
        carry_out(contender);
    }
    void compare_contenders(Trial& trial) {
        struct Rehearsal {
            Caller* caller;
            bool prepare() const { return true; }
            void take_input() const {}
            int carry_out() const { return caller->carry_out(Contender::library); }
            void give_back_input() const {}
        };
        if (trial.compares_twice()) {
            compare_twice(trial, site_, Rehearsal{this}, [&](bool) { return carry_out(Contender::rondo); });
        } else {
            compare(trial, site_, [&](Contender contender) { return carry_out(contender); });
        }
    }

    Rank& rank_;
    Use use_;
    ShortestWay& remembered_;
    Trial fresh_;
    std::string events_;
    ModelSite site_;
    Trial* known_;
};

}  // namespace rondo::guard
