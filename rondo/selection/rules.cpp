// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/rules.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "rondo/core/error.hpp"
#include "rondo/core/fingerprint.hpp"
#include "rondo/selection/conditions.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"
#include "rondo/selection/text_file.hpp"

namespace rondo {
namespace {

constexpr std::string_view signs[] = {"<", "<=", ">", ">=", "=", "in"};

constexpr std::string_view rule_syntax =
    "<collective> [<condition>, ...] -> <choice>, as in 'exscan bytes < 64Ki -> native'";

constexpr Count unbounded = std::numeric_limits<Count>::max();

Count require_quantity(std::string_view text, std::string_view condition) {
    if (const auto value = parse_quantity(text)) return *value;
    throw Error(quoted(text) + " in " + quoted(condition) + " is not a number; " + expected_quantity(text));
}

}  // namespace

/// Reads one line at a time. Throws Error without the place.
class RuleReader {
  public:
    static Rules::Rule read(std::string_view line) {
        const auto sides = cut(line, "->");
        if (!sides) throw Error("no '->' in " + quoted(line) + "; expected " + std::string(rule_syntax));
        std::string_view conditions = trimmed(sides->first);
        const std::string_view choice = trimmed(sides->second);
        if (conditions.empty()) throw Error("no collective before '->'; expected " + std::string(rule_syntax));
        if (choice.empty()) throw Error("no choice after '->'; expected " + std::string(rule_syntax));

        const Collective& collective = require_collective(take_run(conditions, " \t", false));
        Rules::Rule rule = {.collective = collective.name, .bounds = anything, .choice = {}};
        for (bool more = !conditions.empty(); more;) {
            more = conditions.find(',') != std::string_view::npos;
            apply(trimmed(take_until(conditions, ",")), rule);
            if (collective.has.local_lengths &&
                (rule.bounds[bytes].lowest > whole.lowest || rule.bounds[bytes].highest < whole.highest)) {
                throw Error("a condition on the bytes of " + std::string(collective.name) +
                            ", of which ranks know only their own; expected other conditions");
            }
        }
        rule.choice = parse_choice(collective, choice);
        return rule;
    }

  private:
    using Bounds = Rules::Bounds;
    using enum Rules::Fact;
    using AllBounds = std::array<Bounds, facts>;
    static constexpr Rules::Fact ranks_per_node = fewest_on_node;

    static constexpr Bounds whole = {0, unbounded};
    static constexpr AllBounds anything = {whole, whole, whole, whole, whole, whole, whole, whole, whole, whole, whole};

    /// Takes characters that are (not) of the kind off the front, and the blanks behind them.
    static std::string_view take_run(std::string_view& text, std::string_view kind, bool of_kind = true) {
        const std::size_t end = of_kind ? text.find_first_not_of(kind) : text.find_first_of(kind);
        const std::string_view run = text.substr(0, end);
        text = trimmed(text.substr(run.size()));
        return run;
    }

    static void apply(std::string_view condition, Rules::Rule& rule) {
        if (condition.empty()) throw Error("a condition is missing beside ','; expected " + std::string(rule_syntax));
        std::string_view rest = condition;
        const std::string_view name = take_run(rest, " \t<>=!", false);
        const auto* found = std::find(std::begin(fact_names), std::end(fact_names), name);
        if (found == std::end(fact_names)) {
            throw Error("unknown condition " + quoted(name.empty() ? condition : name) + "; " +
                        suggestion(name, fact_names));
        }
        const auto fact = static_cast<std::size_t>(found - std::begin(fact_names));
        const bool is_question = fact == commutative || fact == shared_memory || fact == oversubscribed;
        const Bounds asked = is_question       ? answer(condition, name, rest)
                             : fact == library ? named_library(condition, rest)
                                               : interval(condition, rest);

        Bounds& of_lowest = rule.bounds[fact];
        Bounds& of_highest = rule.bounds[fact == ranks_per_node ? most_on_node : fact];
        of_lowest.lowest = std::max({of_lowest.lowest, asked.lowest, askable[fact].lowest});
        of_highest.highest = std::min({of_highest.highest, asked.highest, askable[fact].highest});
        if (of_lowest.lowest > of_highest.highest) {
            throw Error("no call can meet " + quoted(condition) + " here; expected conditions on " + std::string(name) +
                        " that some call meets");
        }
    }

