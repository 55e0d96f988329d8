// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/conditions.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include "rondo/core/quantity_text.hpp"

namespace rondo {
namespace {

/// Of numbers that are as long as each other, powers of two are rounder.
bool is_rounder(Count a, Count b) {
    const auto rank = [](Count value) {
        return std::pair(quantity_text(value).size(), !std::has_single_bit(static_cast<std::uint64_t>(value)));
    };
    return rank(a) < rank(b);
}

/// The end of a range with its sign, of "<=" and "<" the one with the rounder number: < 32Ki, not <= 32767.
std::string end_text(std::string_view name, std::string_view sign, Count end, Count beyond) {
    return std::string(name) + " " + std::string(sign) +
           (is_rounder(beyond, end) ? " " + quantity_text(beyond) : "= " + quantity_text(end));
}

std::string library_text(Count number) {
    return number == 0 ? "another" : std::string(library_names[static_cast<std::size_t>(number - 1)]);
}

std::string single_text(Rules::Fact fact, Count value) {
    switch (fact) {
        case Rules::commutative:
        case Rules::shared_memory:
        case Rules::oversubscribed: return value == 0 ? "no" : "yes";
        case Rules::library: return library_text(value);
        case Rules::eager: return value == any_count.highest ? "no limit" : quantity_text(value);
        case Rules::nodes:
        case Rules::domains:
        case Rules::fewest_on_node:
        case Rules::most_on_node: return value == 0 ? "unknown" : quantity_text(value);
        default: return quantity_text(value);
    }
}

}  // namespace

std::string condition_text(Rules::Fact fact, const Interval& asked) {
    const std::string name(fact_names[fact]);
    if (asked.lowest == asked.highest) return name + " = " + single_text(fact, asked.lowest);
    const bool has_end = asked.highest < askable[fact].highest;
    const bool has_begin = asked.lowest > askable[fact].lowest || !has_end;
    std::string begin = end_text(name, ">", asked.lowest, std::max<Count>(asked.lowest, 1) - 1);
    if (!has_end) return begin;
    std::string end = end_text(name, "<", asked.highest, asked.highest + 1);
    if (!has_begin) return end;
    const bool both_included = begin.find('=') != std::string::npos && end.find('=') != std::string::npos;
    return both_included ? name + " in " + quantity_text(asked.lowest) + ".." + quantity_text(asked.highest)
                         : begin + ", " + end;
}

std::string value_text(Rules::Fact fact, const Interval& found) {
    const std::string lowest = single_text(fact, found.lowest);
    return found.lowest == found.highest ? lowest : lowest + " to " + single_text(fact, found.highest);
}

}  // namespace rondo
