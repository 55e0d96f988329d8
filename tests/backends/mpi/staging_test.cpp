// SPDX-License-Identifier: BSD-3-Clause
// How data of the user come into the bytes that a plan works on, and out of them again.
#include "rondo/backends/mpi/staging.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <new>
#include <numeric>

#include "rondo/backends/mpi/exchanging.hpp"
#include "rondo/backends/mpi/gathering.hpp"
#include "tests/backends/mpi/made_up_library.hpp"
#include "tests/backends/mpi/memory.hpp"

namespace rondo::mpi {
namespace {

void with_datatypes(const std::function<void()>& role) {
    made_up::play(1, [&] {
        learn_datatypes();
        role();
    });
}

Datatype described(MPI_Datatype handle) {
    Datatype derived;
    return *describe(handle, derived);
}

std::array<int, 12> numbers() {
    std::array<int, 12> result{};
    std::iota(result.begin(), result.end(), 0);
    return result;
}

std::vector<int> ints(const void* bytes, std::size_t count) {
    std::vector<int> result(count);
    std::memcpy(result.data(), bytes, count * sizeof(int));
    return result;
}

TEST(Staging, data_that_lie_as_packed_are_worked_on_where_they_are) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(made_up::contiguous(2, MPI_INT));
        const UserData data{user.data(), 3, type};
        const Moved moved(data);
        Staged staged(moved, Staging::both);
        EXPECT_EQ(staged.enter(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(staged.address(), reinterpret_cast<char*>(user.data()));
        EXPECT_EQ(staged.leave(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(made_up::calls("Pack") + made_up::calls("Unpack"), 0);
        EXPECT_EQ(moved.bytes(), 24);
    });
}

TEST(Staging, data_with_gaps_are_packed_before_and_unpacked_behind) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(made_up::vector(2, 1, 2, MPI_INT));  // 0 and 2 of three
        const UserData data{user.data(), 2, type};
        const Moved moved(data);
        EXPECT_EQ(moved.place(), nullptr);
        Staged staged(moved, Staging::both);
        ASSERT_EQ(staged.enter(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(ints(staged.address(), 4), (std::vector<int>{0, 2, 3, 5}));
        const std::array<int, 4> other{10, 12, 13, 15};
        std::memcpy(staged.address(), other.data(), sizeof other);
        ASSERT_EQ(staged.leave(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(ints(user.data(), 7), (std::vector<int>{10, 1, 12, 13, 4, 15, 6})) << "gaps are the user's";
    });
}

TEST(Staging, each_way_is_gone_only_if_somebody_needs_it) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(made_up::vector(2, 1, 2, MPI_INT));
        const UserData data{user.data(), 2, type};
        const Moved moved(data);
        Staged before(moved, Staging::before), after(moved, Staging::after);
        before.enter(MPI_COMM_SELF);
        before.leave(MPI_COMM_SELF);
        EXPECT_EQ(made_up::calls("Pack"), 1);
        EXPECT_EQ(made_up::calls("Unpack"), 0);
        after.enter(MPI_COMM_SELF);
        after.leave(MPI_COMM_SELF);
        EXPECT_EQ(made_up::calls("Pack"), 1);
        EXPECT_EQ(made_up::calls("Unpack"), 1);
    });
}

TEST(Staging, errors_of_packing_come_back) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(made_up::vector(2, 1, 2, MPI_INT));
        const UserData data{user.data(), 2, type};
        const Moved moved(data);
        Staged staged(moved, Staging::both);
        made_up::fail("Pack", MPI_ERR_OTHER);
        EXPECT_EQ(staged.enter(MPI_COMM_SELF), MPI_ERR_OTHER);
        made_up::fail("Unpack", MPI_ERR_INTERN);
        EXPECT_EQ(staged.leave(MPI_COMM_SELF), MPI_ERR_INTERN);
    });
}

