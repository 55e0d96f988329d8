// SPDX-License-Identifier: BSD-3-Clause
// Transfers between two neighbours in every order in which these may post, poll and abandon.
//
// queue_test.cpp tries every order of accesses to memory; here a step is one call, and the text is all of it: lines,
// pieces, addresses, what cannot be read there. Both neighbours live in this process, which maps its own regions, and
// reads its own memory by system calls, as it would another's. Memory that the reader cannot read is without access
// while it polls. What a poll in vain leaves as it was is not tried again, so the orders are finite; each is played
// from the beginning. Those are tried in which the turn goes to the other side, where it need not, at most as often as
// `most_switches` says: few faults need more than two (Musuvathi and Qadeer, Iterative context bounding, PLDI 2007).
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/backends/shared_memory/processes.hpp"

namespace rondo::shared_memory {
namespace {

constexpr std::size_t kibibyte = 1024;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // an order takes ten times as long
constexpr int most_switches = 1;
#else
const int most_switches = std::getenv("RONDO_SOAK") != nullptr ? 3 : 2;
#endif

enum class Memory : std::uint8_t {
    plain,
    hidden,       ///< from the reader
    half_hidden,  ///< its second half
};

struct Message {
    int from;
    std::uint32_t tag;
    std::size_t bytes;
    bool is_consumed = false;  ///< where it lies
    Memory memory = Memory::plain;
};

struct Script {
    const char* name;
    Options options;
    std::vector<Message> messages;
    bool receives_backwards = false;
};

constexpr Options in_pieces{.parcel_bytes = kibibyte * kibibyte, .read_from = Channel::never};
constexpr Options in_lines{.parcel_bytes = 0, .read_from = 0};  // for an address there is no memory, either

std::vector<Script> scripts() {
    return {
        {"lines", in_lines, {{0, 1, 8}, {0, 1, 1024}, {1, 1, 105}}},
        {"more_than_the_queue_holds", in_lines, {{0, 1, 6 * kibibyte}, {0, 1, 8}}},
        {"tags_out_of_order", in_pieces, {{0, 1, 8}, {0, 2, 4 * kibibyte}, {0, 3, 8}}, true},
        {"pieces_both_ways", in_pieces, {{0, 1, 4 * kibibyte}, {1, 1, 8 * kibibyte}, {0, 1, 8}}},
        {"pieces", in_pieces, {{0, 1, 150 * kibibyte}, {1, 2, 2 * kibibyte}, {0, 1, 8}}},
        {"more_pieces_than_may_be_under_way", in_pieces, {{0, 1, 700 * kibibyte}}},
        {"consumed", in_pieces, {{0, 1, 150 * kibibyte, true}, {0, 1, 8, true}}},
        {"tags_of_addresses_out_of_order", by_address, {{0, 1, 8}, {0, 2, 4 * kibibyte}, {0, 3, 8}}, true},
        {"addresses_both_ways", by_address, {{0, 1, 4 * kibibyte}, {1, 1, 8 * kibibyte}, {0, 1, 8}}},
        {"addresses_of_one_tag", by_address, {{0, 1, 4 * kibibyte}, {0, 1, 8 * kibibyte}}},
        {"longer_than_one_poll_reads", by_address, {{0, 1, 600 * kibibyte}, {0, 1, 8}}},
        {"consumed_by_address", by_address, {{0, 1, 150 * kibibyte, true}, {0, 1, 8, true}}},
        {"hidden", by_address, {{0, 1, 12 * kibibyte, false, Memory::hidden}, {0, 1, 8}}},
        {"half_hidden", by_address, {{0, 1, 200 * kibibyte, false, Memory::half_hidden}, {0, 1, 4 * kibibyte}}},
        {"half_hidden_and_consumed", by_address, {{0, 1, 200 * kibibyte, true, Memory::half_hidden}, {0, 1, 8}}},
        {"hidden_twice",
         by_address,
         {{0, 1, 8 * kibibyte, false, Memory::hidden}, {0, 1, 12 * kibibyte, true, Memory::hidden}}},
        {"hidden_both_ways",
         by_address,
         {{0, 1, 8 * kibibyte, false, Memory::hidden}, {1, 1, 8 * kibibyte, false, Memory::hidden}}},
    };
}

/// Which of several ways an order takes at each step; after an order, the next one.
class Choices {
  public:
    std::size_t choose(std::size_t ways) {
        if (at_ == taken_.size()) {
            taken_.push_back(0);
            ways_.push_back(ways);
        }
        return taken_[at_++];
    }
    bool next() {
        at_ = 0;
        while (!taken_.empty() && ++taken_.back() == ways_.back()) {
            taken_.pop_back();
            ways_.pop_back();
        }
        return !taken_.empty();
    }

