// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/runtime.hpp"

#include <atomic>
#include <mutex>

#include "rondo/backends/mpi/ending.hpp"
#include "rondo/backends/mpi/lone_world.hpp"
#include "rondo/backends/mpi/persistent_call.hpp"
#include "rondo/backends/mpi/plan_store.hpp"
#include "rondo/backends/mpi/progress.hpp"
#include "rondo/backends/mpi/roll_call.hpp"
#include "rondo/backends/mpi/roll_call_of_world.hpp"
#include "rondo/guard/history.hpp"
#include "rondo/interposer/job.hpp"
#include "rondo/interposer/measured_machine.hpp"
#include "rondo/interposer/report.hpp"

namespace rondo::interposer {
namespace {

std::mutex set_up_mutex;
std::atomic<Runtime*> ready{nullptr};
std::atomic<bool> off{false};
std::atomic<const mpi::Library*> connected{nullptr};

/// Ends Rondo, in MPI_Finalize. Calls made later, in callbacks of the program, are left to the library.
void end() {
    end_job();
    mpi::end_roll_calls();
    mpi::end_persistent_calls();
    mpi::free_own_communicators();
    mpi::leave_progress_engine();
    off = true;
    ready = nullptr;
    mpi::end_communicators();
    mpi::world().end();
}

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    mpi::library().Get_library_version(text, &length);
    return plain_version(text);
}

/// Counts calls from now on where somebody wants to hear of them.
void start_counting(Runtime& here, int rank, int size) {
    const std::string &reports = here.instructions.report_directory(), &jobs = here.instructions.jobs_directory();
    const std::string& traces = here.instructions.trace_directory();
    here.reporting = !reports.empty() || !jobs.empty() || !traces.empty();
    if (!here.reporting) return;
    name_rank(rank, size, here.library_version);
    if (!reports.empty()) open_report(reports);
    if (!traces.empty()) open_trace(traces);
    if (!jobs.empty()) begin_job({jobs, here.instructions.rules_path(), rank, size});
}

/// Sets Rondo up. The caller holds the mutex.
Runtime* set_up() {
    if (ready.load() != nullptr) return ready.load();
    auto* fresh = new Runtime{Instructions::from_environment()};
    const Instructions& instructions = fresh->instructions;
    // Ranks that were told nothing take part, too: others may have been told something, and will ask.
    if (instructions.off() || !mpi::prepare_communicators()) {
        off = true;
        delete fresh;
        return nullptr;
    }
    mpi::at_end(end);
    mpi::find_progress_engine();
    mpi::limit_plan_memory(static_cast<std::size_t>(instructions.plan_memory()));
    mpi::learn_datatypes();
    mpi::learn_operators();
    int rank = 0, size = 1;
    mpi::library().Comm_rank(mpi::library().comm_world, &rank);
    mpi::library().Comm_size(mpi::library().comm_world, &size);
    fresh->instructions.know_ranks(size);
    if (rank == 0) {
        for (const std::string& complaint : instructions.complaints()) warn(complaint.c_str());
    }
    const std::string version = library_version();
    fresh->library = library_of(version);
    fresh->instructions.know_library(version);
    fresh->library_version = version;
    start_counting(*fresh, rank, size);
    ready = fresh;
    return fresh;
}

}  // namespace

const mpi::Library* connected_library(const void* caller) {
    if (const mpi::Library* library = connected.load(std::memory_order_acquire)) return library;
    const std::lock_guard lock(set_up_mutex);
    const char* missing = nullptr;
    if (!mpi::connect(caller, missing)) {
        static bool said = false;
        if (!said) warn((missing + std::string("; its own collectives are used")).c_str());
        said = true;
        return nullptr;
    }
    connected = &mpi::library();
    return connected;
}

const Runtime* runtime(const void* caller) { return runtime_to_instruct(caller); }

Runtime* runtime_to_instruct(const void* caller) {
    if (Runtime* done = ready.load(std::memory_order_acquire)) return done;
    if (off.load(std::memory_order_relaxed) || connected_library(caller) == nullptr) return nullptr;
    int initialised = 0;
    mpi::library().Initialized(&initialised);
    if (initialised == 0) return nullptr;
    const std::lock_guard lock(set_up_mutex);
    return set_up();
}

void agree(const void* caller) {
    if (Runtime* here = runtime_to_instruct(caller)) {
        const std::string complaint = mpi::complaint_of_lone_world(here->library_version);
        if (!complaint.empty()) warn(("warning: " + complaint).c_str());
        mpi::World& world = mpi::world();
        world.agree(here->instructions.fingerprint(), here->instructions.ask_nodes(),
                    here->instructions.memory_sharing());
        // The first of the ranks that have Rondo, as far as they know: nobody knows of all others.
        if (world.misses_ranks() && !world.hears_lower_ranks()) {
            warn(("not all ranks of this job have Rondo, or some came to MPI_Init more than ten seconds after the "
                  "others; the native collectives are used. Give it to all ranks or to none: " +
                  std::string(mpi::harm_of_missing_ranks))
                     .c_str());
        }
        const auto& imposed = here->instructions.imposed_placement();
        if (imposed && !world.impose(*imposed) && world.rank() == 0) {
            warn(("RONDO_NODES: the domains are those of one node, but the ranks are on " +
                  std::to_string(world.whole_spread().nodes.most) + "; they are where the MPI library says")
                     .c_str());
        }
        if (world.agreed() && !world.is_serial() && mpi::has_progress_engine()) mpi::prepare_persistent_calls();
        const std::string& directory = here->instructions.learned_directory();
        if (!directory.empty() && here->instructions.lacks_machine()) {
            // Imposed nodes are not where messages between nodes could be measured.
            const bool may_measure = !here->instructions.imposed_placement();
            const auto measured = measured_machine(directory, here->library_version, may_measure);
            if (measured) here->instructions.know_machine(*measured, here->library_version);
        }
        if (!directory.empty())
            guard::history().open(directory, here->library_version, here->instructions.machine().fingerprint());
        if (!world.complaint().empty()) {
            warn(("RONDO_SHARED_MEMORY: " + world.complaint()).c_str());
        }
    }
}

}  // namespace rondo::interposer
