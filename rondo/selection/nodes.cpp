// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/nodes.hpp"

#include <numeric>
#include <string>

#include "rondo/core/error.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {
namespace {

constexpr Count most_ranks = 1 << 24;
constexpr std::string_view of_domains = "domains:";

}  // namespace

std::vector<Rank> parse_ranks_on_nodes(std::string_view text) {
    const std::string_view numbers = text.substr(text.starts_with(of_domains) ? of_domains.size() : 0);
    const auto number = [&](std::string_view digits) {
        const auto value = parse_quantity(trimmed(digits));
        if (!value || *value < 1 || *value > most_ranks) {
            throw Error(quoted(text) + (text.starts_with(of_domains)
                                            ? " says no domains; expected domains:DOMAINSxRANKS, as in "
                                              "domains:2x8, or the ranks of each, as in domains:4,3"
                                            : " says no nodes; expected NODESxRANKS, as in 4x8, or the ranks "
                                              "of each, as in 4,4,3"));
        }
        return static_cast<Rank>(*value);
    };
    std::vector<Rank> ranks_on;
    Count ranks = 0;
    if (const auto sides = cut(numbers, "x")) {
        const Rank nodes = number(sides->first), each = number(sides->second);
        ranks = Count{nodes} * each;
        if (ranks <= most_ranks) ranks_on.assign(static_cast<std::size_t>(nodes), each);
    } else {
        std::string_view rest = numbers;
        for (bool more = true; more;) {
            more = rest.find(',') != std::string_view::npos;
            ranks_on.push_back(number(take_until(rest, ",")));
            ranks += ranks_on.back();
        }
    }
    if (ranks > most_ranks) throw Error(quoted(text) + ": expected at most " + std::to_string(most_ranks) + " ranks");
    return ranks_on;
}

Placement parse_nodes(std::string_view text, Rank ranks) {
    const std::vector<Rank> ranks_on = parse_ranks_on_nodes(text);
    const Rank all = std::accumulate(ranks_on.begin(), ranks_on.end(), 0);
    if (all != ranks) {
        throw Error((text.starts_with(of_domains) ? "" : "nodes ") + std::string(text) + " have " +
                    std::to_string(all) + " ranks; expected " + std::to_string(ranks));
    }
    std::vector<Rank> node_of;
    for (std::size_t node = 0; node < ranks_on.size(); ++node) {
        node_of.insert(node_of.end(), static_cast<std::size_t>(ranks_on[node]), static_cast<Rank>(node));
    }
    const Placement placement = Placement::of(node_of);
    return text.starts_with(of_domains) ? placement.as_domains() : placement;
}

}  // namespace rondo
