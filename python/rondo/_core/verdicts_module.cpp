// SPDX-License-Identifier: BSD-3-Clause
// rondo._core: what trials of earlier runs have shown.
#include "python/rondo/_core/verdicts_module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/selection/eager_limit.hpp"
#include "rondo/selection/machine.hpp"
#include "rondo/selection/rules.hpp"
#include "rondo/selection/shared_file.hpp"
#include "rondo/selection/verdict_file.hpp"
#include "rondo/selection/verdicts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace rondo {
namespace {

/// The lengths of the calls that a verdict is about: those of its length_class, or all if no rank knows them.
Interval lengths_of(const Verdict& verdict) {
    constexpr Count unbounded = std::numeric_limits<Count>::max();
    if (verdict.collective->has.local_lengths) return {0, unbounded};
    const int bits = length_class(verdict.bytes);
    const int least = length_class(0);
    const int most = std::numeric_limits<Count>::digits;
    return {bits == least ? 0 : Count{1} << (bits - 1), bits == most ? unbounded : (Count{1} << bits) - 1};
}

nb::dict described(const Verdict& verdict) {
    nb::dict description;
    const Interval lengths = lengths_of(verdict);
    description["collective"] = verdict.collective->name;
    description["bytes"] = verdict.bytes;
    description["lowest"] = lengths.lowest;
    description["highest"] = lengths.highest;
    description["commutative"] = verdict.commutative;
    description["rounding"] = verdict.rounding;
    description["empty_parts"] = verdict.empty_parts;
    description["processes"] = verdict.shape.processes;
    description["nodes"] = verdict.shape.nodes;
    description["fewest_on_node"] = verdict.shape.fewest_on_node;
    description["most_on_node"] = verdict.shape.most_on_node;
    description["in_rank_order"] = verdict.shape.in_rank_order;
    description["shared_memory"] = verdict.shape.shared_memory;
    description["domains"] = verdict.shape.domains;
    description["choice"] = to_string(verdict.choice);
    description["rondo"] = verdict.rondo;
    description["library"] = verdict.library;
    description["calls"] = verdict.calls;
    description["alone"] = verdict.alone;
    description["begun"] = verdict.begun.size();
    description["day"] = verdict.day;
    description["line"] = to_string(verdict);
    return description;
}

nb::dict described(const KeptProposal& proposal) {
    nb::dict description;
    description["collective"] = proposal.calls.collective->name;
    description["processes"] = proposal.calls.shape.processes;
    description["choice"] = to_string(proposal.choice);
    description["seconds"] = proposal.seconds;
    description["day"] = proposal.day;
    description["line"] = to_string(proposal);
    return description;
}

nb::tuple read_verdicts(std::string_view text) {
    std::vector<Verdicts::Complaint> complaints;
    const Verdicts verdicts = Verdicts::parse(text, complaints);
    nb::list found, wrong, proposals;
    for (const Verdict& each : verdicts.all()) found.append(described(each));
    for (const Verdicts::Complaint& each : complaints) wrong.append(nb::make_tuple(each.line, each.what));
    for (const KeptProposal& each : verdicts.proposals()) proposals.append(described(each));
    return nb::make_tuple(found, wrong, proposals);
}

std::string file_name(std::string_view host, std::string_view library_version, std::string_view rondo_version,
                      std::string_view machine_text) {
    Machine machine = Machine::parse(machine_text, "machine");
    if (!machine.eager) machine.eager = eager_limit_of(library_version);
    return verdict_file_name(host, library_version, rondo_version, machine.fingerprint());
}

std::string change_verdicts(const std::string& path, std::string_view added, const std::vector<std::string>& removed) {
    std::vector<Verdicts::Complaint> complaints;
    const Verdicts fresh = Verdicts::parse(added, complaints);
    const nb::gil_scoped_release others_may_run;
    return update_verdicts(path, [&](Verdicts& kept) {
        const auto is_removed = [&](const auto& each) { return std::ranges::count(removed, to_string(each)) > 0; };
        kept.remove_if(is_removed);
        kept.remove_proposals_if(is_removed);
        for (const Verdict& each : fresh.all()) kept.add(each);
        for (const KeptProposal& each : fresh.proposals()) kept.add(each);
    });
}

nb::tuple take_lock(const std::string& path) {
    const nb::gil_scoped_release others_may_run;
    FileLock lock(path);
    const int error = lock.error();
    const int file = error == 0 ? lock.release() : -1;
    const nb::gil_scoped_acquire once_more;
    return nb::make_tuple(file, error);
}

int write_file(const std::string& path, const nb::bytes& content) {
    return write_shared(path, std::string_view(content.c_str(), content.size()));
}

}  // namespace

void bind_verdicts(nb::module_& module) {
    module.def("read_verdicts", &read_verdicts, "text"_a,
               "The verdicts of a text, as dictionaries (`lowest` and `highest`: bytes of the calls that each holds "
               "for; `rondo` and `library`: seconds; `begun`: not 0 if it is none yet), and its malformed lines: "
               "tuples of number and what is wrong, and what the model has proposed, as dictionaries.");
    module.def("name_of_hosts", &name_of_hosts, "host"_a, "What the names of a cluster's hosts have in common.");
    module.def("verdict_file_name", &file_name, "host"_a, "library_version"_a, "rondo_version"_a, "machine"_a,
               "The name of the file about an MPI library (\"MPICH Version 5.0.2\") on a machine that has this host "
               "and this machine file.");
    module.def("measured_machine_file_name", &measured_machine_file_name, "host"_a, "library_version"_a,
               "The name of the machine file that programs with an MPI library have made on the hosts like this one.");
    module.def("change_verdicts", &change_verdicts, "path"_a, "added"_a, "removed"_a,
               "Removes lines from a file of verdicts and adds those of a text, while no other process does the same. "
               "Returns why that failed, or nothing.");
    module.def("take_lock", &take_lock, "path"_a,
               "The descriptor of a lock, which whoever closes it gives back, and 0; or -1 and why it could not be had "
               "(errno). Waits a second at most.");
    module.def("write_shared", &write_file, "path"_a, "content"_a,
               "Writes a file that users share whose directory lets them. Returns 0, or why that failed (errno).");
}

}  // namespace rondo
