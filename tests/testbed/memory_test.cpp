// SPDX-License-Identifier: BSD-3-Clause
#include "testbed/memory.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

#include "testbed/failure.hpp"
#include "testbed/files.hpp"
#include "testbed/ring.hpp"

namespace rondo::testbed {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t mebibyte = 1U << 20U;

/// A machine's /proc and /sys.
class MemoryLeft : public testing::Test {
  protected:
    MemoryLeft() : root_(testing::TempDir() + "rondo-memory-" + std::to_string(::getpid())) {
        write("/proc/meminfo", "MemTotal: 4194304 kB\nMemFree: 1024 kB\nMemAvailable:    2097152 kB\n");
    }
    ~MemoryLeft() override { std::filesystem::remove_all(root_); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
        write_file(root_ + path, text);
    }
    [[nodiscard]] std::uint64_t mebibytes() const { return memory_left(root_) / mebibyte; }

  private:
    std::string root_;
};

TEST_F(MemoryLeft, is_the_machines_without_limits) {
    EXPECT_EQ(mebibytes(), 2048U);
    write("/proc/self/cgroup", "4:memory:/\n0::/\n");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1048576\n");
    write("/sys/fs/cgroup/memory.max", "max\n");
    write("/sys/fs/cgroup/memory.current", "1048576\n");
    EXPECT_EQ(mebibytes(), 2048U);
}

TEST_F(MemoryLeft, is_what_a_group_or_one_above_it_leaves_but_for_cached_files) {
    write("/proc/self/cgroup", "0::/user/session\n");
    write("/sys/fs/cgroup/user/session/memory.max", "max\n");
    write("/sys/fs/cgroup/user/session/memory.current", "1\n");
    write("/sys/fs/cgroup/user/memory.max", "524288000\n");
    write("/sys/fs/cgroup/user/memory.current", "419430400\n");
    EXPECT_EQ(mebibytes(), 100U);
    write("/sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 104857600\n");
    EXPECT_EQ(mebibytes(), 200U);
}

TEST_F(MemoryLeft, is_what_a_container_leaves_that_hides_its_path) {
    write("/proc/self/cgroup", "7:blkio:/docker/1\n4:memory:/docker/1\n");
    write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "314572800\n");
    write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "367001600\n");
    EXPECT_EQ(mebibytes(), 0U);  // over the limit, until the kernel has taken cached files back
    write("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 104857600\n");
    EXPECT_EQ(mebibytes(), 50U);
}

TEST(memory_left, of_this_machine_is_known) {
    EXPECT_GT(memory_left(), mebibyte);
    EXPECT_LT(memory_left(), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(memory_left("/no-such-root"), std::numeric_limits<std::uint64_t>::max());
}

constexpr Shape shape(unsigned nodes, unsigned per_node = 1, std::uint64_t latency_ns = 2'000'000) {
    return {.nodes = nodes, .per_node = per_node, .latency_ns = latency_ns, .bits_per_second = 200'000'000};
}

TEST(rings, grow_with_what_may_be_under_way_up_to_a_limit) {
    EXPECT_LT(ring_bytes(shape(2)), 32 * mebibyte);
    EXPECT_LT(ring_bytes(shape(8)), 128 * mebibyte);
    EXPECT_GT(ring_of_node(shape(8, 4)).slots(), ring_of_node(shape(8)).slots());
    EXPECT_GT(ring_of_node(shape(8, 1, 20'000'000)).slots(), ring_of_node(shape(8)).slots());
    for (const Shape& large : {shape(16, 64), shape(36, 1, 60'000'000'000), shape(250, 4096)}) {
        EXPECT_LE(ring_bytes(large), (512 + 64) * mebibyte) << large.nodes;
        EXPECT_GE(ring_of_node(large).slots(), 30U) << large.nodes;
    }
}

TEST(rings, have_slots_that_lie_apart_and_within_blocks) {
    for (const Ring& ring : {ring_of_node(shape(8)), ring_of_head(shape(8))}) {
        EXPECT_EQ(ring.slots() % ring.blocks(), 0U);
        for (std::size_t slot = 0; slot < ring.slots(); ++slot) {
            const std::size_t end = ring.offset(slot) + ring.slot_bytes();
            EXPECT_LE(end, slot + 1 < ring.slots() ? ring.offset(slot + 1) : ring.bytes());
            EXPECT_EQ(ring.offset(slot) / Ring::block_bytes, (end - 1) / Ring::block_bytes);
        }
    }
}

TEST(require_memory, refuses_with_figures_and_advice) {
    const std::uint64_t needed = ring_bytes(shape(8));
    EXPECT_NO_THROW(require_memory(shape(8), needed));
    try {
        require_memory(shape(8), needed - 1);
        FAIL();
    } catch (const Failure& failure) {
        EXPECT_THAT(failure.what(), AllOf(HasSubstr("8 nodes takes " + memory_text(needed)),
                                          HasSubstr(memory_text(needed - 1) + " are left"), HasSubstr("fewer nodes")));
    }
}

}  // namespace
}  // namespace rondo::testbed
