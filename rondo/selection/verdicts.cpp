// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/verdicts.hpp"

#include <array>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/selection/learned_line.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {
namespace {

constexpr std::string_view heading =
    "# Who was faster in the trials of earlier runs, Rondo's choice or the library; `rondo learned` shows it.\n"
    "# rondo, library: seconds of an undisturbed one of so many calls of each; 0 of both: they could not be compared, "
    "and\n"
    "# the library has such calls. alone: they came in a row and may have overlapped; one takes about so long alone.\n"
    "# begun: no verdict yet, after calls of both that took so long.\n"
    "# proposed: what the model has worked out, in so many predicted seconds. Lines may be removed.\n";

bool same(const Choice& a, const Choice& b) noexcept {
    return a.algorithm == b.algorithm &&
           std::ranges::equal(a.settings, b.settings, [](const Setting& x, const Setting& y) {
               return x.name == y.name && x.value == y.value;
           });
}

std::vector<double> times_of(std::string_view text) {
    constexpr std::size_t most = 1000;
    std::vector<double> times;
    while (!text.empty()) {
        if (times.size() == most) throw Error("fewer times are expected");
        times.push_back(seconds_of(take_until(text, ",")));
    }
    return times;
}

std::string times_text(const std::vector<double>& times) {
    std::string text;
    for (const double time : times) text += (text.empty() ? "" : ",") + seconds_text(time);
    return text;
}

using Field = LearnedField<Verdict>;

template <Rank Shape::* member>
constexpr Field shape_field(std::string_view name) {
    return {name, [](Verdict& verdict, std::string_view text) { verdict.shape.*member = ranks_of(text); },
            [](const Verdict& verdict) { return std::to_string(verdict.shape.*member); }};
}

/// In the order in which they stand in a line, behind the collective.
constexpr std::array fields = {
    Field{"bytes", [](Verdict& verdict, std::string_view text) { verdict.bytes = number_of(text, Count{1} << 62); },
          [](const Verdict& verdict) { return std::to_string(verdict.bytes); }},
    Field{"commutative", [](Verdict& verdict, std::string_view text) { verdict.commutative = truth_of(text); },
          [](const Verdict& verdict) { return truth_text(verdict.commutative); }},
    Field{"rounding", [](Verdict& verdict, std::string_view text) { verdict.rounding = truth_of(text); },
          [](const Verdict& verdict) { return truth_text(verdict.rounding); }},
    Field{"empty_parts", [](Verdict& verdict, std::string_view text) { verdict.empty_parts = truth_of(text); },
          [](const Verdict& verdict) { return verdict.empty_parts ? truth_text(true) : std::string(); }, true},
    shape_field<&Shape::processes>("processes"),
    shape_field<&Shape::nodes>("nodes"),
    shape_field<&Shape::fewest_on_node>("fewest_on_node"),
    shape_field<&Shape::most_on_node>("most_on_node"),
    Field{"in_rank_order",
          [](Verdict& verdict, std::string_view text) { verdict.shape.in_rank_order = truth_of(text); },
          [](const Verdict& verdict) { return truth_text(verdict.shape.in_rank_order); }},
    Field{"shared_memory",
          [](Verdict& verdict, std::string_view text) { verdict.shape.shared_memory = truth_of(text); },
          [](const Verdict& verdict) { return truth_text(verdict.shape.shared_memory); }, true},
    Field{"domains", [](Verdict& verdict, std::string_view text) { verdict.shape.domains = ranks_of(text); },
          [](const Verdict& verdict) {
              return verdict.shape.domains > 1 ? std::to_string(verdict.shape.domains) : std::string();
          },
          true},
    Field{"choice",
          [](Verdict& verdict, std::string_view text) { verdict.choice = parse_choice(*verdict.collective, text); },
          [](const Verdict& verdict) { return to_string(verdict.choice); }},
    Field{"rondo", [](Verdict& verdict, std::string_view text) { verdict.rondo = seconds_of(text); },
          [](const Verdict& verdict) { return seconds_text(verdict.rondo); }},
    Field{"library", [](Verdict& verdict, std::string_view text) { verdict.library = seconds_of(text); },
          [](const Verdict& verdict) { return seconds_text(verdict.library); }},
    Field{"calls", [](Verdict& verdict, std::string_view text) { verdict.calls = static_cast<int>(ranks_of(text)); },
          [](const Verdict& verdict) { return std::to_string(verdict.calls); }, true},
    Field{"alone", [](Verdict& verdict, std::string_view text) { verdict.alone = seconds_of(text); },
          [](const Verdict& verdict) { return verdict.alone > 0 ? seconds_text(verdict.alone) : std::string(); }, true},
    Field{"begun", [](Verdict& verdict, std::string_view text) { verdict.begun = times_of(text); },
          [](const Verdict& verdict) { return times_text(verdict.begun); }, true},
    Field{"day", [](Verdict& verdict, std::string_view text) { verdict.day = day_of(text); },
          [](const Verdict& verdict) { return verdict.day; }},
};

Verdict read_line(std::string_view line) {
    Verdict verdict;
    verdict.collective = &require_collective(take_until(line, " "));
    read_fields<Verdict>(verdict, fields, line);
    return verdict;
}

}  // namespace

