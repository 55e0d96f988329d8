// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/selection/settings.hpp"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>

#include "rondo/algorithms/registry.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/switch.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/text.hpp"
#include "rondo/selection/text_file.hpp"

namespace rondo {
namespace {

constexpr std::string_view beginning = "RONDO_";
constexpr const char* filters[] = {"RONDO_EXCEPT_HOSTS", "RONDO_EXCEPT_PROGRAMS", "RONDO_ONLY_HOSTS",
                                   "RONDO_ONLY_PROGRAMS"};
constexpr const char* never_programs = "conftest conftest.* cmTC_*";  // what configure and CMake try

std::vector<SettingInfo> make_settings() {
    std::vector<SettingInfo> all{
        {"RONDO", "", "off", "", "off: Rondo does nothing, as with RONDO_DISABLE=1"},
        {"RONDO_CLUSTER", "", "path", "", "directory of an emulated cluster; `rondo cluster` sets it"},
        {"RONDO_CLUSTER_NODE", "", "name", "", "node of an emulated cluster; `rondo cluster` sets it"},
        {"RONDO_CONFIG", "", "path, none", Settings::usual_path, "the site's configuration"},
        {"RONDO_DISABLE", "disable", "yes, no", "no", "leave all calls to the MPI library"},
        {"RONDO_EXCEPT_HOSTS", "except_hosts", "patterns", "", "leave calls to the library on these hosts"},
        {"RONDO_EXCEPT_PROGRAMS", "except_programs", "patterns", never_programs, "leave calls of these to the library"},
        {"RONDO_GUARD", "guard", "exact, free, off", "off", "compare with the library while the program runs"},
        {"RONDO_JOBS", "jobs", "directory, none", "", "each job leaves a file there, which `rondo jobs` reads"},
        {"RONDO_LEARNED", "learned", "directory, none", "", "where rank 0 keeps what the guard has found out"},
        {"RONDO_MACHINE", "machine", "path, standard", "measured once", "machine file: what messages cost"},
        {"RONDO_NODES", "", "4x8, 4,4,3 or domains:2x8", "", "take the ranks to be on these nodes"},
        {"RONDO_ONLY_HOSTS", "only_hosts", "patterns", "", "leave calls on all other hosts to the library"},
        {"RONDO_ONLY_PROGRAMS", "only_programs", "patterns", "", "leave calls of all other programs to the library"},
        {"RONDO_PATIENCE_POLLS", "", "number", "", "of libpatience.so, on an emulated cluster"},
        {"RONDO_PATIENCE_US", "", "microseconds", "", "of libpatience.so, on an emulated cluster"},
        {"RONDO_PLAN_MEMORY", "plan_memory", "bytes", "64Mi", "memory of all plans of a process"},
        {"RONDO_PREFIX", "", "choice", "", "how totals of prefix sums travel"},
        {"RONDO_PROFILE", "", "directory", "", "where the profiler leaves its files; `rondo profile` sets it"},
        {"RONDO_REPORT", "", "directory", "", "where ranks leave reports; `rondo run --report` sets it"},
        {"RONDO_RULES", "rules", "path, none", "", "rules that choose an algorithm for each call"},
        {"RONDO_SHARED_MEMORY", "shared_memory", "auto, on, off", "auto", "pass messages inside a node through memory"},
        {"RONDO_TRACE", "", "directory", "", "where ranks leave traces; `rondo run --trace` sets it"},
    };
    for (const Collective& each : collectives()) {
        const std::string name(each.name);
        all.push_back({variable_of(name), name, "choice", "", "what to do with every call of " + name});
    }
    return all;
}

std::vector<std::string_view> keys() {
    std::vector<std::string_view> names;
    for (const SettingInfo& each : all_settings()) {
        if (!each.key.empty()) names.emplace_back(each.key);
    }
    return names;
}

/// A complaint about a variable that does not exist; empty if no name is near: modules and build tools have names of
/// their own, as RONDO_ROOT.
std::string complaint_of_unknown(std::string_view variable) {
    constexpr std::size_t most_letters = 2;  // that one name is longer than the other
    const std::string_view ending = variable.substr(beginning.size());
    std::vector<std::string_view> endings;
    for (const SettingInfo& each : all_settings()) {
        const std::string_view known = each.variable;
        const std::size_t difference =
            std::max(known.size(), variable.size()) - std::min(known.size(), variable.size());
        if (known.size() > beginning.size() && difference <= most_letters)
            endings.push_back(known.substr(beginning.size()));
    }
    const auto near = nearest(ending, endings);
    if (near.empty()) return "";
    return std::string(variable) + " is no variable of Rondo's; did you mean RONDO_" + std::string(near[0]) + "?";
}

std::string with_home(std::string_view value, const Settings::Environment& environment) {
    const auto home = environment.find("HOME");
    if (value.substr(0, 2) != "~/" || home == environment.end()) return std::string(value);
    return home->second + std::string(value.substr(1));
}

/// True if one of the patterns is that of the name; those with a slash are of its whole path.
bool any_matches(std::string_view patterns, const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    while (!(patterns = trimmed(patterns)).empty()) {
        const std::string pattern(patterns.substr(0, patterns.find_first_of(" \t,")));
        patterns.remove_prefix(std::min(patterns.size(), std::max<std::size_t>(pattern.size(), 1)));
        const std::string& subject = pattern.find('/') == std::string::npos ? name : path;
        if (fnmatch(pattern.c_str(), subject.c_str(), 0) == 0) return true;
    }
    return false;
}

}  // namespace

std::string variable_of(std::string_view collective) {
    std::string name(beginning);
    for (const char letter : collective) name += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return name;
}

const std::vector<SettingInfo>& all_settings() {
    static const std::vector<SettingInfo> all = make_settings();
    return all;
}

Settings Settings::of_process() {
    Environment environment;
    for (char** each = environ; each != nullptr && *each != nullptr; ++each) {
        const std::string_view text = *each;
        const auto parts = cut(text, "=");
        if (parts && (parts->first == "HOME" || parts->first.substr(0, 5) == "RONDO")) environment.emplace(*parts);
    }
    return {environment, usual_path};
}

Settings::Settings(const Environment& environment, const std::string& usual) {
    read_configuration(environment, usual);
    read_variables(environment);
    lift_exceptions();
}

void Settings::read_configuration(const Environment& environment, const std::string& usual) {
    const auto named = environment.find(path_variable);
    const bool is_named = named != environment.end() && !named->second.empty();
    if (is_named && named->second == "none") return;
    const std::string path = is_named ? named->second : usual;
    if (!is_named && access(path.c_str(), F_OK) != 0) return;
    path_ = path;
    try {
        const std::string text = read_text_file(path, "the configuration");
        read_lines(text, path, [&](std::string_view line, int number) { read_line(line, number, environment); });
    } catch (const Error& error) {
        usable_ = false;
        given_.clear();
        complaints_.push_back(std::string(error.what()) + "; the native collectives are used");
    }
}

void Settings::read_line(std::string_view line, int number, const Environment& environment) {
    const auto parts = cut(line, "=");
    if (!parts) throw Error("expected a line like guard = exact");
    const std::string_view key = trimmed(parts->first), value = trimmed(parts->second);
    const auto known = std::find_if(all_settings().begin(), all_settings().end(),
                                    [&](const SettingInfo& each) { return !each.key.empty() && each.key == key; });
    if (known == all_settings().end())
        throw Error("there is no setting " + quoted(key) + "; " + suggestion(key, keys()));
    if (value.empty()) throw Error("nothing stands behind " + std::string(key) + " =");
    const std::string origin = path_ + ":" + std::to_string(number) + ": " + std::string(key);
    const bool is_new = given_.emplace(known->variable, Given{with_home(value, environment), origin}).second;
    if (!is_new) throw Error(std::string(key) + " was said before, in " + given_.at(known->variable).origin);
}

void Settings::read_variables(const Environment& environment) {
    for (const auto& [variable, text] : environment) {
        if (variable.substr(0, beginning.size()) != beginning && variable != "RONDO") continue;
        const bool is_known = std::any_of(all_settings().begin(), all_settings().end(),
                                          [&](const SettingInfo& each) { return each.variable == variable; });
        if (is_known && !text.empty()) given_[variable] = {text, variable};
        std::string complaint = is_known ? std::string() : complaint_of_unknown(variable);
        if (!complaint.empty()) complaints_.push_back(std::move(complaint));
    }
}

void Settings::lift_exceptions() {
    const Given* const disable = find("RONDO_DISABLE");
    const auto is_users = [](const std::string& variable, const Given& given) { return given.origin == variable; };
    if (disable == nullptr || !is_users("RONDO_DISABLE", *disable) || !means_no(disable->text.c_str())) return;
    for (const char* const each : filters) {
        const auto found = given_.find(each);
        if (found != given_.end() && !is_users(each, found->second)) given_.erase(found);
    }
}

const Given* Settings::find(const std::string& variable) const {
    const auto found = given_.find(variable);
    return found != given_.end() ? &found->second : nullptr;
}

const Given* Settings::find_path(const std::string& variable) const {
    const Given* const given = find(variable);
    return given != nullptr && given->text != "none" ? given : nullptr;
}

std::optional<std::string> Settings::leaves_out(const std::string& program, const std::string& host) const {
    if (!usable_) return "the configuration, which cannot be read";
    const Given *const disable = find("RONDO_DISABLE"), *const master = find("RONDO");
    if (master != nullptr && means_no(master->text.c_str())) return "RONDO = " + master->text;
    if (disable != nullptr && !means_no(disable->text.c_str())) return disable->origin + " = " + disable->text;
    const auto matches = [&](const char* variable, const std::string& subject, const char* otherwise) {
        const Given* const patterns = find(variable);
        const std::string_view text = patterns != nullptr ? std::string_view(patterns->text) : otherwise;
        return text.empty() ? std::optional<bool>() : any_matches(text, subject);
    };
    if (matches("RONDO_EXCEPT_PROGRAMS", program, never_programs).value_or(false)) return "except_programs";
    if (!matches("RONDO_ONLY_PROGRAMS", program, "").value_or(true)) return "only_programs";
    if (matches("RONDO_EXCEPT_HOSTS", host, "").value_or(false)) return "except_hosts";
    if (!matches("RONDO_ONLY_HOSTS", host, "").value_or(true)) return "only_hosts";
    return std::nullopt;
}

std::string own_program() {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

}  // namespace rondo