    static Bounds answer(std::string_view condition, std::string_view name, std::string_view rest) {
        const bool equal = take_run(rest, "=") == "=";
        if (equal && rest == "yes") return {1, 1};
        if (equal && rest == "no") return {0, 0};
        const std::string question(name);
        throw Error(quoted(condition) + " is no condition; expected '" + question + " = yes' or '" + question +
                    " = no'");
    }

    static Bounds named_library(std::string_view condition, std::string_view rest) {
        if (take_run(rest, "=") != "=") {
            throw Error(quoted(condition) + " is no condition; expected 'library = mpich', or another library");
        }
        const auto number = static_cast<Count>(require_library(rest));
        return {number, number};
    }

    static Bounds interval(std::string_view condition, std::string_view rest) {
        const bool word = rest.empty() || std::string_view("<>=!").find(rest.front()) == std::string_view::npos;
        const std::string_view sign = word ? take_run(rest, " \t", false) : take_run(rest, "<>=!");
        if (std::find(std::begin(signs), std::end(signs), sign) == std::end(signs)) {
            throw Error((sign.empty() ? "no comparison in " : quoted(sign) + " compares nothing in ") +
                        quoted(condition) + "; " + suggestion("", signs));
        }
        if (sign == "in") return between(condition, rest);
        const Count value = require_quantity(rest, condition);
        if (sign == "<") return {0, value - 1};
        if (sign == "<=") return {0, value};
        if (sign == ">=") return {value, unbounded};
        if (sign == "=") return {value, value};
        return value == unbounded ? Bounds{unbounded, 0} : Bounds{value + 1, unbounded};
    }

