// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/verdicts.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"

namespace rondo {
namespace {

constexpr std::string_view heading =
    "# Who was faster in the trials of earlier runs, Rondo's choice or the library; `rondo learned` shows it.\n"
    "# rondo, library: seconds of an undisturbed one of so many calls of each; 0 of both: they could not be compared, "
    "and\n"
    "# the library has such calls. begun: no verdict yet, after calls of both that took so long. Lines may be "
    "removed.\n";

bool same(const Choice& a, const Choice& b) noexcept {
    return a.algorithm == b.algorithm &&
           std::ranges::equal(a.settings, b.settings, [](const Setting& x, const Setting& y) {
               return x.name == y.name && x.value == y.value;
           });
}

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

std::string_view truth_text(bool value) { return value ? "yes" : "no"; }

struct Field {
    std::string_view name;
    void (*read)(Verdict&, std::string_view);
    std::string (*text)(const Verdict&);
    bool may_lack = false;  ///< lines that were written earlier do, and those in which it would say nothing
};

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
          [](const Verdict& verdict) { return std::string(truth_text(verdict.commutative)); }},
    Field{"rounding", [](Verdict& verdict, std::string_view text) { verdict.rounding = truth_of(text); },
          [](const Verdict& verdict) { return std::string(truth_text(verdict.rounding)); }},
    shape_field<&Shape::processes>("processes"),
    shape_field<&Shape::nodes>("nodes"),
    shape_field<&Shape::fewest_on_node>("fewest_on_node"),
    shape_field<&Shape::most_on_node>("most_on_node"),
    Field{"in_rank_order",
          [](Verdict& verdict, std::string_view text) { verdict.shape.in_rank_order = truth_of(text); },
          [](const Verdict& verdict) { return std::string(truth_text(verdict.shape.in_rank_order)); }},
    Field{"shared_memory",
          [](Verdict& verdict, std::string_view text) { verdict.shape.shared_memory = truth_of(text); },
          [](const Verdict& verdict) { return std::string(truth_text(verdict.shape.shared_memory)); }, true},
    Field{"choice",
          [](Verdict& verdict, std::string_view text) { verdict.choice = parse_choice(*verdict.collective, text); },
          [](const Verdict& verdict) { return to_string(verdict.choice); }},
    Field{"rondo", [](Verdict& verdict, std::string_view text) { verdict.rondo = seconds_of(text); },
          [](const Verdict& verdict) { return seconds_text(verdict.rondo); }},
    Field{"library", [](Verdict& verdict, std::string_view text) { verdict.library = seconds_of(text); },
          [](const Verdict& verdict) { return seconds_text(verdict.library); }},
    Field{"calls", [](Verdict& verdict, std::string_view text) { verdict.calls = static_cast<int>(ranks_of(text)); },
          [](const Verdict& verdict) { return std::to_string(verdict.calls); }, true},
    Field{"begun", [](Verdict& verdict, std::string_view text) { verdict.begun = times_of(text); },
          [](const Verdict& verdict) { return times_text(verdict.begun); }, true},
    Field{"day", [](Verdict& verdict, std::string_view text) { verdict.day = day_of(text); },
          [](const Verdict& verdict) { return verdict.day; }},
};

Verdict read_line(std::string_view line) {
    Verdict verdict;
    verdict.collective = &require_collective(take_until(line, " "));
    std::string_view word = take_until(line, " ");
    for (const Field& field : fields) {
        const auto pieces = cut(word, "=");
        if (!pieces || pieces->first != field.name) {
            if (field.may_lack) continue;
            throw Error(std::string(field.name) + "= is expected, not " + quoted(word));
        }
        field.read(verdict, pieces->second);
        if (field.name != fields.back().name) word = take_until(line, " ");
    }
    if (!line.empty()) throw Error("nothing is expected behind the day, not " + quoted(line));
    return verdict;
}

}  // namespace

bool Verdict::is_about(const Verdict& other) const {
    return collective == other.collective && length_class(bytes) == length_class(other.bytes) &&
           commutative == other.commutative && rounding == other.rounding && shape == other.shape &&
           same(choice, other.choice);
}

std::string to_string(const Verdict& verdict) {
    std::string line(verdict.collective->name);
    for (const Field& field : fields) {
        const std::string text = field.text(verdict);
        if (!text.empty()) line += " " + std::string(field.name) + "=" + text;
    }
    return line;
}

Verdicts Verdicts::parse(std::string_view text, std::vector<Complaint>& complaints) {
    Verdicts verdicts;
    for (int number = 1; !text.empty(); ++number) {
        const std::string_view line = trimmed(take_until(text, "\n"));
        if (line.empty() || line.front() == '#') continue;
        try {
            verdicts.add(read_line(line));
        } catch (const Error& error) {
            complaints.push_back({number, error.what()});
        }
    }
    return verdicts;
}

const Verdict* Verdicts::find(std::string_view collective, std::uint8_t length, bool commutative, bool rounding,
                              const Shape& shape, const Choice& choice) const noexcept {
    const auto found = std::ranges::find_if(all_, [&](const Verdict& each) {
        return each.collective->name == collective && length_class(each.bytes) == length &&
               each.commutative == commutative && each.rounding == rounding && each.shape == shape &&
               same(each.choice, choice);
    });
    return found != all_.end() ? &*found : nullptr;
}

void Verdicts::add(Verdict verdict) {
    const auto known = std::ranges::find_if(all_, [&](const Verdict& each) { return each.is_about(verdict); });
    if (known != all_.end()) *known = std::move(verdict);
    else all_.push_back(std::move(verdict));
}

std::string Verdicts::text() const {
    std::string text(heading);
    for (const Verdict& each : all_) text += to_string(each) + "\n";
    return text;
}

}  // namespace rondo
