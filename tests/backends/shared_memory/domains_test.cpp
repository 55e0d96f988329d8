// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/shared_memory/domains.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>

namespace rondo::shared_memory {
namespace {

using testing::ElementsAre;

/// The files of a system with eight processors: of two sockets, four NUMA nodes, and an L3 cache for each two
/// processors; every second one is in the second socket, as some machines number them. Gone with it.
class System {
  public:
    System() {
        write("devices/system/node/online", "0-1,4-5");
        for (int each = 0; each < 8; ++each) {
            const std::string processor = "devices/system/cpu/cpu" + std::to_string(each);
            write(processor + "/cache/index0/level", "1");
            write(processor + "/cache/index0/shared_cpu_list", std::to_string(each));
            write(processor + "/cache/index3/level", "3");
            write(processor + "/cache/index3/shared_cpu_list", both(each % 2 + each / 4 * 4));
            write(processor + "/topology/core_siblings_list", each % 2 == 0 ? "0,2,4,6" : "1,3,5,7");
        }
        const int nodes[] = {0, 4, 1, 5};
        for (int each = 0; each < 4; ++each) {
            const std::string node = "devices/system/node/node" + std::to_string(nodes[each]);
            write(node + "/cpulist", both(each % 2 + each / 2 * 4));
        }
    }
    System(const System&) = delete;
    System& operator=(const System&) = delete;
    ~System() { std::filesystem::remove_all(root()); }

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = std::filesystem::path(root()) / "sys" / path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text << '\n';
    }
    void remove(const std::string& path) const {
        std::filesystem::remove_all(std::filesystem::path(root()) / "sys" / path);
    }
    [[nodiscard]] Parts of(std::initializer_list<int> processors) const {
        cpu_set_t set;
        CPU_ZERO(&set);
        for (const int each : processors) CPU_SET(each, &set);
        return parts_of(set, root());
    }

  private:
    static std::string root() {
        return (std::filesystem::temp_directory_path() / ("rondo-domains-" + std::to_string(::getpid()))).string();
    }
    static std::string both(int first) { return std::to_string(first) + "," + std::to_string(first + 2); }
};

TEST(PartsOf, are_named_by_their_first_processors) {
    const System system;
    EXPECT_THAT(system.of({2}), ElementsAre(0, 0, 0));
    EXPECT_THAT(system.of({5, 7}), ElementsAre(5, 5, 1));
    EXPECT_THAT(system.of({4, 6}), ElementsAre(4, 4, 0));
}

TEST(PartsOf, hold_all_processors_of_the_process) {
    const System system;
    EXPECT_THAT(system.of({0, 2, 4}), ElementsAre(-1, -1, 0)) << "one socket, two caches";
    EXPECT_THAT(system.of({0, 1}), ElementsAre(-1, -1, -1));
    EXPECT_THAT(system.of({}), ElementsAre(-1, -1, -1));
}

TEST(PartsOf, that_the_system_does_not_tell_are_none) {
    const System system;
    system.remove("devices/system/cpu/cpu3/cache/index3");
    system.remove("devices/system/cpu/cpu3/topology");
    EXPECT_THAT(system.of({3}), ElementsAre(-1, 1, -1));
    system.remove("devices/system/node");
    EXPECT_THAT(system.of({3}), ElementsAre(-1, -1, -1));
    system.write("devices/system/cpu/cpu3/topology/core_siblings_list", "nonsense");
    EXPECT_THAT(system.of({3}), ElementsAre(-1, -1, -1));
    system.write("devices/system/cpu/cpu3/topology/core_siblings_list", "3-99999");
    EXPECT_THAT(system.of({3}), ElementsAre(-1, -1, 3)) << "more than a set of processors holds";
}

std::vector<Rank> domains(std::vector<Rank> node_of, std::vector<Parts> parts) { return domains_of(node_of, parts); }

TEST(DomainsOf, are_the_parts_to_which_the_ranks_are_bound) {
    const Parts a{0, 0, 0}, b{2, 0, 0}, c{4, 4, 4};
    EXPECT_THAT(domains({0, 0, 0, 0}, {a, a, c, c}), ElementsAre(0, 0, 2, 2));
    EXPECT_THAT(domains({0, 0, 0, 0}, {a, c, a, c}), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(domains({0, 0, 0, 0, 0, 0}, {a, a, b, b, c, c}), ElementsAre(0, 0, 2, 2, 4, 4)) << "by the caches";
}

TEST(DomainsOf, are_larger_where_smaller_ones_have_few_ranks_or_are_left) {
    const Parts a{0, 0, 0}, b{2, 0, 0}, c{4, 4, 4}, d{6, 4, 4}, wide{-1, 4, 4};
    EXPECT_THAT(domains({0, 0, 0, 0}, {a, b, c, d}), ElementsAre(0, 0, 2, 2)) << "the NUMA nodes";
    EXPECT_THAT(domains({0, 0, 0, 0, 0}, {a, a, b, b, c}), ElementsAre(0, 0, 0, 0, 4)) << "three caches for five ranks";
    EXPECT_THAT(domains({0, 0, 0, 0}, {a, a, wide, wide}), ElementsAre(0, 0, 2, 2)) << "one rank may use two caches";
}

TEST(DomainsOf, are_whole_nodes_where_ranks_are_not_bound) {
    const Parts a{0, 0, 0}, c{4, 4, 4}, anywhere{-1, -1, -1};
    EXPECT_THAT(domains({0, 0, 0}, {a, c, anywhere}), ElementsAre(0, 0, 0));
    EXPECT_THAT(domains({0, 0}, {a, c}), ElementsAre(0, 0)) << "each rank would be a domain of its own";
    EXPECT_THAT(domains({0, 0, 0}, {a, a, a}), ElementsAre(0, 0, 0));
    EXPECT_THAT(domains({0, 0, 0}, {a, a, c}), ElementsAre(0, 0, 0)) << "fewer than two to a domain in the mean";
    EXPECT_THAT(domains({0, 1, 0, 1, 0, 1, 0, 1}, {a, a, a, a, c, anywhere, c, a}), ElementsAre(0, 1, 0, 1, 4, 1, 4, 1))
        << "each node for itself";
}

}  // namespace
}  // namespace rondo::shared_memory
