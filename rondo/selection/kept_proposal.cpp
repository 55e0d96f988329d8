// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/kept_proposal.hpp"

#include <array>

#include "rondo/selection/learned_line.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {
namespace {

using Field = LearnedField<KeptProposal>;

constexpr std::string_view first_word = "proposed";

/// The shortest length of a class; 0 for the first class.
Count shortest_of(std::uint8_t length) { return length == length_class(0) ? 0 : Count{1} << (length - 1); }

constexpr std::array fields = {
    Field{"bytes",
          [](KeptProposal& proposal, std::string_view text) {
              proposal.calls.length = length_class(number_of(text, Count{1} << 62));
          },
          [](const KeptProposal& proposal) { return std::to_string(shortest_of(proposal.calls.length)); }},
    Field{"element",
          [](KeptProposal& proposal, std::string_view text) {
              proposal.calls.element_bytes = number_of(text, Count{1} << 62);
          },
          [](const KeptProposal& proposal) { return std::to_string(proposal.calls.element_bytes); }},
    Field{"commutative",
          [](KeptProposal& proposal, std::string_view text) { proposal.calls.commutative = truth_of(text); },
          [](const KeptProposal& proposal) { return truth_text(proposal.calls.commutative); }},
    Field{"nodes", [](KeptProposal& proposal, std::string_view text) { proposal.calls.shape.nodes = ranks_of(text); },
          [](const KeptProposal& proposal) { return std::to_string(proposal.calls.shape.nodes); }},
    Field{"ranks_per_node",
          [](KeptProposal& proposal, std::string_view text) { proposal.calls.shape.most_on_node = ranks_of(text); },
          [](const KeptProposal& proposal) { return std::to_string(proposal.calls.shape.most_on_node); }},
    Field{"choice",
          [](KeptProposal& proposal, std::string_view text) {
              proposal.choice = parse_choice(*proposal.calls.collective, text);
              if (proposal.choice.algorithm == nullptr) throw Error("an algorithm is expected, not " + quoted(text));
          },
          [](const KeptProposal& proposal) { return to_string(proposal.choice); }},
    Field{"seconds", [](KeptProposal& proposal, std::string_view text) { proposal.seconds = seconds_of(text); },
          [](const KeptProposal& proposal) { return seconds_text(proposal.seconds); }},
    Field{"day", [](KeptProposal& proposal, std::string_view text) { proposal.day = day_of(text); },
          [](const KeptProposal& proposal) { return proposal.day; }},
};

}  // namespace

std::string to_string(const KeptProposal& proposal) {
    return std::string(first_word) + " " + std::string(proposal.calls.collective->name) +
           text_of_fields<KeptProposal>(proposal, fields);
}

std::optional<KeptProposal> read_proposal(std::string_view line) {
    if (take_until(line, " ") != first_word) return std::nullopt;
    KeptProposal proposal;
    proposal.calls.collective = &require_collective(take_until(line, " "));
    read_fields<KeptProposal>(proposal, fields, line);
    Shape& shape = proposal.calls.shape;
    constexpr Rank most = 1 << 24;
    if (shape.nodes < 1 || shape.nodes > most || shape.most_on_node < 1 || shape.most_on_node > most / shape.nodes)
        throw Error("one node or more with one rank or more each is expected");
    shape.fewest_on_node = shape.most_on_node;
    shape.processes = shape.nodes * shape.most_on_node;
    shape.in_rank_order = true;
    return proposal;
}

}  // namespace rondo
