// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/verdicts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "rondo/selection/text_file.hpp"
#include "rondo/selection/verdict_file.hpp"

namespace rondo {
namespace {

Verdict verdict_on(Count bytes, double rondo = 2e-4, double library = 1e-4) {
    const Collective& collective = require_collective("allreduce");
    return {.collective = &collective,
            .bytes = bytes,
            .commutative = true,
            .shape = {8, 4, 2, 2, true},
            .choice = parse_choice(collective, "full_lane:segment=32Ki"),
            .rondo = rondo,
            .library = library,
            .day = "2026-02-03"};
}

Verdicts parsed(const std::string& text) {
    std::vector<Verdicts::Complaint> complaints;
    Verdicts verdicts = Verdicts::parse(text, complaints);
    EXPECT_TRUE(complaints.empty());
    return verdicts;
}

const Verdict* find(const Verdicts& verdicts, const Verdict& like) {
    return verdicts.find(like.collective->name, length_class(like.bytes), like.commutative, like.rounding,
                         like.empty_parts, like.shape, like.choice);
}

TEST(LengthClass, is_a_power_of_two) {
    EXPECT_EQ(length_class(0), length_class(63));
    EXPECT_EQ(length_class(-5), length_class(63));
    EXPECT_NE(length_class(64), length_class(63));
    EXPECT_EQ(length_class(4096), 13);
    EXPECT_EQ(length_class(8191), 13);
    EXPECT_EQ(length_class(Count{1} << 62), 63);
}

TEST(Verdicts, about_calls_with_empty_parts_are_none_about_others) {
    Verdicts verdicts;
    verdicts.add(verdict_on(100));
    Verdict empty = verdict_on(100, 2, 1);
    empty.empty_parts = true;
    EXPECT_EQ(find(verdicts, empty), nullptr);
    verdicts.add(empty);
    const Verdicts again = parsed(verdicts.text());
    ASSERT_EQ(again.all().size(), 2);
    EXPECT_EQ(find(again, verdict_on(100)), &again.all()[0]);
    EXPECT_EQ(find(again, empty), &again.all()[1]);
    EXPECT_EQ(to_string(verdict_on(100)).find("empty_parts"), std::string::npos) << "most lines are without";
}

TEST(Verdicts, are_read_as_they_were_written) {
    Verdicts verdicts;
    Verdict other = verdict_on(5000, 3.25e-7, 1.5);
    other.rounding = true;
    other.commutative = false;
    other.shape = {3, 0, 0, 0, false};
    other.choice = parse_choice(*other.collective, "circulant");
    verdicts.add(verdict_on(100));
    verdicts.add(other);
    const Verdicts again = parsed(verdicts.text());
    EXPECT_EQ(again.text(), verdicts.text());
    ASSERT_NE(find(again, other), nullptr);
    EXPECT_EQ(find(again, other)->rondo, 3.25e-7);
    EXPECT_FALSE(find(again, other)->is_lost());
    EXPECT_TRUE(find(again, verdict_on(100))->is_lost());
    EXPECT_TRUE(verdict_on(100, 1e-3, 1e-3).is_lost()) << "nothing is won";
}

TEST(Verdicts, may_be_that_nobody_could_compare) {
    Verdicts verdicts;
    verdicts.add(verdict_on(100, 0, 0));
    const Verdicts again = parsed(verdicts.text());
    const Verdict* const found = find(again, verdict_on(100));
    ASSERT_NE(found, nullptr);
    EXPECT_FALSE(found->is_compared());
    EXPECT_TRUE(found->is_lost());
    EXPECT_TRUE(verdict_on(100).is_compared());
}

TEST(Verdicts, hold_for_calls_that_are_alike_in_all_but_the_length) {
    Verdicts verdicts;
    verdicts.add(verdict_on(100));
    EXPECT_NE(find(verdicts, verdict_on(127)), nullptr);
    EXPECT_EQ(find(verdicts, verdict_on(128)), nullptr);
    Verdict other = verdict_on(100);
    other.shape.nodes = 8;
    EXPECT_EQ(find(verdicts, other), nullptr);
    other = verdict_on(100);
    other.choice = parse_choice(*other.collective, "full_lane:segment=16Ki");
    EXPECT_EQ(find(verdicts, other), nullptr);
    other = verdict_on(100);
    other.rounding = true;
    EXPECT_EQ(find(verdicts, other), nullptr);
}

TEST(Verdicts, the_later_one_about_the_same_holds) {
    Verdicts verdicts;
    verdicts.add(verdict_on(100));
    verdicts.add(verdict_on(90, 1, 2));
    ASSERT_EQ(verdicts.all().size(), 1);
    EXPECT_FALSE(verdicts.all()[0].is_lost());
}

TEST(Verdicts, leave_out_lines_that_say_nothing) {
    const std::string good = to_string(verdict_on(100));
    const std::string gone =
        "allreduce bytes=1 commutative=yes rounding=no processes=2 nodes=1 fewest_on_node=2 "
        "most_on_node=2 in_rank_order=yes shared_memory=no choice=abacus rondo=1 library=1 day=2026-01-01";
    std::vector<Verdicts::Complaint> complaints;
    const Verdicts verdicts = Verdicts::parse(
        "# heading\n\nabacus\n" + gone + "\n" + good + " more\n" + good.substr(0, 70) + "\nallreduce bytes=1x\n" + good,
        complaints);
    EXPECT_EQ(verdicts.all().size(), 1);
    ASSERT_EQ(complaints.size(), 5);
    EXPECT_EQ(complaints[1].line, 4);
    EXPECT_THAT(complaints[1].what, testing::HasSubstr("'abacus'"));
}

TEST(Verdicts, may_lack_the_number_of_calls) {
    Verdict verdict = verdict_on(100);
    verdict.calls = 4;
    const std::string line = to_string(verdict);
    EXPECT_THAT(line, testing::HasSubstr(" calls=4 day="));
    EXPECT_EQ(parsed(line).all()[0].calls, 4);
    const std::string earlier = std::string(line).replace(line.find(" calls=4"), 8, "");
    EXPECT_EQ(parsed(earlier).all()[0].calls, 0);
    EXPECT_EQ(parsed(earlier).all()[0].day, verdict.day);
}

TEST(Verdicts, may_not_have_come_yet) {
    Verdict begun = verdict_on(100, 0, 1e-4);
    begun.begun = {1e-4, 2.5e-3, 1};
    EXPECT_THAT(to_string(begun), testing::HasSubstr(" begun=0.0001,0.0025,1 day="));
    EXPECT_THAT(to_string(verdict_on(100)), testing::Not(testing::HasSubstr("begun")));
    Verdicts verdicts = parsed(to_string(begun));
    EXPECT_TRUE(verdicts.all()[0].is_begun());
    EXPECT_EQ(verdicts.all()[0].begun, begun.begun);
    verdicts.add(verdict_on(100));  // now it has
    ASSERT_EQ(verdicts.all().size(), 1);
    EXPECT_FALSE(verdicts.all()[0].is_begun());
}

class VerdictFile : public testing::Test {
  protected:
    VerdictFile() {
        std::string name = testing::TempDir() + "verdicts-XXXXXX";
        directory = mkdtemp(name.data());
    }
    ~VerdictFile() override { std::filesystem::remove_all(directory); }
    [[nodiscard]] std::string path() const { return directory + "/file"; }
    [[nodiscard]] Verdicts content() const { return parsed(read_text_file(path(), "verdicts")); }