bool Verdict::is_about(const Verdict& other) const {
    return collective == other.collective && length_class(bytes) == length_class(other.bytes) &&
           commutative == other.commutative && rounding == other.rounding && empty_parts == other.empty_parts &&
           shape == other.shape && same(choice, other.choice);
}

std::string to_string(const Verdict& verdict) {
    return std::string(verdict.collective->name) + text_of_fields<Verdict>(verdict, fields);
}

Verdicts Verdicts::parse(std::string_view text, std::vector<Complaint>& complaints) {
    Verdicts verdicts;
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = trimmed(take_until(text, "\n"));
        if (line.empty() || line.front() == '#') continue;
        try {
            if (auto proposal = read_proposal(line)) verdicts.add(*std::move(proposal));
            else verdicts.add(read_line(line));
        } catch (const Error& error) {
            complaints.push_back({number, error.what()});
        }
    }
    return verdicts;
}

const Verdict* Verdicts::find(std::string_view collective, std::uint8_t length, bool commutative, bool rounding,
                              bool empty_parts, const Shape& shape, const Choice& choice) const noexcept {
    const auto found = std::ranges::find_if(all_, [&](const Verdict& each) {
        return each.collective->name == collective && length_class(each.bytes) == length &&
               each.commutative == commutative && each.rounding == rounding && each.empty_parts == empty_parts &&
               each.shape == shape && same(each.choice, choice);
    });
    return found != all_.end() ? &*found : nullptr;
}

void Verdicts::add(Verdict verdict) {
    const auto known = std::ranges::find_if(all_, [&](const Verdict& each) { return each.is_about(verdict); });
    if (known != all_.end()) *known = std::move(verdict);
    else all_.push_back(std::move(verdict));
}

void Verdicts::add(KeptProposal proposal) {
    const auto known =
        std::ranges::find_if(proposals_, [&](const KeptProposal& each) { return each.calls == proposal.calls; });
    if (known != proposals_.end()) *known = std::move(proposal);
    else proposals_.push_back(std::move(proposal));
}

const KeptProposal* Verdicts::find(const ProposedCalls& calls) const noexcept {
    const auto found = std::ranges::find(proposals_, calls, &KeptProposal::calls);
    return found != proposals_.end() ? &*found : nullptr;
}

std::string Verdicts::text() const {
    std::string text(heading);
    for (const Verdict& each : all_) text += to_string(each) + "\n";
    for (const KeptProposal& each : proposals_) text += to_string(each) + "\n";
    return text;
}

}  // namespace rondo
