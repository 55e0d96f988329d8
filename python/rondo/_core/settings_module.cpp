// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: what Rondo can be told in a process, and what holds in one.
#include "python/rondo/_core/settings_module.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "rondo/selection/settings.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

nb::list described_settings() {
    nb::list all;
    for (const SettingInfo& each : all_settings()) {
        nb::dict description;
        description["variable"] = each.variable;
        description["key"] = each.key;
        description["values"] = each.values;
        description["initial"] = each.initial;
        description["meaning"] = each.meaning;
        all.append(description);
    }
    return all;
}

nb::dict settings_in_force(const Settings::Environment& environment, const std::string& usual) {
    const Settings settings(environment, usual);
    nb::dict given, result;
    for (const SettingInfo& each : all_settings()) {
        if (const Given* const said = settings.find(each.variable))
            given[each.variable.c_str()] = nb::make_tuple(said->text, said->origin);
    }
    nb::list complaints;
    for (const std::string& each : settings.complaints()) complaints.append(each);
    result["path"] = settings.path();
    result["usable"] = settings.usable();
    result["given"] = given;
    result["complaints"] = complaints;
    return result;
}

std::optional<std::string> leaves_out(const Settings::Environment& environment, const std::string& usual,
                                      const std::string& program, const std::string& host) {
    return Settings(environment, usual).leaves_out(program, host);
}

}  // namespace

void bind_settings(nb::module_& module) {
    module.attr("USUAL_CONFIGURATION") = Settings::usual_path;
    module.def("settings", &described_settings,
               "All that Rondo can be told: dictionaries with variable, key (of the site's configuration; empty: the "
               "environment alone has it), values, initial, meaning.");
    module.def("settings_in_force", &settings_in_force, "environment"_a, "usual"_a,
               "What holds in a process with these variables: path (of the configuration; empty: there is none), "
               "usable (False: it could not be read, and nothing holds), given (by variable, what was said and where), "
               "complaints.\n\n`usual`: where the configuration lies if no variable says so.");
    module.def("leaves_out", &leaves_out, "environment"_a, "usual"_a, "program"_a, "host"_a,
               "Which setting leaves the calls of a program (its path) on a host to the MPI library; None: none does.");
}

}  // namespace rondo
