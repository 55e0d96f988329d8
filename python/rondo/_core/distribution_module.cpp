// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: how a distributed array should lie so that its prefix sum ends earliest.
#include "python/rondo/_core/distribution_module.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/algorithms/registry.hpp"
#include "rondo/backends/virtual/segment_choice.hpp"
#include "rondo/core/error.hpp"
#include "rondo/distribution/distribution.hpp"
#include "rondo/selection/choice.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/nodes.hpp"
#include "python/rondo/_core/described_call.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

/// The prefix sums of arrays on so many ranks, by an exclusive scan of single elements.
class Subject {
  public:
    Subject(std::string_view algorithm, Count processes, Count element_bytes, std::string_view machine,
            std::string_view nodes, const Passes& passes)
        : collective_(require_collective("exscan")), choice_(parse_choice(collective_, algorithm)),
          costs_(Machine::parse(machine, "machine").costs()) {
        if (choice_.algorithm == nullptr) {
            throw Error("what the MPI library's own exscan does is not known; choose one of Rondo's algorithms");
        }
        SharedFacts facts = checked_facts(collective_, processes, 1, element_bytes, 0, true);
        if (!nodes.empty()) facts.placement = &placement_.emplace(parse_nodes(nodes, facts.size));
        const auto settings = virtual_machine::closed_settings(*choice_.algorithm, facts, choice_.settings, costs_);
        sum_ = std::make_unique<PrefixSum>(*choice_.algorithm, facts, settings, costs_, passes);
    }

    [[nodiscard]] PrefixSum& sum() { return *sum_; }

  private:
    const Collective& collective_;
    Choice choice_;
    virtual_machine::CostModel costs_;
    std::optional<Placement> placement_;
    std::unique_ptr<PrefixSum> sum_;
};

nb::list prefix_times(std::string_view algorithm, const std::vector<Count>& counts, double first_pass,
                      double second_pass, std::string_view machine, Count element_bytes, std::string_view nodes) {
    Subject subject(algorithm, static_cast<Count>(counts.size()), element_bytes, machine, nodes,
                    {first_pass, second_pass});
    nb::list found;
    for (const PrefixTimes& each : subject.sum().times(counts)) {
        found.append(nb::make_tuple(each.ready, each.prefix, each.end, each.due_to));
    }
    return found;
}

nb::dict best_counts(std::string_view algorithm, Count elements, Count processes, double first_pass, double second_pass,
                     std::string_view machine, Count element_bytes, std::string_view nodes) {
    Subject subject(algorithm, processes, element_bytes, machine, nodes, {first_pass, second_pass});
    const PrefixSum::Best best = [&] {
        const nb::gil_scoped_release released;
        return subject.sum().best(elements);
    }();
    nb::dict description;
    description["counts"] = best.counts;
    description["seconds"] = best.seconds;
    description["bound"] = best.bound;
    return description;
}

Rank ranks_of(Count processes) { return checked_facts(require_collective("exscan"), processes, 1, 1, 0, true).size; }

}  // namespace

void bind_distribution(nb::module_& module) {
    module.def(
        "even", [](Count elements, Count processes) { return even(elements, ranks_of(processes)); }, "elements"_a,
        "processes"_a, "Counts of each rank: as many on each, but for one.");
    module.def(
        "ladder",
        [](Count elements, Count processes, double step) { return ladder(elements, ranks_of(processes), step); },
        "elements"_a, "processes"_a, "step"_a,
        "Counts of each rank: so many more on each than on the one before. Ranks that would begin with less than a "
        "step "
        "get nothing.\n\nRaises ValueError for a negative step.");
    module.def(
        "tent",
        [](Count elements, Count processes, double first_pass, double second_pass, double hop) {
            return tent(elements, ranks_of(processes), {first_pass, second_pass}, hop);
        },
        "elements"_a, "processes"_a, "first_pass"_a, "second_pass"_a, "hop"_a,
        "Counts of each rank that are best for a chain of `hop` seconds from rank to rank, with passes of so many "
        "seconds per element.\n\nRaises ValueError for negative seconds.");
    module.def(
        "hop_of_chain",
        [](std::string_view machine, Count element_bytes) {
            return hop_of_chain(Machine::parse(machine, "machine").costs(), element_bytes);
        },
        "machine"_a, "element_bytes"_a = 8,
        "Seconds that one rank more adds to a chain of single elements on a machine, the text of a machine file.");
    module.def(
        "prefix_times", &prefix_times, "algorithm"_a, "counts"_a, "first_pass"_a, "second_pass"_a, "machine"_a,
        nb::kw_only(), "element_bytes"_a = 8, "nodes"_a = "",
        "Of each rank in the prefix sum of an array that lies so: (ready, prefix, end, due_to), the seconds at which "
        "its first pass, its part in the exclusive scan and its second pass are over, in virtual time, and the rank "
        "because of whose first pass its prefix came no earlier. The passes are in seconds "
        "per element, the machine is the text of a machine file.\n\nRaises ValueError for an unknown algorithm, one "
        "that refuses the call, a malformed machine, and counts or passes below 0.");
    module.def(
        "best_counts", &best_counts, "algorithm"_a, "elements"_a, "processes"_a, "first_pass"_a, "second_pass"_a,
        "machine"_a, nb::kw_only(), "element_bytes"_a = 8, "nodes"_a = "",
        "The counts with which that ends earliest: a dictionary with counts, seconds and bound, about the least that "
        "any counts on the same ranks could have.\n\nRaises ValueError as `prefix_times` does.");
}

}  // namespace rondo
