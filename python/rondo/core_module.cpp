// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: the algorithms, and the checks of what users write, for Python. No MPI. rondo::Error becomes ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/algorithms/bibliography.hpp"
#include "rondo/algorithms/registry.hpp"
#include "rondo/core/error.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/rules.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

nb::dict described(const Parameter& parameter) {
    nb::dict description;
    description["name"] = parameter.name;
    description["summary"] = parameter.summary;
    description["minimum"] = parameter.minimum;
    description["maximum"] = parameter.maximum;
    description["standard"] = parameter.standard;
    description["unit"] = parameter.unit == Unit::bytes ? "bytes" : "";
    return description;
}

nb::dict described(const AlgorithmInfo& info) {
    nb::list parameters, requirements;
    for (const Parameter& parameter : info.parameters) parameters.append(described(parameter));
    for (const Requirement& requirement : info.requirements) requirements.append(requirement.summary);
    const Reference* reference = find_reference(info.citation);

    nb::dict description;
    description["name"] = info.name;
    description["summary"] = info.summary;
    description["citation"] = info.citation;
    description["reference"] = reference == nullptr ? std::string_view() : reference->text;
    description["parameters"] = parameters;
    description["requirements"] = requirements;
    return description;
}

nb::list described_collectives() {
    nb::list descriptions;
    for (const Collective& collective : collectives()) {
        nb::dict description;
        description["name"] = collective.name;
        description["summary"] = collective.summary;
        descriptions.append(description);
    }
    return descriptions;
}

nb::list described_algorithms(std::string_view collective) {
    nb::list descriptions;
    for (const AlgorithmInfo* info : require_collective(collective).algorithms) descriptions.append(described(*info));
    return descriptions;
}

std::string checked_choice(std::string_view collective, std::string_view text) {
    return to_string(parse_choice(require_collective(collective), text));
}

std::vector<std::string_view> nearest_of(std::string_view word, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    return nearest(word, views);
}

}  // namespace
}  // namespace rondo

NB_MODULE(_core, module) {
    nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
        try {
            std::rethrow_exception(thrown);
        } catch (const rondo::Error& error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        }
    });

    module.doc() =
        "Rondo's algorithms and the checks of what users write. Every refusal is a ValueError that says why.";
    module.def("collectives", &rondo::described_collectives,
               "All collectives in alphabetical order: dictionaries with name and summary.");
    module.def(
        "algorithms", &rondo::described_algorithms, "collective"_a,
        "The algorithms of a collective: dictionaries with name, summary, citation (a key), reference (its text), "
        "requirements (one line each) and parameters (dictionaries with name, summary, minimum, maximum, "
        "standard, unit: 'bytes' or '').\n\nRaises ValueError for an unknown collective.");
    module.def("check_choice", &rondo::checked_choice, "collective"_a, "text"_a,
               "The choice, such as 'linear_pipeline:segment=4Ki', with every setting written out.\n\n"
               "Raises ValueError if there is no such algorithm, parameter or value.");
    module.def(
        "check_rules", [](std::string_view text, std::string_view name) { rondo::Rules::parse(text, name); }, "text"_a,
        "name"_a,
        "Reads the text of a rules file called `name`.\n\nRaises ValueError('<name>:<line>: what was wrong') if one is "
        "malformed.");
    module.def("nearest", &rondo::nearest_of, "word"_a, "known"_a,
               "At most three of the known names that the word may be a misspelling of, nearest first.");
    module.def("quantity_text", &rondo::quantity_text, "value"_a,
               "The shortest text that stands for a whole number: 65536 is '64Ki'.");
}
