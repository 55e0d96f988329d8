// SPDX-License-Identifier: BSD-3-Clause
// All that ranks can do in small models: whatever each of them remembers, they choose alike, and wait for each other at
// the same points. All ranks know the same of trials, so what each does next, with the same answers to what it asks the
// others, can be compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/guard/model.hpp"
#include "tests/sanitized.hpp"

namespace rondo::guard {
namespace {

/// What all ranks know, and what each remembers. Tables are equal on all of them, or there is a fault.
struct State {
    Tables tables;
    std::array<std::array<ShortestWay, different_calls>, 3> remembered{};

    friend bool operator==(const State&, const State&) = default;
};

struct Hash {
    std::size_t operator()(const State& state) const {
        std::uint64_t hash = 0;
        const auto add = [&](auto... values) {
            ((hash = (std::rotl(hash, 7) ^ static_cast<std::uint64_t>(values)) * 0x9e3779b97f4a7c15), ...);
        };
        for (const auto* const stored : {&state.tables.world, &state.tables.part}) {
            add(stored->table.may_wait());
            for (const Trial& each : stored->places) {
                add(each.is_over(), each.revalidates(), each.winner(), each.calls_left(), each.timed_calls());
                for (const float time : each.times()) add(std::bit_cast<std::uint32_t>(time));
            }
        }
        for (const auto& of_rank : state.remembered) {
            for (const ShortestWay& each : of_rank) add(each ? static_cast<int>(*each) + 1 : 0);
        }
        return hash;
    }
};

/// Goes through all states that a few actions lead to: calls, as ranks remember more or less of what came before, and
/// many calls at once that change nothing but counts.
class Exploration {
  public:
    explicit Exploration(const Model& model) : model_(model) {}

    /// What came before the first call in which ranks part; empty if there is none.
    std::string find_fault() {
        std::vector<const State*> reached{&origins_.try_emplace(State{}).first->first};
        for (int action = 0; action < model_.actions && fault_.empty(); ++action) {
            fresh_.clear();
            for (const State* const state : reached) {
                for (std::size_t number = 0; number < model_.calls() && fault_.empty(); ++number) {
                    act(*state, {number % 2 != 0, number / 4, number / 2 % 2});
                }
            }
            reached = fresh_;
        }
        return fault_;
    }
    template <class Predicate>
    [[nodiscard]] bool comes_to(Predicate&& predicate) const {
        return std::ranges::any_of(origins_, [&](const auto& each) { return predicate(each.first); });
    }
    /// As Caller::make has them.
    [[nodiscard]] bool has_seen(const std::string& events) const { return seen_.contains(events); }

  private:
    struct Origin {
        const State* before = nullptr;
        std::string action = {};
    };
    /// What ranks have done, and the states that may follow.
    struct Made {
        std::string events;
        std::vector<State> next;
    };

    void act(const State& state, const Call& call) {
        now_ = &state;
        Answers answers;
        do {
            const Made made = make(state, call, answers);
            for (const State& next : made.next) keep(next, state, name(call) + made.events);
        } while (fault_.empty() && answers.advance());
        if (call.length == 0) make_many(state, call);
    }

    /// Calls until it is time to revalidate, and then until ranks are about to exchange times.
    void make_many(const State& state, const Call& call) {
        State last = state;
        if (Trial* const trial = model_.trial(last.tables, call); trial != nullptr && trial->is_over()) {
            *trial->counter() = 0;
            keep(last, state, name(call) + "until it is time");
        }
        for (int made = 0; made < Trial::most_calls + Trial::calls_to_rest; ++made) {
            Answers answers;
            const Made next = make(last, call, answers);
            const bool is_exchanging = next.events.find('e') != std::string::npos;
            if (is_exchanging || !fault_.empty()) break;
            last = next.next.front();
        }
        keep(last, state, name(call) + "...");
    }

    /// One call, whatever each rank makes use of, with the same answers on all.
    Made make(const State& state, const Call& call, Answers& answers) {
        Made made;
        for (std::size_t rank = 0; rank < model_.members(call); ++rank) {
            std::vector<State> next;
            for (const Use use : uses(state.remembered[rank][call.number()])) {
                Rank copy{state.tables, state.remembered[rank]};
                answers.asked = 0;
                const std::string events = Caller(model_, copy, call, use, answers).make();
                if (made.next.empty()) made = {events, {{copy.tables, state.remembered}}};
                const bool is_alike = events == made.events && copy.tables == made.next.front().tables;
                if (!is_alike || !leaves_others_alone(copy, state, call)) {
                    tell(name(call) + made.events + " but " + events + " on rank " + std::to_string(rank),
                         &state != now_);
                    return {};
                }
                for (State each : made.next) {
                    each.remembered[rank] = copy.remembered;
                    if (std::ranges::find(next, each) == next.end()) next.push_back(each);
                }
            }
            made.next = std::move(next);
        }
        seen_.insert(made.events);
        return made;
    }
    static std::vector<Use> uses(const ShortestWay& known) {
        if (known) return {Use::nothing, Use::shortest_way};
        return {Use::nothing};
    }
    [[nodiscard]] bool leaves_others_alone(const Rank& rank, const State& before, const Call& call) const {
        return model_.is_on_world(call) || rank.tables.world.table == before.tables.world.table;
    }

