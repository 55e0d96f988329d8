// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/transfers.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <thread>

#include "tests/backends/shared_memory/exchanges.hpp"

namespace rondo::shared_memory {
namespace {

void exchange_rounds(Process& process, const Options& options, unsigned rounds, std::size_t most_bytes) {
    const auto neighbours = process.meet(options);
    for (int each = 0; each < process.count(); ++each) {
        if (each != process.self()) process.require(neighbours->reaches(each), neighbours->reason(each));
    }
    SomeConsumed consumer(process);
    Transfers transfers(*neighbours, &consumer);
    std::mt19937 random(static_cast<unsigned>(process.self()));
    for (unsigned round = 0; round < rounds; ++round) {
        exchange(process, transfers, consumer, messages_of(round, process.count(), most_bytes), random);
    }
    process.wait_for_all();
}

class EveryForm : public testing::TestWithParam<Form> {};

TEST_P(EveryForm, delivers_every_size_whatever_the_order_of_posts) {
    const Cast cast(3, Role([](Process& process) { exchange_rounds(process, GetParam().options, 12, sizes[17]); }));
}

TEST_P(EveryForm, delivers_many_short_messages) {
    const Cast cast(4, Role([](Process& process) { exchange_rounds(process, GetParam().options, 150, 1025); }));
}

INSTANTIATE_TEST_SUITE_P(shared_memory, EveryForm, testing::ValuesIn(forms),
                         [](const auto& form) { return form.param.name; });

/// What a process that was started by exec plays. Its addresses have nothing to do with those of the others.
void play_after_exec(Process& process) { exchange_rounds(process, {}, 6, sizes[17]); }

constexpr const char* board_variable = "RONDO_TEST_BOARD";

/// Before main: this program was started by the test below.
const bool is_started_by_exec = []() noexcept {  // NOLINT(bugprone-throwing-static-initialization)
    const char* const text = std::getenv(board_variable);
    if (text == nullptr) return false;
    char* rest = nullptr;
    const auto self = static_cast<int>(std::strtol(text, &rest, 10));
    const auto descriptor = static_cast<int>(std::strtol(rest, nullptr, 10));
    play(*BoardPage::map(descriptor), self, play_after_exec);
}();

TEST(shared_memory_processes, exchange_messages_after_exec) {
    EXPECT_FALSE(is_started_by_exec);
    const Cast cast(3, [](BoardPage& board, int self) {
        ::setenv(board_variable, (std::to_string(self) + " " + std::to_string(board.descriptor())).c_str(), 1);
        ::execl("/proc/self/exe", "backends_test", nullptr);
    });
}

/// Two threads of each process, each with messages of its own; the locks are held by turns.
TEST(shared_memory_processes, exchange_messages_by_several_threads) {
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet({.read_from = 20000});
                        std::vector<std::thread> threads;
                        threads.reserve(3);
                        for (unsigned thread = 0; thread < 3; ++thread) {
                            threads.emplace_back([&, thread] {
                                SomeConsumed consumer(process);
                                Transfers transfers(*neighbours, &consumer);
                                std::mt19937 random(thread);
                                for (unsigned round = 0; round < 40; ++round) {
                                    auto messages = messages_of(1000 * thread + round, 2, 40000);
                                    for (Message& each : messages) each.tag += 3 * thread;
                                    exchange(process, transfers, consumer, messages, random);
                                }
                            });
                        }
                        for (std::thread& each : threads) each.join();
                        process.wait_for_all();
                    }));
}

/// One thread may send long before the receiver asks, another's message is not held up by that.
TEST(shared_memory_processes, receive_in_another_order_than_messages_were_sent) {
    constexpr std::uint32_t messages = 5000;
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet();
                        Transfers transfers(*neighbours);
                        std::uint32_t number = 0, last = 0;
                        if (process.self() == 0) {
                            for (; number < messages; ++number) {
                                transfers.send(1, 1, &number, sizeof number, 0);
                                process.poll_until_idle(transfers);
                            }
                            transfers.send(1, 2, &number, sizeof number, 0);
                            process.poll_until_idle(transfers);
                        } else {
                            transfers.receive(0, 2, &last, sizeof last, 0);
                            process.poll_until_idle(transfers);
                            process.require(last == messages, "another message");
                            for (std::uint32_t expected = 0; expected < messages; ++expected) {
                                transfers.receive(0, 1, &number, sizeof number, 0);
                                process.poll_until_idle(transfers);
                                process.require(number == expected, "wrong order");
                            }
                        }
                        process.wait_for_all();
                    }));
}

/// A sender runs ahead of its receiver, but not without end.
TEST(shared_memory_processes, send_only_so_much_that_nobody_has_asked_for) {
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet({.read_from = Channel::never});
                        Transfers transfers(*neighbours);
                        std::vector<std::byte> data(10000);
                        std::uint32_t posted = 0;
                        if (process.self() == 0) {
                            bool is_complete = true;
                            for (; is_complete && posted < 1000; ++posted) {
                                is_complete = transfers.send(1, posted, data.data(), data.size(), 0);
                            }
                            process.require(1 < posted && posted < 100, std::to_string(posted) + " went ahead");
                            process.board().signal = static_cast<int>(posted);
                        }
                        process.wait_for_all();
                        if (process.self() == 1) {
                            posted = static_cast<std::uint32_t>(process.board().signal);
                            for (std::uint32_t i = 0; i < posted; ++i) {
                                transfers.receive(0, i, data.data(), data.size(), i);
                            }
                        }
                        process.poll_until_idle(transfers);
                        process.wait_for_all();
                    }));
}

