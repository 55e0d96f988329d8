// SPDX-License-Identifier: BSD-3-Clause
// What a message of slots holds, and that it becomes the same slots again.
#include "rondo/backends/mpi/slot_bytes.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace rondo::mpi {
namespace {

using Lengths = std::vector<std::uint32_t>;

constexpr Slots how = {.header = Slots::header_bytes, .stride = Slots::header_bytes + 9};
constexpr std::byte padding{0xEE};

std::byte value_of(std::size_t slot, std::uint32_t index) {
    return static_cast<std::byte>((slot * 31 + std::size_t{index} * 7 + 1) % 0xED);
}

std::vector<std::byte> slots_with(const Lengths& lengths) {
    std::vector<std::byte> slots(lengths.size() * how.stride, padding);
    write_lengths(slots.data(), how, lengths);
    for (std::size_t slot = 0; slot < lengths.size(); ++slot) {
        for (std::uint32_t i = 0; i < lengths[slot]; ++i) {
            slots[slot * how.stride + how.header + i] = value_of(slot, i);
        }
    }
    return slots;
}

void expect_parts(const std::vector<std::byte>& slots, const Lengths& lengths) {
    for (std::size_t slot = 0; slot < lengths.size(); ++slot) {
        const std::byte* const place = slots.data() + slot * how.stride;
        std::uint32_t length;
        std::memcpy(&length, place, sizeof length);
        ASSERT_EQ(length, lengths[slot]) << "slot " << slot;
        for (std::uint32_t i = 0; i < length; ++i)
            ASSERT_EQ(place[how.header + i], value_of(slot, i)) << "slot " << slot;
    }
}

void expect_there_and_back(const Lengths& lengths) {
    std::vector<std::byte> sent = slots_with(lengths);
    const auto capacity = static_cast<Count>(sent.size());
    const Count bytes = close_up(sent.data(), capacity, how);
    const auto headers = static_cast<Count>(lengths.size()) * Slots::header_bytes;
    ASSERT_EQ(bytes, std::accumulate(lengths.begin(), lengths.end(), headers));
    std::vector<std::byte> received(sent.size(), padding);
    std::memcpy(received.data(), sent.data(), static_cast<std::size_t>(bytes));
    spread(received.data(), capacity, how);
    expect_parts(received, lengths);
}

TEST(slot_bytes, holds_the_parts_and_their_lengths) {
    expect_there_and_back({0});
    expect_there_and_back({9});
    expect_there_and_back({0, 0, 0});
    expect_there_and_back({9, 9, 9});
    expect_there_and_back({0, 9, 0, 1, 8});
}

TEST(slot_bytes, holds_parts_of_all_lengths) {
    std::mt19937 random(1);
    for (int round = 0; round < 1000; ++round) {
        Lengths lengths(1 + random() % 40);
        for (std::uint32_t& length : lengths)
            length = random() % 3 == 0 ? 0 : static_cast<std::uint32_t>(random() % 10);
        ASSERT_NO_FATAL_FAILURE(expect_there_and_back(lengths));
    }
}

TEST(slot_bytes, writes_nothing_beyond_the_slots_whatever_the_lengths_say) {
    std::vector<std::byte> slots(4 * how.stride, std::byte{0xFF});
    slots.resize(slots.size() + 8, padding);
    spread(slots.data(), 4 * how.stride, how);
    for (std::size_t i = 4 * how.stride; i < slots.size(); ++i) EXPECT_EQ(slots[i], padding);
}

}  // namespace
}  // namespace rondo::mpi
