// SPDX-License-Identifier: BSD-3-Clause
// Messages of random lengths, tags and orders between processes of a test, or threads that stand for processes.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <thread>

#include "tests/backends/shared_memory/processes.hpp"

namespace rondo::shared_memory {

struct Form {
    const char* name;
    Options options;
};
inline const Form forms[] = {
    {"pieces", {.read_from = Channel::never}},
    {"pieces_without_memory", {.parcel_bytes = 0}},
    {"little_memory", {.parcel_bytes = std::size_t{100} << 10}},
    {"read_in_the_sender", by_address},
    {"automatic", {}},
};

inline constexpr std::size_t sizes[] = {0,    1,     8,     48,    49,    104,    105,    1024,    1025,
                                        4096, 16383, 16384, 32768, 32769, 100000, 262144, 1048576, 3000001};

/// Messages of one round, as all processes know them. Later ones are posted later where both ends and the tag are
/// equal.
struct Message {
    int from, to;
    std::uint32_t tag;
    std::size_t bytes;
    std::uint64_t seed;
};

inline std::vector<Message> messages_of(unsigned round, int processes, std::size_t most_bytes) {
    std::mt19937 random(round);
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
    std::vector<Message> messages(20 + below(40));
    for (Message& each : messages) {
        each.from = static_cast<int>(below(static_cast<std::size_t>(processes)));
        each.to = (each.from + 1 + static_cast<int>(below(static_cast<std::size_t>(processes - 1)))) % processes;
        each.tag = static_cast<std::uint32_t>(below(3));
        do {
            each.bytes = sizes[below(std::size(sizes))];
        } while (each.bytes > most_bytes);
        each.seed = random();
    }
    return messages;
}

/// A random order that keeps the one of messages that match each other.
inline std::vector<std::size_t> order_of_posts(const std::vector<Message>& messages, int self, std::mt19937& random) {
    std::map<std::array<int, 4>, std::vector<std::size_t>> streams;
    for (std::size_t i = messages.size(); i-- > 0;) {
        const Message& each = messages[i];
        if (each.from != self && each.to != self) continue;
        streams[{each.from, each.to, static_cast<int>(each.tag)}].push_back(i);
    }
    std::vector<std::size_t> order;
    while (!streams.empty()) {
        const auto stream = std::next(streams.begin(), static_cast<std::ptrdiff_t>(random() % streams.size()));
        order.push_back(stream->second.back());
        stream->second.pop_back();
        if (stream->second.empty()) streams.erase(stream);
    }
    return order;
}

/// Takes some messages where they lie.
class SomeConsumed : public Consumer {
  public:
    explicit SomeConsumed(Process& process) : process_(process) {}

    void start(const std::vector<Message>& messages) {
        messages_ = &messages;
        data_.assign(messages.size(), {});
        is_consumed_.assign(messages.size(), false);
    }
    bool wants(std::uint32_t index) override {
        process_.require(!is_consumed_[index], "asked twice");
        return is_consumed_[index] = (*messages_)[index].seed % 2 == 0;
    }
    void consume(std::uint32_t index, const std::byte* data, std::size_t first, std::size_t bytes) override {
        std::vector<std::byte>& taken = data_[index];
        const bool is_last = first + bytes == (*messages_)[index].bytes;
        process_.require(is_consumed_[index] && first == taken.size() && (is_last || bytes % granule == 0),
                         "a piece where none was due");
        taken.insert(taken.end(), data, data + bytes);
    }
    /// nullptr if it was copied.
    [[nodiscard]] const std::byte* data(std::uint32_t index) const {
        return is_consumed_[index] ? data_[index].data() : nullptr;
    }

  private:
    Process& process_;
    const std::vector<Message>* messages_ = nullptr;
    std::vector<std::vector<std::byte>> data_;
    std::vector<bool> is_consumed_;
};

/// One round of one process: posts in any order, with polls and pauses in between.
inline void exchange(Process& process, Transfers& transfers, SomeConsumed& consumer,
                     const std::vector<Message>& messages, std::mt19937& random) {
    const int self = process.self();
    consumer.start(messages);
    std::vector<std::vector<std::byte>> buffers(messages.size());
    const auto completed = [&](std::uint32_t index) {
        const Message& message = messages[index];
        if (message.from == self) return;
        std::vector<std::byte> expected(message.bytes);
        fill(expected, message.seed);
        const void* const consumed = consumer.data(index);
        const void* const data = consumed != nullptr ? consumed : buffers[index].data();
        process.require(expected.empty() || std::memcmp(data, expected.data(), expected.size()) == 0,
                        "wrong data of " + std::to_string(message.bytes) + " bytes");
    };
    for (const std::size_t i : order_of_posts(messages, self, random)) {
        const Message& message = messages[i];
        const auto index = static_cast<std::uint32_t>(i);
        buffers[i].resize(message.bytes);
        bool is_complete = false;
        if (message.from == self) {
            fill(buffers[i], message.seed);
            is_complete = transfers.send(message.to, message.tag, buffers[i].data(), message.bytes, index);
        } else {
            transfers.receive(message.from, message.tag, buffers[i].data(), message.bytes, index);
        }
        if (is_complete) completed(index);
        if (random() % 4 == 0) {
            for (const std::uint32_t each : transfers.poll().completed) completed(each);
        }
        if (random() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    }
    process.poll_until_idle(transfers, completed);
}

}  // namespace rondo::shared_memory