  private:
    std::vector<std::size_t> taken_, ways_;
    std::size_t at_ = 0;
};

/// Whole pages.
class Pages {
  public:
    explicit Pages(std::size_t bytes) : bytes_((bytes + page - 1) / page * page) {
        void* const data = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) std::abort();
        data_ = static_cast<std::byte*>(data);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { ::munmap(data_, bytes_); }

    [[nodiscard]] std::byte* data() const { return data_; }
    void hide(Memory which, bool hidden) const {
        if (which == Memory::plain) return;
        const std::size_t first = which == Memory::hidden ? 0 : bytes_ / 2 / page * page;
        ::mprotect(data_ + first, bytes_ - first, hidden ? PROT_NONE : PROT_READ | PROT_WRITE);
    }

  private:
    static constexpr std::size_t page = 4096;

    std::size_t bytes_;
    std::byte* data_;
};

/// What a message has in each order.
struct Store {
    explicit Store(const Message& message, std::uint64_t seed)
        : sent(message.bytes), received(message.bytes), expected(message.bytes) {
        fill(expected, seed);
    }

    Pages sent;
    std::vector<std::byte> received, expected;
};

constexpr std::byte overwritten{0x5a};

bool is_full_of(const std::vector<std::byte>& memory, std::byte content) {
    return std::all_of(memory.begin(), memory.end(), [&](std::byte each) { return each == content; });
}

/// Keeps what it consumes.
class Keeper : public Consumer {
  public:
    explicit Keeper(const std::vector<Message>& messages) : messages_(messages), kept_(messages.size()) {}

    bool wants(std::uint32_t index) override { return index < messages_.size() && messages_[index].is_consumed; }
    void consume(std::uint32_t index, const std::byte* data, std::size_t first, std::size_t bytes) override {
        if (first == kept_[index].size()) kept_[index].insert(kept_[index].end(), data, data + bytes);
    }
    [[nodiscard]] const std::vector<std::byte>& kept(std::uint32_t index) const { return kept_[index]; }

  private:
    const std::vector<Message>& messages_;
    std::vector<std::vector<std::byte>> kept_;
};

/// Two neighbours and one order of their steps.
class Play {
  public:
    Play(const Script& script, std::vector<std::unique_ptr<Store>>& stores, std::optional<int> abandons)
        : script_(script), stores_(stores), abandons_(abandons),
          neighbours_{Neighbours(0, 2, script.options), Neighbours(1, 2, script.options)},
          keepers_{Keeper(script.messages), Keeper(script.messages)},
          transfers_{Transfers(neighbours_[0], &keepers_[0]), Transfers(neighbours_[1], &keepers_[1])}, done_{} {
        for (const std::size_t side : sides) neighbours_[side].connect(other(side), neighbours_[1 - side].address());
        for (Neighbours& each : neighbours_) each.settle();
        for (std::size_t i = 0; i < script.messages.size(); ++i) {
            const Message& message = script.messages[i];
            posts_[from(message)].push_back(i);
            std::vector<std::size_t>& receives = posts_[1 - from(message)];
            receives.insert(script.receives_backwards ? receives.begin() : receives.end(), i);
            Store& store = *stores[i];
            std::copy(store.expected.begin(), store.expected.end(), store.sent.data());
            std::fill_n(store.received.data(), message.bytes, std::byte{0});
        }
    }

