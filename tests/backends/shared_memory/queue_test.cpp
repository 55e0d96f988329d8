// SPDX-License-Identifier: BSD-3-Clause
// The protocol between a writer and a reader, tried in every order in which they may take their steps.
//
// A step is one access to memory that both see. The text is that of the room (queue.hpp, shares.hpp); only the memory
// is a model: it knows which accesses an acquire that saw a release puts in order, and takes two accesses in no order
// for a race. All reachable states are visited once each.
#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "rondo/backends/shared_memory/layout.hpp"
#include "rondo/backends/shared_memory/queue.hpp"
#include "rondo/backends/shared_memory/shares.hpp"

namespace rondo::shared_memory {
namespace {

constexpr int writer = 0, reader = 1;
constexpr std::uint64_t slots = 2;

/// How much of each side's work another place knows to be done: a vector clock.
using Clock = std::array<int, 2>;

Clock later(const Clock& a, const Clock& b) { return {std::max(a[0], b[0]), std::max(a[1], b[1])}; }

struct Race : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One word or one line. Only atomics carry order from one side to the other.
struct Cell {
    std::uint64_t value = 0;
    Clock released{};              // what whoever acquires this value knows
    std::array<int, 2> written{};  // when each side last wrote and read, by its own clock
    std::array<int, 2> read{};

    auto operator<=>(const Cell&) const = default;
};

/// Shares of the message that both sides copy, where they do, and how long it is.
constexpr std::size_t shares = 2;
constexpr std::uint64_t shared_bytes = shares * Shares::least;

/// Cells: numbers of the lines, lines, consumed, whether it is read, memory that a message refers to; what both sides
/// of a copy know of it, and memory of the reader that it goes to.
constexpr std::size_t number_cell = 0, line_cell = slots, consumed_cell = 2 * slots, read_cell = consumed_cell + 1,
                      parcel_cell = read_cell + 1, into_cell = parcel_cell + 1, taken_cell = into_cell + 1,
                      written_cell = taken_cell + 1, target_cell = written_cell + 1, cells = target_cell + shares;

/// The atomics, by what they are for.
enum class Use { number, consumed, read, into, taken, written, nothing };

constexpr Use use_of(std::size_t cell) {
    if (cell < line_cell) return Use::number;
    switch (cell) {
        case consumed_cell: return Use::consumed;
        case into_cell: return Use::into;
        case taken_cell: return Use::taken;
        case written_cell: return Use::written;
        default: return Use::read;
    }
}

/// Where the model takes an acquire or a release of the text for less than that: then there must be a race.
struct Weakness {
    Use load = Use::nothing, store = Use::nothing;
};

struct Memory {
    std::array<Cell, cells> all{};
    std::array<Clock, 2> known{};     // to each side
    std::uint64_t seen_consumed = 0;  // by the writer, last

    auto operator<=>(const Memory&) const = default;
};

/// The step is over: the rest of the side's turn happens later.
struct EndOfStep : std::exception {};

/// A side's view of the memory in one step. What it did in earlier steps of the same turn is played back; the next
/// access is the step.
class View {
  public:
    View(Memory& memory, int side, std::vector<std::uint64_t>& past, Weakness weakness)
        : memory_(memory), side_(side), past_(past), weakness_(weakness) {}

    class Word {
      public:
        Word(View& view, std::size_t cell) : view_(view), cell_(cell) {}
        [[nodiscard]] std::uint64_t load(std::memory_order order) const { return view_.load(cell_, order); }
        void store(std::uint64_t value, std::memory_order order) { view_.store(cell_, value, order); }
        bool compare_exchange_strong(std::uint64_t& expected, std::uint64_t value, std::memory_order /*relaxed*/) {
            const std::uint64_t seen = view_.exchange_if(cell_, expected, value);
            const bool is_expected = seen == expected;
            expected = seen;
            return is_expected;
        }

      private:
        View& view_;
        std::size_t cell_;
    };
    [[nodiscard]] Word number(std::uint64_t slot) { return {*this, number_cell + slot}; }
    [[nodiscard]] Word consumed() { return {*this, consumed_cell}; }
    [[nodiscard]] Word read_word() { return {*this, read_cell}; }
    [[nodiscard]] Word into() { return {*this, into_cell}; }
    [[nodiscard]] Word taken() { return {*this, taken_cell}; }
    [[nodiscard]] Word written() { return {*this, written_cell}; }

