// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/choice.hpp"

#include <algorithm>
#include <string>

#include "rondo/core/error.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/text.hpp"
#include "rondo/selection/written_file.hpp"
#include "rondo/written/written_schedule.hpp"

namespace rondo {
namespace {

const AlgorithmInfo& require_algorithm(const Collective& collective, std::string_view name) {
    if (const AlgorithmInfo* info = collective.algorithm(name)) return *info;
    std::vector<std::string_view> known;
    for (const AlgorithmInfo* info : collective.algorithms) known.push_back(info->name);
    known.push_back(native);
    known.push_back(by_the_model);
    if (name.empty())
        throw Error("no algorithm named for " + std::string(collective.name) + "; " + suggestion("", known));
    throw Error(std::string(collective.name) + " has no algorithm " + quoted(name) + "; " + suggestion(name, known));
}

const Parameter& require_parameter(const AlgorithmInfo& info, std::string_view name) {
    if (const Parameter* parameter = info.parameter(name)) return *parameter;
    if (info.parameters.empty()) {
        throw Error(std::string(info.name) + " has no parameters, but " + quoted(name) + " was set; leave it out");
    }
    std::vector<std::string_view> known;
    for (const Parameter& parameter : info.parameters) known.push_back(parameter.name);
    throw Error(std::string(info.name) + " has no parameter " + quoted(name) + "; " + suggestion(name, known));
}

std::vector<std::string_view> names_of(std::span<const Alternative> alternatives) {
    std::vector<std::string_view> names;
    for (const Alternative& each : alternatives) names.push_back(each.name);
    return names;
}

Count named_value(const Parameter& parameter, std::string_view text) {
    const std::vector<std::string_view> names = names_of(parameter.alternatives);
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end()) return found - names.begin();
    throw Error(std::string(parameter.name) + "=" + std::string(text) + " names no algorithm that can serve there; " +
                suggestion(text, names));
}

std::string range_text(const Parameter& parameter) {
    return quantity_text(parameter.minimum) + " to " + quantity_text(parameter.maximum) +
           (parameter.unit == Unit::bytes ? " bytes" : "") +
           (parameter.automatic ? ", or " + std::string(automatic_text) : "");
}

Count value_of(const Parameter& parameter, std::string_view text) {
    if (!parameter.alternatives.empty()) return named_value(parameter, text);
    if (parameter.automatic && text == automatic_text) return automatic;
    const auto value = parse_quantity(text);
    const std::string what = std::string(parameter.name) + "=" + std::string(text);
    if (!value) {
        throw Error(what + " is not a number; " + expected_quantity(text) + " (" + range_text(parameter) + ")");
    }
    if (*value < parameter.minimum || *value > parameter.maximum) {
        throw Error(what + " is out of range; expected " + range_text(parameter));
    }
    return *value;
}

std::string value_text(const AlgorithmInfo& info, const Setting& setting) {
    const Parameter& parameter = *info.parameter(setting.name);
    if (!parameter.alternatives.empty()) {
        return std::string(parameter.alternatives[static_cast<std::size_t>(setting.value)].name);
    }
    const bool is_open = parameter.automatic && setting.value == automatic;
    return is_open ? std::string(automatic_text) : quantity_text(setting.value);
}

/// Reads "name=value,name=value" over the settings of a user who sets nothing.
void apply(std::string_view list, const AlgorithmInfo& info, std::vector<Setting>& settings) {
    std::vector<std::string_view> seen;
    for (bool more = true; more;) {
        more = list.find(',') != std::string_view::npos;
        const std::string_view item = trimmed(take_until(list, ","));
        const auto assignment = cut(item, "=");
        if (!assignment) {
            throw Error(quoted(item) + " sets no parameter of " + std::string(info.name) +
                        "; expected <parameter>=<value>, as in " + quoted("linear_pipeline:segment=64Ki"));
        }
        const Parameter& parameter = require_parameter(info, trimmed(assignment->first));
        if (std::find(seen.begin(), seen.end(), parameter.name) != seen.end()) {
            throw Error(quoted(parameter.name) + " is set twice; expected each parameter at most once");
        }
        seen.push_back(parameter.name);
        const auto position = static_cast<std::size_t>(&parameter - info.parameters.data());
        settings[position].value = value_of(parameter, trimmed(assignment->second));
    }
}

}  // namespace

Choice parse_choice(const Collective& collective, std::string_view text) {
    if (trimmed(text).starts_with(of_a_file)) {
        const AlgorithmInfo& info = written_algorithm(trimmed(text).substr(of_a_file.size()));
        if (info.collective == collective.name) return {&info, info.open_settings()};
        throw Error(std::string(info.name) + " is for " + std::string(info.collective) + ", not for " +
                    std::string(collective.name));
    }
    const auto with_settings = cut(text, ":");
    const std::string_view name = trimmed(with_settings ? with_settings->first : text);
    if (name == native) {
        if (with_settings) throw Error("'native' is the MPI library's own collective and takes no parameters");
        return {};
    }
    if (name == by_the_model) {
        if (with_settings) throw Error("'predicted' is whatever the model proposes and takes no parameters");
        if (collective.has.local_lengths) {
            throw Error("'predicted' needs to know how long the vectors are, and of " + std::string(collective.name) +
                        " no rank knows that of all; name an algorithm");
        }
        return {.is_predicted = true};
    }
    const AlgorithmInfo& info = require_algorithm(collective, name);
    Choice choice{&info, info.open_settings()};
    if (with_settings) apply(with_settings->second, info, choice.settings);
    return choice;
}

std::string to_string(const Choice& choice) {
    if (choice.algorithm == nullptr) return std::string(choice.is_predicted ? by_the_model : native);
    std::string text(choice.algorithm->name);
    if (is_written(choice)) return text;  // the file has all settings
    const char* separator = ":";
    for (const Setting& setting : choice.settings) {
        text += separator + std::string(setting.name) + "=" + value_text(*choice.algorithm, setting);
        separator = ",";
    }
    return text;
}

void add_to(Fingerprint& print, const Choice& choice) {
    print.add(to_string(choice));
    for (const Setting& setting : choice.settings) print.add(setting.value);
}

bool is_written(const Choice& choice) {
    return choice.algorithm != nullptr && written::schedule_of_written(*choice.algorithm) != nullptr;
}

const Collective& require_collective(std::string_view name) {
    if (const Collective* collective = find_collective(name)) return *collective;
    std::vector<std::string_view> known;
    for (const Collective& collective : collectives()) known.push_back(collective.name);
    // People write the name of the function: MPI_Exscan.
    const std::string_view bare = name.starts_with("MPI_") || name.starts_with("mpi_") ? name.substr(4) : name;
    throw Error("Rondo has no collective " + quoted(name) + "; " + suggestion(bare, known));
}

}  // namespace rondo