    /// Takes steps while there are any. What is wrong is told; empty if nothing is.
    std::string run(Choices& choices) {
        for (int number = 0;; ++number) {
            if (number > 5000) return "goes on for ever";
            std::vector<std::function<void()>> steps;
            add_steps(turn_, steps);
            const std::size_t own = steps.size();
            if (own == 0 || switches_ < most_switches) add_steps(1 - turn_, steps);
            if (steps.empty()) break;
            const std::size_t step = steps.size() > 1 ? choices.choose(steps.size()) : 0;
            if (step >= own) {
                switches_ += own > 0 ? 1 : 0;
                turn_ = 1 - turn_;
            }
            steps[step]();
            if (!wrong_.empty()) return wrong_;
        }
        if (has_abandoned_) {
            call_after_abandoning();
        } else {
            for (const std::size_t side : sides) {
                if (!transfers_[side].idle()) return "somebody waits for ever";
                if (done_[side] != script_.messages.size()) return "too few or too many are complete";
            }
        }
        return wrong_;
    }

  private:
    static constexpr std::size_t sides[] = {0, 1};
    static int other(std::size_t side) { return 1 - static_cast<int>(side); }
    static std::size_t side_of(int number) { return static_cast<std::size_t>(number); }
    static std::size_t from(const Message& message) { return side_of(message.from); }

    void add_steps(std::size_t side, std::vector<std::function<void()>>& steps) {
        if (posted_[side] < posts_[side].size()) steps.emplace_back([this, side] { post(side); });
        if (!transfers_[side].idle() && is_new_[side]) steps.emplace_back([this, side] { poll(side); });
        if (abandons_ && side_of(*abandons_) == side && !has_abandoned_ && posted_[side] > 0) {
            steps.emplace_back([this, side] { abandon(side); });
        }
    }

    void post(std::size_t side) {
        const std::size_t i = posts_[side][posted_[side]++];
        const Message& message = script_.messages[i];
        const auto index = static_cast<std::uint32_t>(i);
        is_new_ = {true, true};
        if (from(message) != side) {
            transfers_[side].receive(other(side), message.tag, stores_[i]->received.data(), message.bytes, index);
            return;
        }
        const std::byte* const data = stores_[i]->sent.data();
        if (transfers_[side].send(other(side), message.tag, data, message.bytes, index)) complete(side, index);
    }

    /// The other side's memory cannot be read meanwhile, where the script says so.
    void poll(std::size_t side) {
        hide(side, true);
        const Transfers::Progress progress = transfers_[side].poll();
        const std::vector<std::uint32_t> completed(progress.completed.begin(), progress.completed.end());
        hide(side, false);
        if (transfers_[side].failure() != nullptr) wrong_ = transfers_[side].failure();
        is_new_[side] = progress.moved;
        is_new_[1 - side] = is_new_[1 - side] || progress.moved;
        for (const std::uint32_t each : completed) complete(side, each);
    }

    void hide(std::size_t side, bool hidden) const {
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            const Message& message = script_.messages[i];
            if (from(message) != side) stores_[i]->sent.hide(message.memory, hidden);
        }
    }

    /// The memory is its owner's again, who uses it for something else at once.
    void complete(std::size_t side, std::uint32_t index) {
        ++done_[side];
        const Message& message = script_.messages[index];
        const Store& store = *stores_[index];
        if (from(message) == side) {
            std::fill_n(store.sent.data(), message.bytes, overwritten);
        } else if (message.is_consumed) {
            const std::vector<std::byte>& kept = keepers_[side].kept(index);
            if (kept.size() != message.bytes) wrong_ = "not all has been consumed";
            else check(index, kept.data());
            const bool is_in_pieces = message.bytes > most_inline && script_.options.read_from > message.bytes;
            if (is_in_pieces && !has_abandoned_ && !is_full_of(store.received, std::byte{0})) {
                wrong_ = "copied before it was consumed";
            }
        } else {
            check(index, store.received.data());
        }
    }

