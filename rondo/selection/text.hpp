// SPDX-License-Identifier: BSD-3-Clause
// Cutting text into pieces.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rondo {

/// Without blanks at either end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// What stands before and after the first `separator`; nothing if there is none.
[[nodiscard]] constexpr std::optional<std::pair<std::string_view, std::string_view>> cut(std::string_view text,
                                                                                         std::string_view separator) {
    const std::size_t at = text.find(separator);
    if (at == std::string_view::npos) return std::nullopt;
    return std::pair(text.substr(0, at), text.substr(at + separator.size()));
}

/// Takes the text up to the first `separator`, or all of it, off the front.
constexpr std::string_view take_until(std::string_view& text, std::string_view separator) {
    const auto pieces = cut(text, separator);
    return pieces ? (text = pieces->second, pieces->first) : std::exchange(text, {});
}

/// 'text', for messages; a very long one is cut short.
[[nodiscard]] inline std::string quoted(std::string_view text) {
    constexpr std::size_t longest = 80;
    return "'" + std::string(text.substr(0, longest)) + (text.size() > longest ? "...'" : "'");
}

}  // namespace rondo
