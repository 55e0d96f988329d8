// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/written_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/written_proof.hpp"

namespace rondo {
namespace {

using testing::HasSubstr;

/// An allgather on two ranks, in a file of its own.
class WrittenFile : public testing::Test {
  protected:
    void write(const std::string& landing) const {
        std::string text = "<algo name='swap' coll='allgather' ngpus='2' nchunksperloop='2'>";
        for (const std::string rank : {"0", "1"}) {
            const std::string other = rank == "0" ? "1" : "0";
            text += "<gpu id='" + rank + "' s_chunks='0'>";
            text += "<tb id='0' send='" + other;
            text += "' recv='" + other + "' chan='0'>";
            text += step("0", "s", "0");
            text += step("1", "r", landing.empty() ? other : landing);
            text += step("2", "cpy", rank) + "</tb></gpu>";
        }
        std::FILE* stream = std::fopen(file.c_str(), "w");
        ASSERT_NE(stream, nullptr);
        std::fputs((text + "</algo>").c_str(), stream);
        std::fclose(stream);
    }
    void TearDown() override { std::filesystem::remove(file); }

    static std::string step(const std::string& number, const std::string& type, const std::string& to) {
        return "<step s='" + number + "' type='" + type + "' srcbuf='i' srcoff='0' dstbuf='o' dstoff='" + to +
               "' cnt='1' depid='-1' deps='-1' hasdep='0'/>";
    }

    const std::string file = testing::TempDir() + "/written_file_test-" + std::to_string(::getpid()) + ".xml";
    const Collective& allgather = *find_collective("allgather");
};

TEST_F(WrittenFile, is_a_choice_like_others) {
    write("");
    const Choice choice = parse_choice(allgather, "file:" + file);
    EXPECT_TRUE(is_written(choice));
    EXPECT_EQ(to_string(choice), "file:" + file);
    EXPECT_EQ(parse_choice(allgather, to_string(choice)).algorithm, choice.algorithm);
    EXPECT_FALSE(is_written(parse_choice(allgather, "ring")));
    const Proved proved = prove(*choice.algorithm);
    EXPECT_TRUE(proved.without_races);
    EXPECT_EQ(proved.outcome.time, 1);
}

TEST_F(WrittenFile, refuses_calls_for_which_it_is_not_written) {
    write("");
    const Choice choice = parse_choice(allgather, "file:" + file);
    const auto refusal = [&](Rank size, Count count) {
        return choice.algorithm->refusal(allgather.facts({.size = size, .count = count}), choice.settings).value_or("");
    };
    EXPECT_EQ(refusal(2, 6), "");
    EXPECT_EQ(refusal(3, 6), "it is written for 2 ranks, not for 3");
    EXPECT_EQ(refusal(2, 5), "5 elements do not divide into 2 equal chunks");
    EXPECT_THROW(parse_choice(*find_collective("bcast"), "file:" + file), Error);
}

TEST_F(WrittenFile, that_breaks_the_promise_is_refused_when_it_is_proved) {
    write("0");
    const AlgorithmInfo& wrong = written_algorithm(file);
    try {
        prove(wrong);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr(file + ": rank 0: output[1, 2) should hold V1, holds"));
    }
}

TEST_F(WrittenFile, other_texts_are_other_algorithms) {
    write("");
    const Choice before = parse_choice(allgather, "file:" + file);
    write("0");
    const Choice after = parse_choice(allgather, "file:" + file);
    EXPECT_NE(before.algorithm, after.algorithm);
    EXPECT_NE(before.settings.front().value, after.settings.front().value);
}

}  // namespace
}  // namespace rondo