    std::string directory;
};

TEST_F(VerdictFile, is_made_when_there_is_none) {
    EXPECT_EQ(update_verdicts(path(), [](Verdicts& verdicts) { verdicts.add(verdict_on(8)); }), "");
    EXPECT_EQ(content().all().size(), 1);
}

TEST_F(VerdictFile, loses_nothing_when_many_write_at_once) {
    constexpr int writers = 8, lines = 10;
    std::vector<pid_t> children;
    for (int writer = 0; writer < writers; ++writer) {
        const pid_t child = fork();
        if (child == 0) {
            bool done = true;
            for (int line = 0; line < lines; ++line) {
                Verdict verdict = verdict_on(8);
                verdict.shape.processes = 1 + writer * lines + line;
                done = update_verdicts(path(), [&](Verdicts& all) { all.add(verdict); }).empty() && done;
            }
            _exit(done ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(content().all().size(), writers * lines);
}

TEST_F(VerdictFile, is_made_with_its_directories) {
    EXPECT_EQ(update_verdicts(directory + "/some/where/file", [](Verdicts&) {}), "");
    EXPECT_TRUE(std::filesystem::exists(directory + "/some/where/file"));
}

TEST_F(VerdictFile, stays_as_it_was_when_it_cannot_be_written) {
    EXPECT_THAT(update_verdicts("/dev/null/file", [](Verdicts&) {}), testing::HasSubstr("Not a directory"));
    std::filesystem::create_directory(path());
    EXPECT_NE(update_verdicts(path(), [](Verdicts&) {}), "");
    EXPECT_TRUE(std::filesystem::is_directory(path()));
}

}  // namespace
}  // namespace rondo
