// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/machine.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "rondo/core/error.hpp"
#include "rondo/core/fingerprint.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/network.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"
#include "rondo/selection/text_file.hpp"

namespace rondo {
namespace {

struct Figure {
    std::string_view key;
    double Machine::* value;
    bool required;
    std::string_view unit;
    double Machine::* otherwise = nullptr;  ///< what it is as large as, unless it is given
};

constexpr Figure figures[] = {
    {"alpha", &Machine::alpha, true, "seconds"},
    {"beta", &Machine::beta, true, "seconds per byte"},
    {"overhead", &Machine::overhead, false, "seconds"},
    {"gamma", &Machine::gamma, false, "seconds per byte"},
    {"alpha_inside", &Machine::alpha_inside, false, "seconds"},
    {"beta_inside", &Machine::beta_inside, false, "seconds per byte"},
    {"overhead_inside", &Machine::overhead_inside, false, "seconds"},
    {"alpha_across", &Machine::alpha_across, false, "seconds", &Machine::alpha_inside},
    {"beta_across", &Machine::beta_across, false, "seconds per byte", &Machine::beta_inside},
    {"overhead_across", &Machine::overhead_across, false, "seconds", &Machine::overhead_inside},
    {"first_pass", &Machine::first_pass, false, "seconds per byte"},
    {"second_pass", &Machine::second_pass, false, "seconds per byte"},
};

constexpr std::string_view lanes_key = "lanes";
constexpr std::string_view eager_key = "eager";
constexpr std::string_view rendezvous_key = "rendezvous";
constexpr std::string_view network_key = "network";
constexpr Count most_lanes = 1024;
constexpr std::string_view segment_key = "segment";
constexpr std::string_view segment_syntax =
    "'segment <collective>/<algorithm> <ranks> <bytes> = <bytes>', as in 'segment exscan/linear_pipeline 4096 4Mi = "
    "16Ki'";

std::string_view take_word(std::string_view& text) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, end);
    text = trimmed(text.substr(end));
    return word;
}

std::vector<std::string_view> known_keys() {
    std::vector<std::string_view> keys;
    for (const Figure& figure : figures) keys.push_back(figure.key);
    keys.insert(keys.end(), {lanes_key, eager_key, rendezvous_key, network_key, segment_key});
    return keys;
}

/// A line `key = text`. Throws Error.
double number_of(std::string_view key, std::string_view text, std::string_view unit) {
    const std::string what = std::string(key) + " = " + std::string(text);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        throw Error(quoted(what) + " is not a number; expected " + std::string(unit) + ", as in 2.5e-6");
    }
    if (value < 0) throw Error(quoted(what) + " is negative; expected " + std::string(unit));
    return value;
}

void require_first(std::string_view key, bool is_first) {
    if (!is_first) throw Error(quoted(key) + " is set twice; expected one line for it");
}

}  // namespace

/// Reads one line at a time. Throws Error without the place.
class MachineReader {
  public:
    void read(std::string_view line) {
        const auto sides = cut(line, "=");
        if (!sides) throw Error("no '=' in " + quoted(line) + "; expected <key> = <value>, as in 'alpha = 2e-6'");
        std::string_view rest = trimmed(sides->first);
        const std::string_view key = take_word(rest), value = trimmed(sides->second);
        if (key == segment_key) return read_segment(rest, value);
        if (key == lanes_key && rest.empty()) return read_lanes(value);
        if (key == eager_key && rest.empty()) return read_eager(value);
        if (key == rendezvous_key && rest.empty()) return read_rendezvous(value);
        if (key == network_key && rest.empty()) return read_network(value);
        for (std::size_t i = 0; i < std::size(figures); ++i) {
            if (figures[i].key == key && rest.empty()) return read_figure(i, value);
        }
        throw Error("unknown key " + quoted(trimmed(sides->first)) + "; " + suggestion(key, known_keys()));
    }

    /// Behind the last line.
    void finish() {
        for (std::size_t i = 0; i < std::size(figures); ++i) {
            if (seen_[i]) continue;
            if (figures[i].otherwise != nullptr) machine_.*figures[i].value = machine_.*figures[i].otherwise;
            if (!figures[i].required) continue;
            throw Error(std::string(figures[i].key) + " is missing; expected a line '" + std::string(figures[i].key) +
                        " = <" + std::string(figures[i].unit) + ">'");
        }
    }

    [[nodiscard]] const Machine& machine() const { return machine_; }

  private:
    void read_figure(std::size_t index, std::string_view text) {
        const Figure& figure = figures[index];
        const double value = number_of(figure.key, text, figure.unit);
        require_first(figure.key, !seen_[index]);
        seen_[index] = true;
        machine_.*figure.value = value;
    }