    std::uint64_t load(std::size_t cell, std::memory_order order) {
        return step([&] {
            const Cell& seen = memory_.all[cell];
            if (cell == consumed_cell) memory_.seen_consumed = seen.value;
            if (order == std::memory_order_acquire && weakness_.load != use_of(cell)) {
                memory_.known[own()] = later(memory_.known[own()], seen.released);
            }
            return seen.value;
        });
    }
    void store(std::size_t cell, std::uint64_t value, std::memory_order order) {
        step([&] {
            Cell& written = memory_.all[cell];
            written.value = value;
            ++memory_.known[own()][own()];
            written.released =
                order == std::memory_order_release && weakness_.store != use_of(cell) ? memory_.known[own()] : Clock{};
            return 0;
        });
    }

    /// Relaxed: it passes on what whoever wrote the value before has released.
    std::uint64_t exchange_if(std::size_t cell, std::uint64_t expected, std::uint64_t value) {
        return step([&] {
            Cell& changed = memory_.all[cell];
            const std::uint64_t seen = changed.value;
            if (seen == expected) changed.value = value;
            return seen;
        });
    }

    /// Plain accesses: everything of the other side must be known to be over.
    void write(std::size_t cell, std::uint64_t value) {
        step([&] {
            Cell& line = memory_.all[cell];
            if (line.written[other()] > known_of_other() || line.read[other()] > known_of_other()) {
                throw Race("a write meets an access of the other side");
            }
            line.value = value;
            line.written[own()] = ++memory_.known[own()][own()];
            return 0;
        });
    }
    std::uint64_t read(std::size_t cell) {
        return step([&] {
            Cell& line = memory_.all[cell];
            if (line.written[other()] > known_of_other()) throw Race("a read meets a write of the other side");
            line.read[own()] = ++memory_.known[own()][own()];
            return line.value;
        });
    }

  private:
    [[nodiscard]] std::size_t own() const { return static_cast<std::size_t>(side_); }
    [[nodiscard]] std::size_t other() const { return static_cast<std::size_t>(1 - side_); }
    [[nodiscard]] int known_of_other() const { return memory_.known[own()][other()]; }

    template <class Access>
    std::uint64_t step(Access&& access) {
        if (next_ < past_.size()) return past_[next_++];
        if (stepped_) throw EndOfStep();
        stepped_ = true;
        ++next_;
        past_.push_back(static_cast<std::uint64_t>(access()));
        return past_.back();
    }

    Memory& memory_;
    int side_;
    std::vector<std::uint64_t>& past_;
    Weakness weakness_;
    std::size_t next_ = 0;
    bool stepped_ = false;
};

/// What becomes of a message that refers to memory of the writer.
enum class Copy {
    none,       ///< it is read there
    shared,     ///< both sides copy it
    refused,    ///< the same, but the writer may not write
    abandoned,  ///< the reader gives up after its first share
};

/// What is sent: messages of so many lines; one of them may refer to memory that the writer wants to use again.
struct Script {
    std::vector<std::uint64_t> lines;
    std::optional<std::size_t> refers;
    Copy copy = Copy::none;
};

constexpr std::uint64_t parcel_value = 77;

std::uint64_t content(std::size_t message, std::uint64_t line) { return 100 * (message + 1) + line; }

/// Both sides between two of their turns, and the steps of turns that have begun. A turn is one try: to push a message,
/// to take one, to have the memory back.
struct State {
    Memory memory;
    QueueWriter<slots> out;
    QueueReader<slots> in;
    std::size_t sent = 0, taken = 0;
    bool has_filled = false, has_back = false, is_refused = false;
    std::optional<bool> copies;  // the reader: shares of what the last message refers to; whether it goes on
    std::array<std::vector<std::uint64_t>, 2> past;
};

class Model {
  public:
    Model(Script script, Weakness weakness) : script_(std::move(script)), weakness_(weakness) {}

