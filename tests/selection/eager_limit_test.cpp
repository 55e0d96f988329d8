// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/eager_limit.hpp"

#include <gtest/gtest.h>

namespace rondo {
namespace {

constexpr Count kibi = 1 << 10;

TEST(EagerLimit, is_known_for_the_libraries_that_were_measured) {
    EXPECT_EQ(eager_limit_of("MPICH Version 4.0.2"), 16 * kibi);
    EXPECT_EQ(eager_limit_of("MPICH Version 5.0.2"), 512 * kibi);
    EXPECT_EQ(eager_limit_of("Open MPI v4.1.4"), 32 * kibi);
    EXPECT_EQ(eager_limit_of("Open MPI v5.0.11"), 32 * kibi);
    EXPECT_EQ(eager_limit_of("Intel(R) MPI Library 2021.19.0 for Linux* OS"), 32 * kibi);
}

TEST(EagerLimit, is_the_shortest_for_all_others) {
    for (const char* version :
         {"", "Some MPI 1.0", "MPICH", "MPICH Version 4.3.1", "MPICH Version 5.01", "Open MPI v5"}) {
        EXPECT_EQ(eager_limit_of(version), 16 * kibi) << version;
    }
}

TEST(EagerLimit, covers_every_release_of_a_version) {
    EXPECT_EQ(eager_limit_of("MPICH Version 5.0"), 512 * kibi);
    EXPECT_EQ(eager_limit_of("MPICH Version 5.0.0"), 512 * kibi);
}

TEST(EagerLimit, of_a_library_by_name_is_that_of_the_newest_version) {
    EXPECT_EQ(usual_version_of(MpiLibrary::mpich), "MPICH Version 5.0");
    EXPECT_EQ(usual_version_of(MpiLibrary::openmpi), "Open MPI v5.0");
    EXPECT_EQ(library_of(usual_version_of(MpiLibrary::impi)), MpiLibrary::impi);
    EXPECT_EQ(usual_version_of(MpiLibrary::other), "");
}

}  // namespace
}  // namespace rondo
