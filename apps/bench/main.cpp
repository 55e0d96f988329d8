// SPDX-License-Identifier: BSD-3-Clause
// The benchmark driver: `driver PLAN RECORDS [PART]`, started on all ranks by `rondo bench`. Rank 0 reads the plan,
// conducts, and writes the records. Exit code 2 if the plan cannot be carried out. PART: which ranks measure
// (part.hpp).
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>

#include "choice.hpp"
#include "clock.hpp"
#include "computing.hpp"
#include "conductor.hpp"
#include "part.hpp"

namespace rondo::bench {
namespace {

constexpr int refused = 2;

/// The plan's text on all ranks; empty if rank 0 cannot read it.
std::string plan_text(const char* path, const Messages& messages) {
    std::string text;
    if (messages.rank() == 0) {
        std::ifstream file(path);
        text.assign(std::istreambuf_iterator<char>(file), {});
        if (text.empty()) std::fprintf(stderr, "rondo: cannot read the plan %s\n", path);
    }
    std::int64_t size = static_cast<std::int64_t>(text.size());
    messages.broadcast(&size, sizeof size);
    text.resize(static_cast<std::size_t>(size));
    if (size > 0) messages.broadcast(text.data(), text.size());
    return text;
}

std::optional<Plan> plan_on_all(const char* path, const Messages& messages) {
    const std::string text = plan_text(path, messages);
    if (text.empty()) return std::nullopt;
    try {
        Plan plan = parse_plan(text);
        plan.check(messages.size());
        return plan;
    } catch (const std::runtime_error& error) {
        if (messages.rank() == 0) std::fprintf(stderr, "rondo: %s\n", error.what());
        return std::nullopt;
    }
}

/// Why a candidate cannot be measured: of the lowest rank that says so.
struct Refusal {
    int rank;
    char reason[512];
    void merge(const Refusal& other) {
        if (other.reason[0] != '\0' && (reason[0] == '\0' || other.rank < rank)) *this = other;
    }
};

std::vector<std::string> refusals_of(const Plan& plan, const Messages& messages) {
    std::vector<std::string> refusals;
    for (const std::string& candidate : plan.candidates) {
        Refusal refusal{messages.rank(), ""};
        if (candidate != native) {
            const std::string reason = plan.collective->function == nullptr ? "traffic patterns have no algorithms"
                                                                            : choose(plan.collective->name, candidate);
            std::strncpy(refusal.reason, reason.c_str(), sizeof refusal.reason - 1);
        }
        messages.reduce(refusal);
        messages.broadcast(&refusal, sizeof refusal);
        refusals.emplace_back(refusal.reason);
    }
    return refusals;
}

void record_environment(Records& records, const Machine& machine, const GlobalClock& clock, const Computing* computing,
                        MPI_Comm comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    Record record("environment");
    record.add("library", machine.library).add("ranks", ranks);
    record.add("nodes", static_cast<int>(machine.hosts.size())).add("ranks_per_node", machine.ranks_per_node);
    record.add("hosts", machine.hosts).add("kernel", machine.kernel).add("processor", machine.processor);
    record.add("cores", machine.cores).add("clock", clock.shared() ? "shared" : "learned");
    if (computing != nullptr) record.add("computing", computing->way());
    records.write(record.add("shared_memory", shares_memory() ? 1 : 0).add("domains", domains(comm)));
}

/// Between rank 0 and the first rank on another node, if there is one.
void measure_network(MPI_Comm comm, const Machine& machine, const Messages& messages, Records* records) {
    int partner = 0;
    while (partner < messages.size() && machine.nodes[static_cast<std::size_t>(partner)] == 0) ++partner;
    if (partner == messages.size()) return;
    Line line{};
    if (messages.rank() == 0 || messages.rank() == partner) line = fitted_line(comm, partner);
    if (records == nullptr) return;
    Record record("network");
    record.add("latency", line.latency).add("seconds_per_byte", line.seconds_per_byte);
    records->write(record.add("rendezvous", line.rendezvous).add("residual", line.residual));
}

/// Measures on `comm`, whose ranks give each other orders on `administration`. Collective over them.
int bench(const char* plan_path, const char* records_path, MPI_Comm comm, MPI_Comm administration) {
    const Machine machine(administration);
    const Messages messages(administration, machine.crowded());
    const std::optional<Plan> plan = plan_on_all(plan_path, messages);
    if (!plan) return refused;

    std::optional<Records> records;
    char writable = 1;
    try {
        if (messages.rank() == 0) records.emplace(records_path);
    } catch (const std::runtime_error& error) {
        std::fprintf(stderr, "rondo: %s\n", error.what());
        writable = 0;
    }
    messages.broadcast(&writable, sizeof writable);
    if (writable == 0) return refused;

    ask_for_punctual_sleep();
    GlobalClock clock(administration, machine.machines, {plan->learned_clock, plan->clock_skew, plan->clock_drift});
    // The switch of an emulated cluster needs the processors, too.
    const Computing computing(plan->pieces == 0 || machine.crowded() || EmulatedCluster().exists());
    if (records) {
        record_environment(*records, machine, clock, plan->pieces > 0 ? &computing : nullptr, comm);
    }
    measure_network(administration, machine, messages, records ? &*records : nullptr);

    const std::vector<std::string> refusals = refusals_of(*plan, messages);
    Measurement measurement(*plan, comm, machine, computing, clock, messages);
    if (records) {
        for (std::size_t i = 0; i < refusals.size(); ++i) {
            if (refusals[i].empty()) continue;
            records->write(Record("refused").add("candidate", plan->candidates[i]).add("reason", refusals[i]));
        }
        Conductor(*plan, refusals, measurement, *records, clock, messages).run();
    } else {
        for (Command command; command.kind != Command::Kind::end;) measurement.obey(command);
    }
    return 0;
}

}  // namespace
}  // namespace rondo::bench

int main(int argc, char** argv) {
    using namespace rondo::bench;
    MPI_Init(&argc, &argv);
    int code = refused;
    const std::optional<Part> part = argc == 4 ? find_part(argv[3]) : Part::all;
    if ((argc == 3 || argc == 4) && part) {
        code = 0;
        const MPI_Comm comm = communicator_of(*part);
        if (comm != MPI_COMM_NULL) {
            MPI_Comm administration;
            MPI_Comm_dup(comm, &administration);
            code = bench(argv[1], argv[2], comm, administration);
            MPI_Comm_free(&administration);
        }
        if (*part != Part::all) wait_for_all();
    } else {
        std::fprintf(stderr, "usage: %s PLAN RECORDS [half|node|leaders] (started by rondo bench)\n", argv[0]);
    }
    MPI_Finalize();
    return code;
}