    /// Visits every state. Throws Race; fails the test where something else is wrong.
    std::size_t visit_all() {
        std::vector<State> open{State{}};
        while (!open.empty()) {
            const State state = std::move(open.back());
            open.pop_back();
            if (!seen_.insert(key(state)).second) continue;
            bool is_stuck = !is_over(state);  // a try in vain leaves everything as it was
            for (const int side : {writer, reader}) {
                State next = state;
                if (!step(next, side)) continue;
                is_stuck = is_stuck && key(next) == key(state);
                open.push_back(std::move(next));
            }
            EXPECT_FALSE(is_stuck) << state.sent << " sent, " << state.taken << " taken";
            ends_ += is_over(state) ? 1 : 0;
        }
        return ends_;
    }
    [[nodiscard]] std::size_t states() const { return seen_.size(); }

  private:
    using Key = std::tuple<Memory, std::size_t, std::size_t, bool, bool, bool, std::optional<bool>,
                           std::array<std::vector<std::uint64_t>, 2>>;

    /// What the two ends keep for themselves follows from this.
    Key key(const State& state) const {
        return {state.memory,   state.sent,       state.taken,  state.has_filled,
                state.has_back, state.is_refused, state.copies, state.past};
    }

    [[nodiscard]] bool is_over(const State& state) const {
        return state.taken == script_.lines.size() && (!script_.refers || state.has_back);
    }

    /// One access of a side. False if it has nothing to do any more.
    bool step(State& state, int side) {
        State before = state;
        View view(state.memory, side, state.past[static_cast<std::size_t>(side)], weakness_);
        try {
            const bool has_work = side == writer ? write(state, view) : read(state, view);
            if (!has_work) return false;
            state.past[static_cast<std::size_t>(side)].clear();
        } catch (const EndOfStep&) {  // the turn goes on later, from where it began
            before.memory = state.memory;
            before.past = state.past;
            state = std::move(before);
        }
        return true;
    }

    bool write(State& state, View& view) {
        if (state.sent < script_.lines.size()) {
            const std::size_t message = state.sent;
            if (script_.refers == message && !state.has_filled) {
                view.write(parcel_cell, parcel_value);
                state.has_filled = true;
                return true;
            }
            const bool pushed = state.out.push(
                view, script_.lines[message],
                [&](std::uint64_t slot, std::uint64_t line) { view.write(line_cell + slot, content(message, line)); });
            if (pushed) ++state.sent;
            return true;
        }
        if (!script_.refers || state.has_back) return false;
        if (is_read(view.read_word())) {
            EXPECT_EQ(bytes_read(view.read_word()), parcel_value);
            view.write(parcel_cell, 0);
            state.has_back = true;
        } else if (script_.copy != Copy::none && !state.is_refused) {
            write_share(state, view);
        }
        return true;
    }

    void write_share(State& state, View& view) const {
        if (view.into().load(std::memory_order_acquire) == 0) return;
        const Shares all(shared_bytes);
        const Share share = all.take_back(view.taken());
        if (share.bytes == 0) return;
        if (script_.copy == Copy::refused) {
            all.give_back(view.taken(), share);
            state.is_refused = true;
            return;
        }
        write_target(view, share, view.read(parcel_cell));
        all.note_written(view.written(), share);
    }

    static void write_target(View& view, const Share& share, std::uint64_t value) {
        for (std::uint64_t byte = share.first; byte < share.first + share.bytes; byte += Shares::least) {
            view.write(target_cell + byte / Shares::least, value);
        }
    }

    bool read(State& state, View& view) {
        if (state.copies) return read_share(state, view);
        if (state.taken == script_.lines.size()) return false;
        if (!state.in.has_message(view)) return true;
        const std::size_t message = state.taken;
        for (std::uint64_t line = 0; line < script_.lines[message]; ++line) {
            EXPECT_EQ(view.read(line_cell + state.in.slot(line)), content(message, line));
        }
        state.in.consume(view, script_.lines[message]);
        if (script_.refers == message && script_.copy != Copy::none) {
            write_target(view, {0, shared_bytes}, 0);  // its own until now
            view.into().store(1, std::memory_order_release);
            state.copies = true;
            return true;
        }
        if (script_.refers == message) {
            const std::uint64_t value = view.read(parcel_cell);
            EXPECT_EQ(value, parcel_value);
            tell_read(view.read_word(), value);
        }
        ++state.taken;
        return true;
    }