TEST(Staging, without_memory_for_a_copy_nothing_has_happened) {
    with_datatypes([] {
        std::vector<int> user(6000, 1);
        const Datatype type = described(made_up::vector(2, 1, 2, MPI_INT));
        const UserData data{user.data(), 2000, type};
        const Moved moved(data);
        Staged staged(moved, Staging::both);
        {
            const made_up::NoMemory none(10000);
            EXPECT_THROW(staged.enter(MPI_COMM_SELF), std::bad_alloc);
        }
        EXPECT_EQ(made_up::calls("Pack"), 0);
        EXPECT_EQ(staged.enter(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(staged.leave(MPI_COMM_SELF), MPI_SUCCESS);
    });
}

TEST(Staging, data_at_addresses_of_their_own_are_packed) {
    made_up::play(1, [] {
        learn_datatypes();
        std::array<int, 2> user{3, 4};
        const auto address = reinterpret_cast<MPI_Aint>(user.data());
        const Datatype type = described(made_up::pieces({{address + 4, 4}, {address, 4}}, 8));
        const UserData data{nullptr, 1, type};
        const Moved moved(data);
        Staged staged(moved, Staging::both);
        ASSERT_EQ(staged.enter(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(ints(staged.address(), 2), (std::vector<int>{4, 3}));
        ASSERT_EQ(staged.leave(MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(made_up::calls("Sendrecv"), 0) << "nothing may be waited for";
        EXPECT_EQ(made_up::calls("Pack"), 1);
        EXPECT_EQ(made_up::calls("Type_free"), made_up::calls("Type_create_hindexed"));
    });
}

// ------------------------------------------------------------------------------- what an allgather gathers

Numbers numbers_of(const std::vector<int>& array) { return {array.data(), true}; }

TEST(Gatherings, even_parts_in_their_order_are_the_vector) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(MPI_INT);
        const PlacedParts parts{reinterpret_cast<char*>(user.data()), type, PartCounts(2, 3), {}};
        int own[2] = {7, 8};
        const Gathering gathering({own, 2, type}, false, parts, 1);
        EXPECT_EQ(gathering.place(), reinterpret_cast<char*>(user.data()));
        EXPECT_EQ(gathering.bytes(), 24);
        EXPECT_FALSE(gathering.plan_in_place());
        EXPECT_EQ(gathering.input(), own);
    });
}

TEST(Gatherings, parts_at_one_distance_from_where_they_belong_are_the_vector) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(MPI_INT);
        const std::vector<int> counts{1, 0, 3}, moved{4, 99, 5}, apart{4, 0, 6};
        char* const buffer = reinterpret_cast<char*>(user.data());
        const PartCounts of_each(numbers_of(counts), 3);
        const Gathering together({nullptr, 0, type}, true, {buffer, type, of_each, numbers_of(moved)}, 2);
        EXPECT_EQ(together.place(), buffer + 16) << "places of nothing are no matter";
        EXPECT_EQ(together.bytes(), 16);
        const Gathering scattered({nullptr, 0, type}, true, {buffer, type, of_each, numbers_of(apart)}, 2);
        EXPECT_EQ(scattered.place(), nullptr);
    });
}

