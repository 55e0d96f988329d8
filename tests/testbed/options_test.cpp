// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/failure.hpp"

namespace rondo::testbed {
namespace {

using testing::HasSubstr;

/// The words of `up`, with one option's value replaced.
Words words_of_up(const std::string& option = "", const std::string& value = "") {
    Words words{"--directory", "/tmp/c",      "--nodes", "8",       "--latency-us",
                "2000.5",      "--rate-mbit", "200",     "--lanes", "2"};
    for (std::size_t i = 0; i < words.size(); i += 2) {
        if (words[i] == option) words[i + 1] = value;
    }
    return words;
}

template <class Parse>
std::string fault_of(Parse&& parse) {
    try {
        parse();
    } catch (const Failure& failure) {
        return failure.what();
    }
    return "none";
}

std::string fault_of_up(const std::string& option, const std::string& value) {
    return fault_of([&] { parse_up(words_of_up(option, value)); });
}

TEST(options, of_up_are_read) {
    Words words = words_of_up();
    words.emplace_back("--detached");
    const UpOptions options = parse_up(words);
    EXPECT_EQ(options.directory, "/tmp/c");
    EXPECT_EQ(options.shape.nodes, 8U);
    EXPECT_EQ(options.shape.lanes, 2U);
    EXPECT_EQ(options.shape.latency_ns, 2'000'500U);
    EXPECT_EQ(options.shape.bits_per_second, 200'000'000U);
    EXPECT_TRUE(options.detached);
    EXPECT_FALSE(parse_up(words_of_up()).detached);
}

TEST(options, of_a_network_with_a_shape_are_read) {
    Words words = words_of_up();
    words.insert(words.end(), {"--network", "fat_tree:nodes=4,taper=2"});
    EXPECT_TRUE(parse_up(words).shape.network);
    words.back() = "torus:2x2";
    EXPECT_THAT(fault_of([&] { parse_up(words); }), HasSubstr("a network of 4 nodes; the cluster has 8"));
    words.back() = "flat";
    EXPECT_FALSE(parse_up(words).shape.network);
}

TEST(options, that_no_cluster_can_have_are_refused) {
    EXPECT_THAT(fault_of_up("--nodes", "0"), HasSubstr("0 nodes; expected 1 to 250"));
    EXPECT_THAT(fault_of_up("--nodes", "251"), HasSubstr("251 nodes"));
    EXPECT_THAT(fault_of_up("--nodes", "-1"), HasSubstr("-1"));
    EXPECT_THAT(fault_of_up("--nodes", "8x"), HasSubstr("8x"));
    EXPECT_THAT(fault_of_up("--lanes", "0"), HasSubstr("0 lanes"));
    EXPECT_THAT(fault_of_up("--lanes", "9"), HasSubstr("expected 1 to 8"));
    EXPECT_THAT(fault_of_up("--latency-us", "-1"), HasSubstr("latency of -1 us"));
    EXPECT_THAT(fault_of_up("--latency-us", "nan"), HasSubstr("latency"));
    EXPECT_THAT(fault_of_up("--rate-mbit", "0"), HasSubstr("rate of 0"));
    EXPECT_THAT(fault_of_up("--rate-mbit", ""), HasSubstr("empty"));
}

TEST(options, beyond_what_the_switch_carries_are_refused_with_both_figures) {
    EXPECT_THAT(fault_of_up("--rate-mbit", "1000"), HasSubstr("16.0 Gbit/s"));
    EXPECT_THAT(fault_of_up("--rate-mbit", "1000"), HasSubstr("3.6 Gbit/s"));
    EXPECT_EQ(fault_of_up("--rate-mbit", "225"), "none");
}

TEST(options, missing_or_unknown_are_refused) {
    EXPECT_THAT(fault_of([] { parse_up({"--nodes", "8"}); }), HasSubstr("up needs --directory"));
    EXPECT_THAT(fault_of([] { parse_up({"--nodes"}); }), HasSubstr("--nodes needs a value"));
    EXPECT_THAT(fault_of([] { parse_up({"--speed", "8"}); }), HasSubstr("no option --speed"));
}

TEST(options, of_set_are_read) {
    const Change change = parse_change(Words{"latency-us=5000", "rate-mbit=0.5"});
    EXPECT_EQ(change.latency_ns, 5'000'000U);
    EXPECT_EQ(change.bits_per_second, 500'000U);
    EXPECT_FALSE(parse_change(Words{"rate-mbit=1"}).latency_ns);
    EXPECT_THAT(fault_of([] { parse_change({}); }), HasSubstr("expected latency-us"));
    EXPECT_THAT(fault_of([] { parse_change(Words{"lanes=2"}); }), HasSubstr("lanes=2"));
    EXPECT_THAT(fault_of([] { parse_change(Words{"latency-us"}); }), HasSubstr("empty"));
}

TEST(options, of_ssh_are_skipped) {
    const RemoteCommand remote =
        parse_ssh(Words{"-x", "-l", "me", "-oBatchMode=yes", "you@node3", "echo", "a b;", "-n"});
    EXPECT_EQ(remote.host, "node3");
    EXPECT_EQ(remote.command, "echo a b; -n");
    EXPECT_EQ(parse_ssh(Words{"198.18.0.4", "true"}).host, "198.18.0.4");
    EXPECT_THAT(fault_of([] { parse_ssh(Words{"-x", "node3"}); }), HasSubstr("host command"));
    EXPECT_THAT(fault_of([] { parse_ssh(Words{"-l"}); }), HasSubstr("host command"));
}

}  // namespace
}  // namespace rondo::testbed