    void check(std::uint32_t index, const void* data) {
        const Store& store = *stores_[index];
        if (!has_abandoned_ && std::memcmp(data, store.expected.data(), store.expected.size()) != 0) {
            wrong_ = "wrong data in message " + std::to_string(index);
        }
    }

    /// Nothing of the call may be written into this side's memory any more.
    void abandon(std::size_t side) {
        has_abandoned_ = true;
        transfers_[side].abandon();
        posted_[side] = posts_[side].size();
        is_new_ = {true, true};
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            if (from(script_.messages[i]) != side) std::ranges::fill(stores_[i]->received, overwritten);
        }
    }

    /// The other side has to give up as well. The next call, of another tag, meets nothing that the first one left.
    void call_after_abandoning() {
        const int abandoning = abandons_.value_or(0);
        transfers_[side_of(1 - abandoning)].abandon();
        constexpr std::size_t bytes = 5 * kibibyte;
        const auto index = static_cast<std::uint32_t>(script_.messages.size());
        std::array<std::vector<std::byte>, 2> sent, received;
        for (const std::size_t side : sides) {
            sent[side].resize(bytes);
            received[side].resize(bytes);
            fill(sent[side], 1000 + side);
            transfers_[side].receive(other(side), 99, received[side].data(), bytes, index);
            transfers_[side].send(other(side), 99, sent[side].data(), bytes, index + 1);
        }
        for (int polls = 0; polls < 1000 && !(transfers_[0].idle() && transfers_[1].idle()); ++polls) {
            for (Transfers& each : transfers_) {
                (void)each.poll();
                if (each.failure() != nullptr) wrong_ = each.failure();
            }
        }
        if (received[0] != sent[1] || received[1] != sent[0]) wrong_ = "wrong data in the call after";
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            if (script_.messages[i].from == abandoning) continue;
            const bool is_untouched = is_full_of(stores_[i]->received, overwritten);
            if (!is_untouched) wrong_ = "memory of a call that was abandoned has been written";
        }
    }

    const Script& script_;
    std::vector<std::unique_ptr<Store>>& stores_;
    std::optional<int> abandons_;
    std::array<Neighbours, 2> neighbours_;
    std::array<Keeper, 2> keepers_;
    std::array<Transfers, 2> transfers_;
    std::array<std::vector<std::size_t>, 2> posts_;  // messages, in the order of their posts
    std::array<std::size_t, 2> posted_{}, done_;
    std::array<bool, 2> is_new_{};  // since the last poll in vain
    std::size_t turn_ = 0;
    int switches_ = 0;
    bool has_abandoned_ = false;
    std::string wrong_;
};

class EveryScript : public testing::TestWithParam<Script> {
  protected:
    /// How many orders there are. Ends at the first one that is wrong.
    std::size_t play_all(std::optional<int> abandons) {
        std::vector<std::unique_ptr<Store>> stores;
        for (const Message& each : GetParam().messages) {
            stores.push_back(std::make_unique<Store>(each, stores.size() + 1));
        }
        Choices choices;
        std::size_t orders = 0;
        do {
            ++orders;
            const std::string wrong = Play(GetParam(), stores, abandons).run(choices);
            if (!wrong.empty()) {
                ADD_FAILURE() << wrong << ", in order " << orders;
                break;
            }
        } while (choices.next());
        return orders;
    }
};

constexpr std::size_t several = 4;  // the longest script has so few where switches are few

TEST_P(EveryScript, has_no_order_of_calls_that_goes_wrong) { EXPECT_GE(play_all({}), several); }

TEST_P(EveryScript, may_be_abandoned_at_any_time) {
    for (const int side : {0, 1}) EXPECT_GE(play_all(side), several);
}

INSTANTIATE_TEST_SUITE_P(shared_memory_orders, EveryScript, testing::ValuesIn(scripts()),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace rondo::shared_memory
