// SPDX-License-Identifier: BSD-3-Clause
// Transfers between two neighbours in every order in which these may post, poll, give back and abandon.
//
// queue_test.cpp tries every order of accesses to memory; here a step is one call, and the text is all of it: lines,
// references to the region and to the rest of a process, pieces, refusals. Both neighbours live in this process, which
// maps its own regions and reads its own memory by system calls as it would another's. Memory that the reader cannot
// read is without access while it polls. What a poll in vain leaves as it was is not tried again, so the orders are
// finite; each is played from the beginning. Those are tried in which the turn goes to the other side, where it need
// not, at most as often as `most_switches` says: few faults need more than two (Musuvathi and Qadeer, Iterative context
// bounding, PLDI 2007).
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
    region,       ///< that neighbours see
};

struct Message {
    int from;
    std::uint32_t tag;
    std::size_t bytes;
    Memory memory = Memory::plain;
    bool borrowed = false;
};

struct Script {
    const char* name;
    Options options;
    std::vector<Message> messages;
    bool receives_backwards = false;
};

constexpr Options by_reference{.parcel_bytes = kibibyte * kibibyte, .reads_processes_from = 2 * kibibyte};
constexpr Options in_pieces{.parcel_bytes = kibibyte * kibibyte, .reads_processes = false};
constexpr Options in_lines{.parcel_bytes = 0, .reads_processes = false};

const Script scripts[] = {
    {"lines", in_lines, {{0, 1, 8}, {0, 1, 1024}, {1, 1, 105}}},
    {"more_than_the_queue_holds", in_lines, {{0, 1, 6 * kibibyte}, {0, 1, 8}}},
    {"tags_out_of_order", by_reference, {{0, 1, 8}, {0, 2, 4 * kibibyte}, {0, 3, 8}}, true},
    {"references_both_ways", by_reference, {{0, 1, 4 * kibibyte}, {1, 1, 8 * kibibyte}, {0, 1, 8}}},
    {"longer_than_one_poll_reads", by_reference, {{0, 1, 600 * kibibyte}, {0, 1, 8}}},
    {"pieces", in_pieces, {{0, 1, 150 * kibibyte}, {1, 2, 2 * kibibyte}, {0, 1, 8}}},
    {"more_pieces_than_may_be_under_way", in_pieces, {{0, 1, 700 * kibibyte}}},
    {"refused", by_reference, {{0, 1, 12 * kibibyte, Memory::hidden}, {0, 1, 8}}},
    {"refused_in_the_midst", by_reference, {{0, 1, 200 * kibibyte, Memory::half_hidden}, {0, 1, 4 * kibibyte}}},
    {"refused_twice", by_reference, {{0, 1, 8 * kibibyte, Memory::hidden}, {0, 1, 12 * kibibyte, Memory::hidden}}},
    {"refused_both_ways", by_reference, {{0, 1, 8 * kibibyte, Memory::hidden}, {1, 1, 8 * kibibyte, Memory::hidden}}},
    {"in_the_region", by_reference, {{0, 1, 2 * kibibyte, Memory::region}, {1, 1, 4 * kibibyte, Memory::region}}},
    {"borrowed", by_reference, {{0, 1, 4 * kibibyte, Memory::region, true}, {0, 1, 8, Memory::plain, true}}},
};

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
    explicit Pages(std::size_t bytes) : bytes_((bytes + 4095) / 4096 * 4096) {
        void* const data = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) std::abort();
        data_ = static_cast<std::byte*>(data);
    }
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;
    ~Pages() { ::munmap(data_, bytes_); }

    [[nodiscard]] std::byte* data() const { return data_; }
    void hide(Memory which, bool hidden) const {
        if (which != Memory::hidden && which != Memory::half_hidden) return;
        const std::size_t first = which == Memory::hidden ? 0 : bytes_ / 2 / 4096 * 4096;
        ::mprotect(data_ + first, bytes_ - first, hidden ? PROT_NONE : PROT_READ | PROT_WRITE);
    }

  private:
    std::size_t bytes_;
    std::byte* data_;
};

/// What a message has in each order.
struct Store {
    explicit Store(const Message& message, std::uint64_t seed)
        : sent(message.bytes), received(message.bytes), expected(message.bytes) {
        fill(expected, seed);
    }

    Pages sent, received;
    std::vector<std::byte> expected;
};

constexpr std::byte overwritten{0x5a};