/// Long messages of many tags, which the receiver wants last first, one after another.
TEST(shared_memory_processes, let_tags_pass_each_other) {
    for (const Form& form : forms) {
        const Cast cast(2, Role([&](Process& process) {
                            const auto neighbours = process.meet(form.options);
                            Transfers transfers(*neighbours);
                            constexpr std::uint32_t tags = 6;
                            constexpr std::size_t bytes = 2000000;
                            std::vector<std::vector<std::byte>> data(tags, std::vector<std::byte>(bytes));
                            std::vector<std::byte> received(bytes);
                            for (std::uint32_t tag = 0; tag < tags; ++tag) {
                                fill(data[tag], tag);
                                if (process.self() == 0) transfers.send(1, tag, data[tag].data(), bytes, tag);
                            }
                            for (std::uint32_t tag = tags; process.self() == 1 && tag-- > 0;) {
                                transfers.receive(0, tag, received.data(), bytes, tag);
                                process.poll_until_idle(transfers);
                                process.require(received == data[tag], "wrong data");
                            }
                            process.poll_until_idle(transfers);
                            process.wait_for_all();
                        }));
    }
}

/// Whoever looks copies, and one look is not enough for a message of 3 MB.
TEST(shared_memory_transfers, of_long_messages_are_copied_by_both_sides_or_by_the_reader_alone) {
    std::array<Neighbours, 2> neighbours{Neighbours(0, 2, by_address), Neighbours(1, 2, by_address)};
    for (const int self : {0, 1}) {
        neighbours[static_cast<std::size_t>(self)].connect(1 - self,
                                                           neighbours[static_cast<std::size_t>(1 - self)].address());
    }
    for (Neighbours& each : neighbours) each.settle();
    std::vector<std::byte> sent(3000001), received(sent.size());
    for (const bool sender_helps : {false, true}) {
        Transfers sender(neighbours[0]), reader(neighbours[1]);
        fill(sent, sender_helps ? 1 : 2);
        EXPECT_FALSE(sender.send(1, 0, sent.data(), sent.size(), 0));
        reader.receive(0, 0, received.data(), received.size(), 0);
        EXPECT_TRUE(reader.poll().completed.empty());
        for (int polls = 0; sender_helps && polls < 100; ++polls) EXPECT_TRUE(sender.poll().completed.empty());
        int looks = 1;
        while (reader.poll().completed.empty() && looks < 100) ++looks;
        if (sender_helps) EXPECT_EQ(looks, 1);
        else EXPECT_GT(looks, 5);
        EXPECT_EQ(received, sent);
        EXPECT_EQ(sender.poll().completed.size(), 1U);
    }
}

/// Somebody reads late what its sender has given up. That is not taken for an answer about the next message.
TEST(shared_memory_processes, keep_apart_who_has_read_what) {
    const Cast cast(2, Role([](Process& process) {
                        const auto neighbours = process.meet(by_address);
                        Transfers transfers(*neighbours);
                        std::vector<std::byte> given_up(50000), data(50000), received(50000);
                        fill(data, 1);
                        const auto wait_for = [&](int signal) {
                            process.wait_until([&] { return process.board().signal == signal; });
                        };
                        if (process.self() == 0) {
                            transfers.send(1, 1, given_up.data(), given_up.size(), 0);
                            transfers.abandon();
                            transfers.send(1, 2, data.data(), data.size(), 0);
                            process.board().signal = 1;
                            wait_for(2);
                            process.require(transfers.poll().completed.empty(), "nobody has read the second message");
                            process.board().signal = 3;
                        } else {
                            wait_for(1);
                            transfers.receive(0, 1, received.data(), received.size(), 0);
                            process.poll_until_idle(transfers);
                            process.board().signal = 2;
                            wait_for(3);
                            transfers.receive(0, 2, received.data(), received.size(), 0);
                            process.poll_until_idle(transfers);
                            process.require(received == data, "wrong data");
                        }
                        process.poll_until_idle(transfers);
                        process.wait_for_all();
                    }));
}

TEST(shared_memory_processes, refuse_a_message_that_is_too_long) {
    for (const std::size_t bytes : {std::size_t{9}, std::size_t{5000}, std::size_t{50000}}) {
        const Cast cast(2, Role([bytes](Process& process) {
                            const auto neighbours = process.meet({.read_from = 20000});
                            Transfers transfers(*neighbours);
                            std::vector<std::byte> data(bytes);
                            if (process.self() == 0) {
                                transfers.send(1, 0, data.data(), bytes, 0);
                                process.poll_until_idle(transfers);
                            } else {
                                transfers.receive(0, 0, data.data(), bytes - 1, 0);
                                process.wait_until([&] {
                                    return !transfers.poll().completed.empty() || transfers.failure() != nullptr;
                                });
                                process.require(transfers.failure() != nullptr &&
                                                    std::strstr(transfers.failure(), "longer") != nullptr,
                                                "no failure");
                                transfers.abandon();
                                process.require(transfers.idle() && transfers.failure() == nullptr, "not abandoned");
                            }
                            process.wait_for_all();
                        }));
    }
}

}  // namespace
}  // namespace rondo::shared_memory