    static Bounds between(std::string_view condition, std::string_view range) {
        const auto ends = cut(range, "..");
        if (!ends) {
            throw Error(quoted(range) + " in " + quoted(condition) +
                        " is no range; expected <lowest>..<highest>, as in 'bytes in 1Ki..64Ki'");
        }
        return {require_quantity(trimmed(ends->first), condition), require_quantity(trimmed(ends->second), condition)};
    }
};

std::string plain_version(std::string_view text) {
    std::string plain;
    for (const char letter : text.substr(0, text.find_first_of("\n,"))) {
        const bool is_blank = letter == ' ' || letter == '\t' || letter == ':';
        if (!is_blank) plain += letter;
        else if (!plain.empty() && plain.back() != ' ') plain += ' ';
    }
    if (plain.ends_with(' ')) plain.pop_back();
    return plain;
}

MpiLibrary library_of(std::string_view version) {
    if (version.starts_with("MPICH")) return MpiLibrary::mpich;
    if (version.starts_with("Open MPI")) return MpiLibrary::openmpi;
    if (version.starts_with("Intel(R) MPI")) return MpiLibrary::impi;
    return MpiLibrary::other;
}

MpiLibrary require_library(std::string_view name) {
    const auto* found = std::find(std::begin(library_names), std::end(library_names), name);
    if (found == std::end(library_names)) {
        throw Error("unknown library " + quoted(name) + "; " + suggestion(name, library_names));
    }
    return static_cast<MpiLibrary>(found - std::begin(library_names) + 1);
}

Rules Rules::parse(std::string_view text, std::string_view name) {
    std::vector<Rule> rules;
    read_lines(text, name, [&](std::string_view line, int number) {
        rules.push_back(RuleReader::read(line));
        rules.back().line = number;
    });
    return grouped(std::move(rules));
}

Rules Rules::parse_what_is_right(std::string_view text, std::vector<Complaint>& complaints) {
    std::vector<Rule> rules;
    read_lines(text, "", [&](std::string_view line, int number) {
        try {
            rules.push_back(RuleReader::read(line));
            rules.back().line = number;
        } catch (const Error& error) {
            complaints.push_back({number, error.what()});
        }
    });
    return grouped(std::move(rules));
}

Rules Rules::grouped(std::vector<Rule> rules) {
    Rules result;
    std::ranges::stable_sort(rules, {}, &Rule::collective);
    for (std::size_t first = 0, last = 0; first < rules.size(); first = last) {
        const std::string_view collective = rules[first].collective;
        while (last < rules.size() && rules[last].collective == collective) ++last;
        result.groups_.push_back({collective, first, last - first});
    }
    result.rules_ = std::move(rules);
    return result;
}

std::span<const Rules::Rule> Rules::rules_of(std::string_view collective) const noexcept {
    for (const Group& group : groups_) {
        if (group.collective == collective) return std::span(rules_).subspan(group.first, group.size);
    }
    return {};
}

Rules Rules::read(const std::string& path) { return parse(read_text_file(path, "the rules"), path); }

/// How many of the calls that are possible a rule asks for.
struct Rules::Fit {
    enum class Share : std::uint8_t { none, some, all };
    Share share = Share::all;
    Fact unmet = facts;  ///< if none: the first fact of which it asks for others
};

Rules::Values Rules::values_of(const Situation& situation, const Spread& spread) noexcept {
    const auto certain = [](Count value) { return Interval{value, value}; };
    const auto range = [](const Spread::Range& ranks) { return Interval{ranks.least, ranks.most}; };
    Values values;
    values[bytes] = certain(situation.bytes);
    values[processes] = certain(situation.processes);
    values[commutative] = certain(situation.commutative ? 1 : 0);
    values[library] = certain(static_cast<Count>(situation.library));
    values[eager] = certain(situation.eager);
    values[nodes] = range(spread.nodes);
    values[shared_memory] = certain(situation.shared_memory ? 1 : 0);
    values[oversubscribed] = certain(situation.oversubscribed ? 1 : 0);
    values[domains] = range(spread.domains);
    values[fewest_on_node] = range(spread.fewest_on_node);
    values[most_on_node] = range(spread.most_on_node);
    return values;
}

Rules::Fit Rules::fit_of(const Rule& rule, const Values& possible) noexcept {
    // Bytes come last: where they are unmet, a call of another length might be matched.
    constexpr Fact order[] = {processes,   nodes,         fewest_on_node, most_on_node, domains, library,
                              commutative, shared_memory, oversubscribed, eager,        bytes};
    static_assert(std::size(order) == facts);
    Fit fit;
    for (const Fact fact : order) {
        const Bounds& asked = rule.bounds[fact];
        const Interval& values = possible[fact];
        if (values.highest < asked.lowest || asked.highest < values.lowest) return {Fit::Share::none, fact};
        if (values.lowest < asked.lowest || asked.highest < values.highest) fit.share = Fit::Share::some;
    }
    return fit;
}

/// The one loop that decides: the first rule that matches; nullopt if that depends on what is not certain. Of each rule
/// before that, `pass_over(rule, unmet fact)` is told.
template <class PassOver>
std::optional<const Rules::Rule*> Rules::search(const Situation& situation, const Values& possible, Interval& lengths,
                                                PassOver&& pass_over) const {
    lengths = {};
    for (const Rule& rule : rules_of(situation.collective)) {
        const Fit fit = fit_of(rule, possible);
        const Bounds& asked = rule.bounds[bytes];
        if (fit.share == Fit::Share::some) return std::nullopt;
        if (fit.share == Fit::Share::all) {
            lengths = {std::max(lengths.lowest, asked.lowest), std::min(lengths.highest, asked.highest)};
            return &rule;
        }
        if (fit.unmet == bytes && situation.bytes < asked.lowest) {
            lengths.highest = std::min(lengths.highest, asked.lowest - 1);
        } else if (fit.unmet == bytes) {
            lengths.lowest = std::max(lengths.lowest, asked.highest + 1);
        }
        pass_over(rule, fit.unmet);
    }
    return nullptr;
}

std::optional<const Rules::Rule*> Rules::deciding(const Situation& situation, const Spread& spread,
                                                  Interval& lengths) const noexcept {
    return search(situation, values_of(situation, spread), lengths, [](const Rule&, Fact) {});
}

std::optional<const Choice*> Rules::match(const Situation& situation, const Spread& spread,
                                          Interval& lengths) const noexcept {
    const auto rule = deciding(situation, spread, lengths);
    if (!rule) return std::nullopt;
    return *rule == nullptr ? nullptr : &(*rule)->choice;
}

Rules::Explanation Rules::explain(const Situation& situation, const Spread& spread) const {
    const Values values = values_of(situation, spread);
    Explanation explanation;
    Interval lengths;
    const auto rule = search(situation, values, lengths, [&](const Rule& passed, Fact unmet) {
        const bool on_nodes = unmet == fewest_on_node || unmet == most_on_node;
        const Fact first = on_nodes ? fewest_on_node : unmet, last = on_nodes ? most_on_node : unmet;
        const Interval asked = {passed.bounds[first].lowest, passed.bounds[last].highest};
        const Interval found = {values[first].lowest, values[last].highest};
        explanation.passed_over.push_back(
            {passed.line, &passed.choice, condition_text(first, asked), value_text(first, found)});
    });
    if (!rule) throw Error("an explanation needs to know on how many nodes the ranks are");
    if (*rule != nullptr) {
        explanation.line = (*rule)->line;
        explanation.choice = &(*rule)->choice;
    }
    return explanation;
}

const Choice* Rules::match(const Situation& situation) const noexcept {
    const Spread::Range each = {situation.ranks_per_node, situation.ranks_per_node};
    const Spread::Range all = {situation.nodes, situation.nodes};
    Interval lengths;
    const Spread spread = {
        .nodes = all, .fewest_on_node = each, .most_on_node = each, .domains = {situation.domains, situation.domains}};
    return match(situation, spread, lengths).value_or(nullptr);
}

int Rules::line_of(const Choice* choice) const noexcept {
    const auto found = std::ranges::find_if(rules_, [&](const Rule& rule) { return &rule.choice == choice; });
    return found != rules_.end() ? found->line : 0;
}

std::vector<const Choice*> Rules::choices(std::string_view collective) const {
    std::vector<const Choice*> found;
    for (const Rule& rule : rules_of(collective)) {
        if (rule.choice.algorithm != nullptr) found.push_back(&rule.choice);
    }
    return found;
}

bool Rules::ask_nodes() const noexcept {
    return std::any_of(rules_.begin(), rules_.end(), [](const Rule& rule) {
        return rule.bounds[fewest_on_node].lowest > 0 || rule.bounds[nodes].lowest > 0 ||
               rule.bounds[domains].lowest > 0 || rule.choice.uses_nodes();
    });
}

bool Rules::ask_processors() const noexcept {
    return std::ranges::any_of(rules_, [](const Rule& rule) {
        return rule.bounds[oversubscribed].lowest == rule.bounds[oversubscribed].highest;
    });
}

std::uint64_t Rules::fingerprint() const {
    Fingerprint print;
    for (const Rule& rule : rules_) {
        print.add(rule.collective);
        for (const Bounds& bounds : rule.bounds) {
            print.add(bounds.lowest);
            print.add(bounds.highest);
        }
        add_to(print, rule.choice);
    }
    return print.value();
}

}  // namespace rondo