/// Two neighbours and one order of their steps.
class Play {
  public:
    Play(const Script& script, std::vector<std::unique_ptr<Store>>& stores, std::optional<int> abandons)
        : script_(script), stores_(stores), abandons_(abandons),
          neighbours_{Neighbours(0, 2, script.options), Neighbours(1, 2, script.options)},
          transfers_{Transfers(neighbours_[0]), Transfers(neighbours_[1])}, done_{}, regions_(stores.size(), nullptr) {
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
        if (lent_[side]) steps.emplace_back([this, side] { give_back(side); });
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
            std::byte* const into = stores_[i]->received.data();
            if (message.borrowed) transfers_[side].borrow(other(side), message.tag, into, message.bytes, index);
            else transfers_[side].receive(other(side), message.tag, into, message.bytes, index);
            return;
        }
        const std::byte* data = stores_[i]->sent.data();
        if (message.memory == Memory::region) {
            regions_[i] = static_cast<std::byte*>(neighbours_[side].take(message.bytes));
            data = std::copy_n(data, message.bytes, regions_[i]) - message.bytes;
        }
        if (transfers_[side].send(other(side), message.tag, data, message.bytes, index)) complete(side, index);
    }

    /// The other side's memory cannot be read meanwhile, where the script says so.
    void poll(std::size_t side) {
        const auto hide = [&](bool hidden) {
            for (std::size_t i = 0; i < stores_.size(); ++i) {
                if (from(script_.messages[i]) != side) stores_[i]->sent.hide(script_.messages[i].memory, hidden);
            }
        };
        hide(true);
        const Transfers::Progress progress = transfers_[side].poll();
        const std::vector<std::uint32_t> completed(progress.completed.begin(), progress.completed.end());
        hide(false);
        if (transfers_[side].failure() != nullptr) wrong_ = transfers_[side].failure();
        is_new_[side] = progress.moved;
        is_new_[1 - side] = is_new_[1 - side] || progress.moved;
        for (const std::uint32_t each : completed) complete(side, each);
    }

    /// The memory is its owner's again, who uses it for something else at once.
    void complete(std::size_t side, std::uint32_t index) {
        ++done_[side];
        const Message& message = script_.messages[index];
        Store& store = *stores_[index];
        if (from(message) == side) {
            std::fill_n(store.sent.data(), message.bytes, overwritten);
            if (regions_[index] == nullptr) return;
            std::fill_n(regions_[index], message.bytes, overwritten);
            neighbours_[side].give_back(regions_[index]);
            return;
        }
        if (transfers_[side].lent(index) != nullptr) lent_[side] = index;
        else check(index, store.received.data());
    }

    void check(std::uint32_t index, const void* data) {
        const Store& store = *stores_[index];
        if (!has_abandoned_ && std::memcmp(data, store.expected.data(), store.expected.size()) != 0) {
            wrong_ = "wrong data in message " + std::to_string(index);
        }
    }

    void give_back(std::size_t side) {
        check(*lent_[side], transfers_[side].lent(*lent_[side]));
        transfers_[side].give_back(*lent_[side]);
        lent_[side].reset();
        is_new_ = {true, true};
    }

    /// Nothing of the call may be written into this side's memory any more.
    void abandon(std::size_t side) {
        has_abandoned_ = true;
        transfers_[side].abandon();
        posted_[side] = posts_[side].size();
        lent_[side].reset();
        is_new_ = {true, true};
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            if (from(script_.messages[i]) != side)
                std::fill_n(stores_[i]->received.data(), script_.messages[i].bytes, overwritten);
        }
    }

    /// The other side has to give up as well. The next call, of another tag, meets nothing that the first one left.
    void call_after_abandoning() {
        transfers_[side_of(1 - *abandons_)].abandon();
        constexpr std::size_t bytes = 5 * kibibyte;
        std::array<std::vector<std::byte>, 2> sent, received;
        for (const std::size_t side : sides) {
            sent[side].resize(bytes);
            received[side].resize(bytes);
            fill(sent[side], 1000 + side);
            transfers_[side].receive(other(side), 99, received[side].data(), bytes, 0);
            transfers_[side].send(other(side), 99, sent[side].data(), bytes, 1);
        }
        for (int polls = 0; polls < 1000 && !(transfers_[0].idle() && transfers_[1].idle()); ++polls) {
            for (Transfers& each : transfers_) {
                (void)each.poll();
                if (each.failure() != nullptr) wrong_ = each.failure();
            }
        }
        if (received[0] != sent[1] || received[1] != sent[0]) wrong_ = "wrong data in the call after";
        for (std::size_t i = 0; i < stores_.size(); ++i) {
            if (script_.messages[i].from == *abandons_) continue;
            const std::byte* const data = stores_[i]->received.data();
            const bool is_untouched =
                std::all_of(data, data + script_.messages[i].bytes, [](std::byte each) { return each == overwritten; });
            if (!is_untouched) wrong_ = "memory of a call that was abandoned has been written";
        }
    }

    const Script& script_;
    std::vector<std::unique_ptr<Store>>& stores_;
    std::optional<int> abandons_;
    std::array<Neighbours, 2> neighbours_;
    std::array<Transfers, 2> transfers_;
    std::array<std::vector<std::size_t>, 2> posts_;  // messages, in the order of their posts
    std::array<std::size_t, 2> posted_{}, done_;
    std::array<bool, 2> is_new_{};  // since the last poll in vain
    std::array<std::optional<std::uint32_t>, 2> lent_;
    std::vector<std::byte*> regions_;
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

INSTANTIATE_TEST_SUITE_P(shared_memory_orders, EveryScript, testing::ValuesIn(scripts),
                         [](const auto& script) { return script.param.name; });

}  // namespace
}  // namespace rondo::shared_memory