TEST(Gatherings, parts_apart_are_put_where_they_belong) {
    with_datatypes([] {
        std::array<int, 12> user{};
        const Datatype type = described(MPI_INT);
        const std::vector<int> counts{1, 2, 1}, places{6, 2, 0};
        int own[2] = {7, 8};
        const Gathering gathering(
            {own, 2, type}, false,
            {reinterpret_cast<char*>(user.data()), type, {numbers_of(counts), 3}, numbers_of(places)}, 1);
        EXPECT_FALSE(gathering.plan_in_place()) << "the input lies as packed";
        const std::array<int, 4> whole{5, 7, 8, 9};
        EXPECT_EQ(gathering.leave(reinterpret_cast<const char*>(whole.data()), MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(ints(user.data(), 8), (std::vector<int>{9, 0, 7, 8, 0, 0, 5, 0}));
    });
}

TEST(Gatherings, in_place_the_own_part_is_packed_and_stays) {
    with_datatypes([] {
        std::array<int, 12> user = numbers();
        const Datatype type = described(MPI_INT);
        const std::vector<int> counts{1, 2, 1}, places{6, 2, 0};
        const PlacedParts parts{
            reinterpret_cast<char*>(user.data()), type, {numbers_of(counts), 3}, numbers_of(places)};
        const Gathering gathering(parts[1], true, parts, 1);
        EXPECT_TRUE(gathering.plan_in_place());
        std::array<int, 4> whole{};
        ASSERT_EQ(gathering.enter(reinterpret_cast<char*>(whole.data()), MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(whole, (std::array<int, 4>{0, 2, 3, 0}));
        whole = {5, 70, 80, 9};
        ASSERT_EQ(gathering.leave(reinterpret_cast<char*>(whole.data()), MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(ints(user.data(), 7), (std::vector<int>{9, 1, 2, 3, 4, 5, 5}));
    });
}

// ------------------------------------------------------------------------------ what others need not know

TEST(Exchanges, places_tell_parts_apart) {
    with_datatypes([] {
        std::array<int, 12> out = numbers(), in{};
        const Datatype type = described(MPI_INT);
        const auto exchanging = [&](const std::vector<int>& counts, const std::vector<int>& places) {
            const PlacedParts outgoing{
                reinterpret_cast<char*>(out.data()), type, {numbers_of(counts), 2}, numbers_of(places)};
            const PlacedParts incoming{reinterpret_cast<char*>(in.data()), type, {1, 2}, {}};
            const Exchanging data(outgoing, incoming, false);
            return std::tuple{data.places(), data.hash_of_places(), data.has_places(data.places())};
        };
        const auto [places, hash, has] = exchanging({2, 1}, {0, 2});
        EXPECT_EQ(places, (std::vector<Count>{2, 0, 8, 8, 4, 0, 4, 4, 4}));
        EXPECT_NE(hash, 0);
        EXPECT_TRUE(has);
        const auto [other_places, other_hash, _] = exchanging({2, 1}, {0, 3});
        EXPECT_NE(places, other_places);
        EXPECT_NE(hash, other_hash);
        EXPECT_EQ(std::get<1>(exchanging({2, 1}, {4, 6})), hash) << "from the first place on";
    });
}

TEST(Exchanges, a_place_that_differs_is_seen) {
    with_datatypes([] {
        std::array<int, 12> out = numbers();
        const Datatype type = described(MPI_INT);
        const std::vector<int> counts{2, 1}, places{0, 2}, other_places{0, 3};
        const PlacedParts one{reinterpret_cast<char*>(out.data()), type, {numbers_of(counts), 2}, numbers_of(places)};
        const PlacedParts other{
            reinterpret_cast<char*>(out.data()), type, {numbers_of(counts), 2}, numbers_of(other_places)};
        const Exchanging data(one, one, false), different(one, other, false);
        EXPECT_FALSE(different.has_places(data.places()));
        std::vector<Count> others = data.places();
        others.push_back(0);
        others.push_back(4);
        EXPECT_FALSE(data.has_places(others)) << "of more ranks";
        others.resize(data.places().size() - 1);
        EXPECT_FALSE(data.has_places(others));
    });
}

TEST(Exchanges, parts_that_overlap_come_one_after_the_other) {
    with_datatypes([] {
        std::array<int, 12> in{};
        const Datatype type = described(MPI_INT);
        const std::vector<int> counts{2, 2}, over{1, 0}, beside{2, 0};
        const auto incoming = [&](const std::vector<int>& places) {
            return ExchangedParts(
                {reinterpret_cast<char*>(in.data()), type, {numbers_of(counts), 2}, numbers_of(places)});
        };
        EXPECT_TRUE(incoming(over).overlap());
        EXPECT_FALSE(incoming(beside).overlap());
        const Exchanging data(incoming(beside), incoming(over));
        EXPECT_EQ(data.incoming().place(), nullptr);
        EXPECT_NE(data.outgoing().place(), nullptr);
        const made_up::NoMemory none;
        EXPECT_TRUE(incoming(beside).overlap()) << "nobody knows";
    });
}

TEST(Exchanges, the_part_that_stays_and_less_than_nothing_are_empty) {
    with_datatypes([] {
        std::array<int, 12> out = numbers();
        const Datatype type = described(MPI_INT);
        const std::vector<int> counts{2, 1, -3}, places{0, 2, 5};
        const PlacedParts parts{reinterpret_cast<char*>(out.data()), type, {numbers_of(counts), 3}, numbers_of(places)};
        EXPECT_EQ(ExchangedParts(parts).bytes(), 12);
        EXPECT_EQ(ExchangedParts(parts, 0).bytes(), 4);
        EXPECT_EQ(ExchangedParts(parts, 0).place(), reinterpret_cast<char*>(out.data()) + 8);
    });
}

TEST(Exchanges, parts_with_gaps_are_packed_one_after_the_other) {
    with_datatypes([] {
        std::array<int, 12> out = numbers();
        const Datatype type = described(made_up::vector(2, 1, 2, MPI_INT));
        const std::vector<int> counts{1, 2}, places{3, 0};
        const ExchangedParts parts(
            {reinterpret_cast<char*>(out.data()), type, {numbers_of(counts), 2}, numbers_of(places)});
        EXPECT_EQ(parts.place(), nullptr);
        std::array<int, 6> packed{};
        ASSERT_EQ(parts.enter(reinterpret_cast<char*>(packed.data()), MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(packed, (std::array<int, 6>{9, 11, 0, 2, 3, 5}));
        packed = {-9, -11, -1, -2, -3, -5};
        ASSERT_EQ(parts.leave(reinterpret_cast<char*>(packed.data()), MPI_COMM_SELF), MPI_SUCCESS);
        EXPECT_EQ(ints(out.data(), 12), (std::vector<int>{-1, 1, -2, -3, 4, -5, 6, 7, 8, -9, 10, -11}));
        made_up::fail("Pack", MPI_ERR_OTHER, 1, 1);
        EXPECT_EQ(parts.enter(reinterpret_cast<char*>(packed.data()), MPI_COMM_SELF), MPI_ERR_OTHER)
            << "of the second part";
    });
}

}  // namespace
}  // namespace rondo::mpi
