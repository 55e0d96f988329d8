// SPDX-License-Identifier: BSD-3-Clause
// What a thread remembers of its calls.
#include "rondo/interposer/call_cache.hpp"

#include <array>
#include <gtest/gtest.h>
#include <thread>

#include "rondo/interposer/forwarded_anywhere.hpp"
#include "rondo/interposer/words.hpp"

namespace rondo::interposer {
namespace {

using Way = CachedCall::Way;

constexpr CacheKey usual = {.comm = 1, .count = 2, .datatype = 3, .op = 4, .root = 5};

std::array<CacheKey, 5> different_ones() {
    std::array<CacheKey, 5> keys;
    keys.fill(usual);
    keys[0].comm = 9;
    keys[1].count = 9;
    keys[2].datatype = 9;
    keys[3].op = 9;
    keys[4].root = 9;
    return keys;
}

TEST(CallCache, a_call_is_served_that_is_like_it_in_every_word) {
    CachedCall cached;
    cached.forget(usual);
    EXPECT_FALSE(cached.serves(usual));
    cached.go(Way::serve, nullptr);
    EXPECT_TRUE(cached.serves(usual));
    for (const CacheKey& other : different_ones()) EXPECT_FALSE(cached.serves(other));
}

TEST(CallCache, equal_differences_do_not_cancel_each_other) {
    CacheKey other = usual;
    other.count ^= 8;
    other.root ^= 8;
    EXPECT_FALSE(usual == other);
    other = usual;
    other.datatype ^= 8;
    other.op ^= 8;
    EXPECT_FALSE(usual == other);
}

TEST(CallCache, a_call_is_forwarded_whatever_its_root_if_it_has_a_count_in_between) {
    CachedCall cached;
    cached.forget(usual);
    cached.lowest = 3;
    cached.beyond_lowest = 4;
    cached.go(Way::forward, nullptr);
    const std::array<CacheKey, 5> others = different_ones();
    EXPECT_FALSE(cached.forwards(Way::forward, others[0]));
    EXPECT_TRUE(cached.forwards(Way::forward, others[1]));
    EXPECT_FALSE(cached.forwards(Way::forward, others[2]));
    EXPECT_FALSE(cached.forwards(Way::forward, others[3]));
    EXPECT_TRUE(cached.forwards(Way::forward, others[4]));
    EXPECT_FALSE(cached.forwards(Way::forward_counted, usual));
    EXPECT_FALSE(cached.serves(usual));
    for (const std::int64_t count : {-1, 0, 2, 8}) EXPECT_FALSE(cached.has_count(count)) << count;
    for (const std::int64_t count : {3, 5, 7}) EXPECT_TRUE(cached.has_count(count)) << count;
}

TEST(CallCache, the_end_of_an_epoch_makes_it_forget_every_way) {
    for (const Way way : {Way::forward, Way::forward_counted, Way::serve}) {
        CachedCall cached;
        cached.forget(usual);
        cached.go(way, nullptr);
        EXPECT_TRUE(cached.goes(way));
        EXPECT_TRUE(cached.goes_anywhere());
        mpi::end_epoch();
        EXPECT_FALSE(cached.goes(way));
        EXPECT_FALSE(cached.goes_anywhere());
        for (const Way other : {Way::forward, Way::forward_counted, Way::serve}) EXPECT_FALSE(cached.goes(other));
    }
}

TEST(CallCache, a_trial_has_so_many_calls_until_a_second_look) {
    std::int32_t left = 2;
    CachedCall cached;
    EXPECT_TRUE(count_call(cached)) << "there is no trial";
    cached.go(Way::serve, &left);
    EXPECT_TRUE(count_call(cached));
    EXPECT_TRUE(count_call(cached));
    EXPECT_FALSE(count_call(cached));
}

TEST(CallCache, a_call_that_loses_its_place_is_found_as_a_victim) {
    static const int function = 0;  // one of this test alone
    CachedCall* const own = own_cached_calls();
    ASSERT_NE(own, nullptr);
    CachedCall in_place;
    in_place.forget(usual);
    in_place.go(Way::serve, nullptr);
    CacheKey next = usual;
    next.count = 77;
    EXPECT_EQ(find_victim(&function, in_place, usual), nullptr);
    evict(&function, in_place, next);
    const CachedCall* const kept = find_victim(&function, in_place, usual);
    ASSERT_NE(kept, nullptr);
    EXPECT_TRUE(kept->serves(usual));
    const int other_function = 0;
    EXPECT_EQ(find_victim(&other_function, in_place, usual), nullptr);
    CachedCall of_another_rank = in_place;
    of_another_rank.rank = 3;
    EXPECT_EQ(find_victim(&function, of_another_rank, usual), nullptr);
    evict(&function, in_place, usual);  // which gets its second look
    EXPECT_FALSE(kept->serves(usual));
}

TEST(CallCache, a_call_that_goes_nowhere_is_not_kept) {
    static const int function = 0;  // one of this test alone
    ASSERT_NE(own_cached_calls(), nullptr);
    CachedCall in_place;
    in_place.forget(usual);
    CacheKey next = usual;
    next.count = 78;
    evict(&function, in_place, next);
    EXPECT_EQ(find_victim(&function, in_place, usual), nullptr);
}

TEST(CallCache, each_thread_has_a_table_of_its_own) {
    const CachedCall* const own = own_cached_calls();
    const CachedCall* other = own;
    std::thread([&] {
        EXPECT_EQ(forwarded_anywhere(), nullptr);
        EXPECT_NE(cached_calls, own);
        other = own_cached_calls();
        EXPECT_EQ(cached_calls, other);
        EXPECT_NE(forwarded_anywhere(), nullptr);
    }).join();
    EXPECT_NE(other, own);
    EXPECT_EQ(own_cached_calls(), own);
}

TEST(Words, of_an_argument_the_bits_that_mean_something_count) {
    Words words;
    words.count = 0xFFFFFFFF00000007;
    words.root = 0xFFFFFFFF00000002;
    words.comm = 5;
    EXPECT_EQ(words.key<int>(-1).count, 7);
    EXPECT_EQ(words.key<int>(-1).root, 2);
    EXPECT_NE(words.key<std::int64_t>(-1).count, 7);
}

TEST(Words, a_part_elsewhere_is_what_the_call_is_about_but_on_the_root) {
    Words words{.part_count = 3, .part_type = 30, .count = 4, .datatype = 40, .root = 1};
    EXPECT_EQ(words.key<int>(1).count, 4);
    EXPECT_EQ(words.key<int>(1).datatype, 40);
    EXPECT_EQ(words.key<int>(0).count, 3);
    EXPECT_EQ(words.key<int>(0).datatype, 30);
}

TEST(Words, counts_of_ranks_are_added_up) {
    const std::array<int, 3> counts{1, 2, 4};
    Words words;
    const CacheKey key = words.key<int>(-1);
    EXPECT_EQ(words.count_in_all<int>(key, 3), 0);
    words.counts = std::bit_cast<Word>(counts.data());
    EXPECT_EQ(words.count_in_all<int>(key, 3), 7);
    EXPECT_EQ(words.count_in_all<int>(key, 0), 0) << "any sum will do";
    words.counts = 0;
    EXPECT_EQ(words.count_in_all<int>(key, 3), -1);
}

}  // namespace
}  // namespace rondo::interposer
