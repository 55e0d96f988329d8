// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace rondo {
namespace {

std::string in_lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before, above);
        std::swap(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

bool contains(std::string_view whole, std::string_view part) {
    return part.size() >= 3 && whole.find(part) != std::string_view::npos;
}

}  // namespace

std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known) {
    // A text this long is no misspelt name, and the table of edits is quadratic.
    if (word.empty() || word.size() > 100) return {};
    const std::string wanted = in_lower_case(word);
    std::vector<std::pair<std::size_t, std::string_view>> near;
    for (const std::string_view name : known) {
        const std::string candidate = in_lower_case(name);
        const std::size_t distance = edits(wanted, candidate);
        const std::size_t tolerated = std::max<std::size_t>(1, std::min(wanted.size(), candidate.size()) / 3);
        if (distance <= tolerated || contains(wanted, candidate) || contains(candidate, wanted)) {
            near.emplace_back(distance, name);
        }
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });

    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i) names.push_back(near[i].second);
    return names;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
    const auto near = nearest(word, known);
    std::string text = near.empty() ? "expected one of: " : "did you mean ";
    const std::span<const std::string_view> names = near.empty() ? known : std::span(near);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) text += near.empty() ? ", " : i + 1 < names.size() ? ", " : " or ";
        text += near.empty() ? std::string(names[i]) : "'" + std::string(names[i]) + "'";
    }
    return near.empty() ? text : text + "?";
}

}  // namespace rondo