    bool read_share(State& state, View& view) const {
        const Shares all(shared_bytes);
        const bool goes_on = state.copies.value_or(false);
        if (goes_on) {
            const Share share = all.take_front(view.taken());
            if (share.bytes > 0) {
                write_target(view, share, view.read(parcel_cell));
                state.copies = script_.copy != Copy::abandoned;
                return true;
            }
        }
        const bool is_over =
            goes_on ? all.is_complete(view.taken(), view.written()) : all.close(view.taken(), view.written());
        if (!is_over) return true;
        for (std::size_t share = 0; share < shares; ++share) {
            if (goes_on) EXPECT_EQ(view.read(target_cell + share), parcel_value);
            view.write(target_cell + share, 0);  // its own again
        }
        tell_read(view.read_word(), parcel_value);
        state.copies.reset();
        ++state.taken;
        return true;
    }

    Script script_;
    Weakness weakness_;
    std::set<Key> seen_;
    std::size_t ends_ = 0;
};

std::vector<Script> scripts() {
    return {{{1, 1, 1}, {}},         {{1, 1, 1}, 0},           {{1, 1, 1}, 1},          {{2, 1, 2}, {}},
            {{1, 2, 1}, 2},          {{2, 2, 2}, 1},           {{1, 1, 2, 1, 1, 2}, 4}, {{1}, 0, Copy::shared},
            {{1}, 0, Copy::refused}, {{1}, 0, Copy::abandoned}};
}

TEST(shared_memory_model, has_no_order_of_steps_that_goes_wrong) {
    for (const Script& script : scripts()) {
        Model model(script, {});
        EXPECT_NO_THROW(EXPECT_GT(model.visit_all(), 0U));
        EXPECT_GT(model.states(), 20U);
    }
}

TEST(shared_memory_model, needs_every_acquire_and_release) {
    const auto races = [](Weakness weakness) {
        const std::vector<Script> all = scripts();
        return std::any_of(all.begin(), all.end(), [&](const Script& script) {
            try {
                Model(script, weakness).visit_all();
                return false;
            } catch (const Race&) {
                return true;
            }
        });
    };
    EXPECT_FALSE(races({}));
    for (const Use use : {Use::number, Use::consumed, Use::read, Use::into, Use::written}) {
        EXPECT_TRUE(races({.load = use})) << static_cast<int>(use);
        EXPECT_TRUE(races({.store = use})) << static_cast<int>(use);
    }
}

/// For the thread sanitizer, and for what processors do with orders that a model takes as given.
TEST(shared_memory_queue, passes_messages_between_threads) {
    constexpr std::uint64_t messages = 20000;
    constexpr auto lines_of = [](std::uint64_t message) { return 1 + message % 7; };
    const auto lines = std::make_unique<Line[]>(queue_lines);
    Notice notice{};
    std::atomic<std::uint64_t> said{0};
    std::uint64_t parcel = 0;
    std::thread sending([&, queue = Queue{lines.get(), &notice}]() mutable {
        Writer out;
        for (std::uint64_t message = 0; message < messages; ++message) {
            const bool refers = message % 64 == 0;
            if (refers) {
                parcel = message;
                said.store(0, std::memory_order_relaxed);
            }
            const auto fill = [&](std::uint64_t slot, std::uint64_t line) {
                const std::uint64_t value = message + line;
                std::memcpy(lines[slot].content, &value, sizeof value);
            };
            while (!out.push(queue, lines_of(message), fill)) std::this_thread::yield();
            while (refers && !is_read(said)) std::this_thread::yield();
        }
    });
    Queue queue{lines.get(), &notice};
    Reader in;
    std::uint64_t wrong = 0;
    for (std::uint64_t message = 0; message < messages; ++message) {
        while (!in.has_message(queue)) std::this_thread::yield();
        for (std::uint64_t line = 0; line < lines_of(message); ++line) {
            std::uint64_t value;
            std::memcpy(&value, lines[in.slot(line)].content, sizeof value);
            wrong += value == message + line ? 0U : 1U;
        }
        in.consume(queue, lines_of(message));
        if (message % 64 != 0) continue;
        wrong += parcel == message ? 0U : 1U;
        tell_read(said, parcel);
    }
    sending.join();
    EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace rondo::shared_memory
