// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/eager_limit.hpp"

#include <algorithm>
#include <iterator>

namespace rondo {
namespace {

struct Row {
    std::string_view library;  // how its version begins, up to a dot or a blank
    Count bytes;
};

constexpr Count kibi = 1 << 10;

// Measured over TCP, by `rondo calibrate --cluster 2x1:2ms:200Mbit --mpi ...`. Of each library the newest last.
constexpr Row rows[] = {
    {"MPICH Version 4.0", 16 * kibi},     // 4.0.2 of Debian: buffers of libfabric's rxm provider
    {"MPICH Version 5.0", 512 * kibi},    // 5.0.2: nothing waited up to there
    {"Open MPI v4.1", 32 * kibi},         // 4.1.4 of Debian; longer ones wait from 64 KiB on, less a header
    {"Open MPI v5.0", 32 * kibi},         // 5.0.11; the same
    {"Intel(R) MPI Library", 32 * kibi},  // 2021.19; 64 KiB wait
};
constexpr Count unknown_library = 16 * kibi;

}  // namespace

Count eager_limit_of(std::string_view version) {
    const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) {
        const std::size_t end = each.library.size();
        return version.starts_with(each.library) &&
               (version.size() == end || version[end] == '.' || version[end] == ' ');
    });
    return row != std::end(rows) ? row->bytes : unknown_library;
}

std::string_view usual_version_of(MpiLibrary library) {
    std::string_view newest;
    for (const Row& row : rows) {
        if (library_of(row.library) == library) newest = row.library;
    }
    return newest;
}

}  // namespace rondo