    void read_lanes(std::string_view text) {
        const auto lanes = parse_quantity(text);
        if (!lanes || *lanes < 1 || *lanes > most_lanes) {
            throw Error(quoted("lanes = " + std::string(text)) + ": expected 1 to " + std::to_string(most_lanes) +
                        ", the links of a node");
        }
        require_first(lanes_key, !has_lanes_);
        has_lanes_ = true;
        machine_.lanes = *lanes;
    }

    void read_eager(std::string_view text) {
        const auto bytes = parse_quantity(text);
        if (!bytes) {
            throw Error(quoted("eager = " + std::string(text)) + " is not a number; expected bytes, as in 16Ki");
        }
        require_first(eager_key, !machine_.eager);
        machine_.eager = bytes;
    }

    void read_rendezvous(std::string_view text) {
        const double seconds = number_of(rendezvous_key, text, "seconds");
        require_first(rendezvous_key, !machine_.rendezvous);
        machine_.rendezvous = seconds;
    }

    void read_network(std::string_view text) {
        require_first(network_key, machine_.network.empty());
        (void)parse_network(text);
        machine_.network = text;
    }

    void read_segment(std::string_view call, std::string_view value) {
        const auto names = cut(take_word(call), "/");
        const auto processes = parse_quantity(take_word(call)), bytes = parse_quantity(take_word(call));
        const auto segment = parse_quantity(value);
        if (!names || !processes || !bytes || !segment || !call.empty()) {
            throw Error("cannot read the segment; expected " + std::string(segment_syntax));
        }
        if (*processes < 1 || *segment < 1 || *segment > *bytes) {
            throw Error("segment = " + std::string(value) + " for " + quantity_text(*bytes) + " bytes on " +
                        quantity_text(*processes) + " ranks; expected at least one rank, and 1 to " +
                        quantity_text(*bytes) + " bytes");
        }
        const Collective& collective = require_collective(names->first);
        const Choice choice = parse_choice(collective, names->second);
        if (choice.algorithm == nullptr || choice.algorithm->parameter(segment_key) == nullptr) {
            throw Error(std::string(collective.name) + "/" + std::string(names->second) +
                        " has no segments; expected a pipelined algorithm");
        }
        machine_.segments_.push_back({choice.algorithm, *processes, *bytes, *segment});
    }

    Machine machine_;
    std::array<bool, std::size(figures)> seen_{};
    bool has_lanes_ = false;
};

Machine Machine::parse(std::string_view text, std::string_view name) {
    MachineReader reader;
    read_lines(text, name, [&](std::string_view line, int /*number*/) { reader.read(line); }, [&] { reader.finish(); });
    return reader.machine();
}

Machine Machine::read(const std::string& path) {
    return path == standard ? Machine() : parse(read_text_file(path, "the machine's figures"), path);
}

std::optional<Count> Machine::segment(const AlgorithmInfo& algorithm, Rank processes, Count bytes) const {
    const auto fits = [](Count known, Count asked) { return known <= asked && asked / 2 < known; };
    for (const KnownSegment& known : segments_) {
        const bool same = known.algorithm == &algorithm;
        if (same && fits(known.processes, processes) && fits(known.bytes, bytes)) return known.segment;
    }
    return std::nullopt;
}

virtual_machine::CostModel Machine::costs(const Placement* placement) const {
    const virtual_machine::LinkCosts inside{alpha_inside, beta_inside, overhead_inside};
    if (placement != nullptr && placement->is_of_domains()) {
        return {.alpha = alpha_across,
                .beta = beta_across,
                .gamma = gamma,
                .overhead = overhead_across,
                .inside = inside,
                .own_wires = true};
    }
    return {.alpha = alpha,
            .beta = beta,
            .gamma = gamma,
            .overhead = overhead,
            .inside = inside,
            .lanes = static_cast<int>(lanes),
            .eager = eager.value_or(virtual_machine::no_eager_limit),
            .rendezvous = rendezvous.value_or(2 * alpha)};
}

std::uint64_t Machine::fingerprint() const {
    Fingerprint print;
    for (const Figure& figure : figures) {
        const bool is_as_another = figure.otherwise != nullptr && this->*figure.value == this->*figure.otherwise;
        if (!is_as_another) print.add(this->*figure.value);
    }
    print.add(lanes);
    print.add(eager.value_or(-1));
    print.add(rendezvous.value_or(-1));
    for (const KnownSegment& known : segments_) {
        print.add(known.algorithm->collective);
        print.add(known.algorithm->name);
        for (const Count count : {known.processes, known.bytes, known.segment}) print.add(count);
    }
    return print.value();
}

}  // namespace rondo
