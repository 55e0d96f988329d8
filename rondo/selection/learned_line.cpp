// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/learned_line.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "rondo/selection/quantity.hpp"

namespace rondo {

std::string seconds_text(double seconds) {
    std::array<char, 32> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), seconds, std::chars_format::general, 4);
    return {digits.data(), end.ptr};
}

double seconds_of(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e9) {
        throw Error("a number of seconds is expected, not " + quoted(text));
    }
    return value;
}

Count number_of(std::string_view text, Count most) {
    const auto value = parse_quantity(text);
    if (!value || *value > most) throw Error("a number is expected, not " + quoted(text));
    return *value;
}

Rank ranks_of(std::string_view text) { return static_cast<Rank>(number_of(text, std::numeric_limits<Rank>::max())); }

bool truth_of(std::string_view text) {
    if (text != "yes" && text != "no") throw Error("yes or no is expected, not " + quoted(text));
    return text == "yes";
}

std::string day_of(std::string_view text) {
    constexpr std::string_view like = "2026-11-23";
    const auto fits = [](char pattern, char letter) {
        return pattern == '-' ? letter == '-' : letter >= '0' && letter <= '9';
    };
    if (!std::ranges::equal(like, text, fits))
        throw Error("a day as " + std::string(like) + " is expected, not " + quoted(text));
    return std::string(text);
}

std::string truth_text(bool value) { return value ? "yes" : "no"; }

}  // namespace rondo
