// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/processors.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace rondo::shared_memory {
namespace {

constexpr int all = std::numeric_limits<int>::max();

/// The files of a system, gone with it.
class System {
  public:
    explicit System(const std::string& groups) {
        std::filesystem::create_directories(root());
        write("proc/self/cgroup", groups);
    }
    System(const System&) = delete;
    System& operator=(const System&) = delete;
    ~System() { std::filesystem::remove_all(root()); }

    System& limited(const std::string& group, const std::string& limit) {
        write("sys/fs/cgroup/" + group + "/cpu.max", limit);
        return *this;
    }
    [[nodiscard]] int allowed() const { return processors_allowed(root()); }

  private:
    static std::string root() {
        return (std::filesystem::temp_directory_path() / ("rondo-processors-" + std::to_string(::getpid()))).string();
    }
    static void write(const std::string& path, const std::string& text) {
        const std::filesystem::path file = std::filesystem::path(root()) / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
};

TEST(ProcessorsAllowed, are_all_without_a_limit) {
    EXPECT_EQ(System("").allowed(), all);
    EXPECT_EQ(System("0::/\n").allowed(), all);
    EXPECT_EQ(System("2:cpu:/old\n0::/job\n").limited("job", "max 100000\n").allowed(), all);
    EXPECT_EQ(System("0::/job\n").limited("job", "nonsense").allowed(), all);
}

TEST(ProcessorsAllowed, are_those_of_the_tightest_group_rounded_down) {
    EXPECT_EQ(System("0::/job\n").limited("job", "250000 100000\n").allowed(), 2);
    EXPECT_EQ(System("0::/job\n").limited("job", "50000 100000\n").allowed(), 0);
    EXPECT_EQ(System("0::/a/b\n").limited("a/b", "800000 100000").limited("a", "300000 100000").allowed(), 3);
    EXPECT_EQ(System("0::/a/b\n").limited("a/b", "200000 100000").limited("a", "max 100000").allowed(), 2);
}

TEST(ProcessorsAllowed, are_those_of_a_container_whose_group_cannot_be_seen) {
    EXPECT_EQ(System("0::/host/name\n").limited("", "400000 100000\n").allowed(), 4);
    EXPECT_EQ(System("0::/\n").limited("", "400000 100000\n").allowed(), 4);
}

TEST(OwnProcessors, are_some) {
    const cpu_set_t processors = own_processors();
    EXPECT_GT(CPU_COUNT(&processors), 0);
}

}  // namespace
}  // namespace rondo::shared_memory
