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
#include "rondo/core/placement.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/nearest.hpp"
#include "rondo/selection/nodes.hpp"
#include "rondo/selection/quantity.hpp"
#include "rondo/selection/written_proof.hpp"
#include "python/rondo/_core/distribution_module.hpp"
#include "python/rondo/_core/machine_module.hpp"
#include "python/rondo/_core/plan_module.hpp"
#include "python/rondo/_core/rules_module.hpp"
#include "python/rondo/_core/settings_module.hpp"
#include "python/rondo/_core/trace_module.hpp"
#include "python/rondo/_core/verdicts_module.hpp"

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
    description["automatic"] = parameter.automatic;
    description["unit"] = parameter.unit == Unit::bytes ? "bytes" : "";
    nb::list names;
    for (const Alternative& each : parameter.alternatives) names.append(each.name);
    description["names"] = names;
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
    description["uses_nodes"] = info.uses_nodes;
    return description;
}

nb::list described_collectives() {
    nb::list descriptions;
    for (const Collective& collective : collectives()) {
        nb::dict description;
        description["name"] = collective.name;
        description["summary"] = collective.summary;
        description["has_root"] = collective.has.root;
        description["has_operation"] = collective.has.operation;
        description["has_data"] = collective.has.data;
        description["all_to_all"] = collective.has.all_to_all();
        description["local_lengths"] = collective.has.local_lengths;
        description["gathers"] = collective.has.input == Share::part;
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
    const Choice choice = parse_choice(require_collective(collective), text);
    if (is_written(choice)) prove(*choice.algorithm);
    return to_string(choice);
}

Count quantity_of(std::string_view text) {
    if (const auto value = parse_quantity(text)) return *value;
    throw Error("'" + std::string(text) + "' is not a number; " + expected_quantity(text));
}

std::vector<std::string_view> nearest_of(std::string_view word, const std::vector<std::string>& known) {
    const std::vector<std::string_view> views(known.begin(), known.end());
    return nearest(word, views);
}

}  // namespace
}  // namespace rondo

NB_MODULE(_core, module) {
    rondo::bind_distribution(module);
    rondo::bind_machine(module);
    rondo::bind_plans(module);
    rondo::bind_rules(module);
    rondo::bind_settings(module);
    rondo::bind_verdicts(module);
    rondo::bind_trace(module);
    module.attr("MOST_SHARING_RANKS") = rondo::most_sharing_ranks;
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
               "All collectives in alphabetical order: dictionaries with name, summary, has_root, has_operation, "
               "has_data, all_to_all: has each rank a vector of its own? and gathers: does every rank put in a part of "
               "the vector?");
    module.def(
        "algorithms", &rondo::described_algorithms, "collective"_a,
        "The algorithms of a collective: dictionaries with name, summary, citation (a key), reference (its text), "
        "requirements (one line each) and parameters (dictionaries with name, summary, minimum, maximum, "
        "standard, unit: 'bytes' or '', names: of the values from 0 on, or none), uses_nodes.\n\nRaises ValueError for "
        "an unknown collective.");
    module.def(
        "check_choice", &rondo::checked_choice, "collective"_a, "text"_a,
        "The choice, such as 'linear_pipeline:segment=4Ki', with every setting written out.\n\n"
        "Raises ValueError if there is no such algorithm, parameter or value, and if a schedule from a file is wrong.");
    module.def("nearest", &rondo::nearest_of, "word"_a, "known"_a,
               "At most three of the known names that the word may be a misspelling of, nearest first.");
    module.def("ranks_on_nodes", &rondo::parse_ranks_on_nodes, "text"_a,
               "The ranks on each node that a text such as '4x8' or '4,4,3' describes, or, as 'domains:2x8', in each "
               "domain of "
               "one node.\n\nRaises ValueError if it "
               "describes none.");
    module.def("quantity", &rondo::quantity_of, "text"_a,
               "The whole number that a text such as '64Ki' or '1M' stands for.\n\nRaises ValueError if it is none.");
    module.def("quantity_text", &rondo::quantity_text, "value"_a,
               "The shortest text that stands for a whole number: 65536 is '64Ki'.");
}