    void keep(const State& state, const State& before, const std::string& action) {
        const auto [place, is_new] = origins_.try_emplace(state, Origin{&before, action});
        if (is_new) fresh_.push_back(&place->first);
    }
    /// W: on the world, P: on its part; the kind; ': of the other length.
    static std::string name(const Call& call) {
        return std::string(call.on_part ? "P" : "W") + std::to_string(call.kind) + (call.length == 0 ? " " : "' ");
    }
    void tell(const std::string& last, bool is_after_others) {
        fault_ = (is_after_others ? "some like it, " : "") + last;
        const auto* origin = &origins_.at(*now_);
        for (; origin->before != nullptr; origin = &origins_.at(*origin->before)) {
            fault_.insert(0, origin->action + ", ");
        }
    }

    Model model_;
    std::unordered_map<State, Origin, Hash> origins_;
    std::vector<const State*> fresh_;
    const State* now_ = nullptr;
    std::set<std::string> seen_;
    std::string fault_;
};

class RanksNeverPart : public testing::TestWithParam<Model> {};

TEST_P(RanksNeverPart, whatever_they_remember) {
    Model model = GetParam();
    if (std::getenv("RONDO_SOAK") != nullptr) ++model.actions;
    if (is_sanitized) --model.actions;
    EXPECT_EQ(Exploration(model).find_fault(), "");
}

constexpr Model models[] = {
    {3, {&broadcast}, 5},
    {3, {&short_broadcast}, 5},
    {3, {&long_broadcast}, 4},
    {3, {&maximum}, 5},
    {3, {&sum}, 5},
    {3, {&short_sum}, 6},
    {2, {&broadcast}, 5},
    {3, {&broadcast, &maximum}, 4},
    {3, {&short_broadcast, &sum}, 4},
    {3, {&long_broadcast, &short_sum}, 4},
    {2, {&broadcast, &short_sum}, 4},
    {3, {&broadcast}, 6, Earlier::won},
    {2, {&broadcast}, 5, Earlier::lost},
    {3, {&short_broadcast, &maximum}, 4, Earlier::lost},
    {3, {&broadcast, &sum}, 4, Earlier::uncompared},
    {3, {&long_broadcast}, 4, Earlier::begun},
    {3, {&sum}, 5, Earlier::lost},
    {3, {&ahead}, 6},
    {3, {&ahead}, 6, Earlier::won},
    {3, {&short_ahead}, 6},
    {3, {&any_ahead}, 6},
    {3, {&reduction}, 6},
    {2, {&ahead, &reduction}, 4},
};
INSTANTIATE_TEST_SUITE_P(Small, RanksNeverPart, testing::ValuesIn(models));

TEST(Exploration, comes_to_all_that_could_make_ranks_part) {
    Exploration exploration({3, {&short_broadcast}, 5});
    ASSERT_EQ(exploration.find_fault(), "");
    const auto trial = [](const StoredTrials<2>& of) { return of.table.find(short_broadcast.key, nullptr); };
    EXPECT_TRUE(exploration.comes_to([&](const State& state) {  // the part takes the world's verdict over
        const Trial *const whole = trial(state.tables.world), *const part = trial(state.tables.part);
        return part != nullptr && part->is_over() && whole != nullptr && *part == *whole;
    }));
    EXPECT_TRUE(exploration.comes_to([&](const State& state) {  // or decides for itself
        const Trial *const whole = trial(state.tables.world), *const part = trial(state.tables.part);
        return part != nullptr && part->is_over() && (whole == nullptr || whole->winner() != part->winner());
    }));
    EXPECT_TRUE(exploration.comes_to([&](const State& state) {
        const Trial* const part = trial(state.tables.part);
        return part != nullptr && part->revalidates();
    }));
    EXPECT_TRUE(exploration.comes_to([](const State& state) { return !state.tables.world.table.may_wait(); }));
    for (const char* const events : {"L", "R", "bL", "bLe", "Lb", "Lbe", "Lbe!"}) {
        EXPECT_TRUE(exploration.has_seen(events)) << events;
    }
}

TEST(Exploration, comes_to_calls_that_may_overlap) {
    for (const Earlier earlier : {Earlier::nothing, Earlier::won}) {
        Exploration exploration({3, {&ahead}, 6, earlier});
        ASSERT_EQ(exploration.find_fault(), "");
        const auto some_trial = [&](auto&& is_so) {
            return exploration.comes_to([&](const State& state) {
                const Trial* const trial = state.tables.world.table.find(ahead.key, nullptr);
                return trial != nullptr && is_so(*trial);
            });
        };
        EXPECT_TRUE(some_trial([](const Trial& trial) { return trial.watches(); }));
        EXPECT_TRUE(some_trial([](const Trial& trial) { return trial.is_in_row(); }));
        EXPECT_TRUE(some_trial([](const Trial& trial) { return trial.alone() > 0 && trial.is_lost(); }));
        if (earlier == Earlier::won) continue;
        EXPECT_TRUE(some_trial([](const Trial& trial) { return trial.timed_calls() == Trial::first_batches; }));
        EXPECT_TRUE(some_trial([](const Trial& trial) { return trial.is_over() && trial.alone() == 0; }));
    }
}

}  // namespace
}  // namespace rondo::guard
