// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/quantity.hpp"

#include <charconv>
#include <limits>

namespace rondo {
namespace {

struct Suffix {
    std::string_view text;
    Count factor;
};

constexpr Suffix suffixes[] = {
    {"Gi", Count{1} << 30}, {"Mi", Count{1} << 20}, {"Ki", Count{1} << 10},
    {"G", 1'000'000'000},   {"M", 1'000'000},       {"k", 1'000},
};

}  // namespace

std::optional<Count> parse_quantity(std::string_view text) {
    if (text.empty() || text.front() == '-') return std::nullopt;
    Count value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
    if (unit.empty()) return value;
    for (const Suffix& suffix : suffixes) {
        if (unit != suffix.text) continue;
        if (value > std::numeric_limits<Count>::max() / suffix.factor) return std::nullopt;
        return value * suffix.factor;
    }
    return std::nullopt;
}

std::string expected_quantity(std::string_view text) {
    std::string close(text);
    std::erase_if(close, [](char c) { return c == ' ' || c == '\t'; });
    if (close != text && parse_quantity(close)) return "write " + close + ", without the blank";
    return "expected a whole number, with Ki, Mi, Gi or k, M, G behind it if you like";
}

}  // namespace rondo
