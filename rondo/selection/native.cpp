// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/native.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace rondo {
namespace {

struct Row {
    std::string_view library;  // how its version begins, up to a dot
    std::string_view rules;
};

constexpr Row rows[] = {
    {"MPICH Version 4", "mpich-4"},
    {"MPICH Version 5", "mpich-5"},
    {"Open MPI v4", "open_mpi-4"},
    {"Open MPI v5", "open_mpi-5"},
};

constexpr double doublings_to_half = 8;

double doublings(Count one, Count other) {
    const auto log = [](Count value) { return std::log2(double(std::max<Count>(1, value))); };
    return std::abs(log(one) - log(other));
}

}  // namespace

std::string_view native_rules_of(std::string_view version) {
    const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) {
        const std::size_t end = each.library.size();
        return version.starts_with(each.library) && (version.size() == end || version[end] == '.');
    });
    return row != std::end(rows) ? row->rules : std::string_view();
}

double native_correction(std::span<const MeasuredClass> measured, Count bytes, Rank processes, Rank nodes) {
    double nearest = std::numeric_limits<double>::infinity(), logarithms = 0;
    int classes = 0;
    for (const MeasuredClass& each : measured) {
        const double distance =
            doublings(bytes, each.bytes) + doublings(processes, each.processes) + doublings(nodes, each.nodes);
        if (distance > nearest) continue;
        if (distance < nearest) logarithms = classes = 0;
        nearest = distance;
        logarithms += std::log(each.ratio);
        ++classes;
    }
    return classes == 0 ? 1.0 : std::exp(logarithms / classes / (1 + nearest / doublings_to_half));
}

}  // namespace rondo
