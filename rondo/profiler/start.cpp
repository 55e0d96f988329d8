// SPDX-License-Identifier: BSD-3-Clause
// From MPI_Init to MPI_Finalize, or MPI_Abort.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "rondo/backends/mpi/epoch.hpp"
#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/lone_world.hpp"
#include "rondo/core/json_text.hpp"
#include "rondo/profiler/communicators.hpp"
#include "rondo/profiler/file.hpp"
#include "rondo/profiler/machines.hpp"
#include "rondo/profiler/recorder.hpp"
#include "rondo/profiler/sites.hpp"

namespace rondo::profiler {
namespace {

constexpr const char* directory_variable = "RONDO_PROFILE";
constexpr int cannot_run = 127;  // as of the dynamic linker

pid_t process = 0;

std::string library_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    mpi::library().Get_library_version(text, &length);
    const std::string version = text;
    return version.substr(0, version.find_first_of("\n,"));
}

/// When MPI is there, all ranks together.
void begin() {
    const char* const directory = std::getenv(directory_variable);
    if (directory == nullptr || *directory == '\0' || recorder.image != nullptr) return;
    const mpi::Library& library = mpi::library();
    int rank = 0, size = 1, threads = MPI_THREAD_SINGLE;
    library.Comm_rank(library.comm_world, &rank);
    library.Comm_size(library.comm_world, &size);
    library.Query_thread(&threads);
    const std::string complaint = mpi::complaint_of_lone_world(library_version());
    if (!complaint.empty()) std::fprintf(stderr, "rondo: warning: %s\n", complaint.c_str());
    choose_clock();
    const Moment first = moment();
    const Place place = meet();
    know_nodes(place.first_on_node);
    char host[256] = "unknown";
    gethostname(host, sizeof host - 1);
    process = getpid();
    const std::string path =
        std::string(directory) + "/" + std::to_string(rank) + "-" + host + "-" + std::to_string(process);
    const std::string owner = "{\"rank\":" + std::to_string(rank) + ",\"size\":" + std::to_string(size) +
                              ",\"host\":" + json_text(host) + ",\"node\":" + std::to_string(place.node) +
                              ",\"machine\":" + std::to_string(place.machine) +
                              ",\"world\":" + std::to_string(place.world) +
                              ",\"library\":" + json_text(library_version()) + ",\"abi\":\"" RONDO_ABI_NAME "\"}";
    const std::string problem = open_file(path, owner);
    keep_leaders_with_file(problem.empty());
    if (!problem.empty()) {
        std::fprintf(stderr, "rondo: rank %d is not profiled: no file in %s: %s\n", rank, directory, problem.c_str());
        return;
    }
    Header& header = recorder.image->header;
    header.threads = threads == MPI_THREAD_MULTIPLE ? 1 : 0;
    recorder.several_threads = header.threads != 0;
    measure_clocks(header);
    look_for_python();
    communicator_of(library.comm_world);
    header.first = first;
    header.later = moment();  // a rank that is killed before its first sample, too, says how long a tick is
    header.begin = header.last = ticks();
    recorder.directly = !recorder.several_threads && !recorder.python && processor_counts;
    recorder.on = true;
}

/// Nothing is recorded from now on.
void end(State state) {
    if (!recorder.on || process != getpid()) return;
    Header& header = recorder.image->header;
    header.last = ticks();
    recorder.on = recorder.directly = false;
    mpi::end_epoch();  // no thread's slot holds a call any more
    if (state == State::finalized) measure_clocks(header);
    header.later = moment();
    header.state = state;
    const std::string problem = close_file();
    if (!problem.empty()) std::fprintf(stderr, "rondo: a rank cannot write its profile: %s\n", problem.c_str());
}

/// Of a program that ends without MPI_Finalize, where the file was not written all the while.
__attribute__((destructor)) void leave() {
    if (!recorder.on || process != getpid()) return;
    recorder.image->header.later = moment();
    close_file();
}

}  // namespace

void* function_behind(const char* name, const void* caller) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const char* missing = nullptr;
    void* found = nullptr;
    if (mpi::connect(caller, missing) && name[0] != 'P') found = mpi::tool_definition(name);
    if (found == nullptr) found = mpi::definition_in_library(name);
    if (found == nullptr) {
        std::fprintf(stderr, "rondo: the program calls %s, but %s\n", name,
                     missing != nullptr ? missing : "its MPI library has no such function");
        _exit(cannot_run);
    }
    return found;
}

namespace {

bool connected(const void* caller) {
    const char* missing = nullptr;
    return mpi::connect(caller, missing);
}

template <class... Arguments>
int initialise(const char* name, const void* caller, Arguments... arguments) {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(function_behind(name, caller));
    const bool outermost = !thread.inside;
    thread.inside = true;
    const int error = function(arguments...);
    if (!outermost) return error;
    if (error == MPI_SUCCESS && connected(caller)) begin();
    thread.inside = false;
    return error;
}

int finalize(const char* name, const void* caller) {
    const auto function = reinterpret_cast<int (*)()>(function_behind(name, caller));
    if (!thread.inside) end(State::finalized);
    return function();
}

int abort_program(const char* name, const void* caller, MPI_Comm comm, int code) {
    const auto function = reinterpret_cast<int (*)(MPI_Comm, int)>(function_behind(name, caller));
    if (!thread.inside) end(State::aborted);
    return function(comm, code);
}

}  // namespace
}  // namespace rondo::profiler

using rondo::profiler::abort_program;
using rondo::profiler::finalize;
using rondo::profiler::initialise;

#define RONDO_EXPORT extern "C" [[gnu::visibility("default")]]

RONDO_EXPORT int MPI_Init(int* argc, char*** argv) {
    return initialise("MPI_Init", __builtin_return_address(0), argc, argv);
}

RONDO_EXPORT int PMPI_Init(int* argc, char*** argv) {
    return initialise("PMPI_Init", __builtin_return_address(0), argc, argv);
}

RONDO_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return initialise("MPI_Init_thread", __builtin_return_address(0), argc, argv, required, provided);
}

RONDO_EXPORT int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return initialise("PMPI_Init_thread", __builtin_return_address(0), argc, argv, required, provided);
}

RONDO_EXPORT int MPI_Finalize() { return finalize("MPI_Finalize", __builtin_return_address(0)); }

RONDO_EXPORT int PMPI_Finalize() { return finalize("PMPI_Finalize", __builtin_return_address(0)); }

RONDO_EXPORT int MPI_Abort(MPI_Comm comm, int code) {
    return abort_program("MPI_Abort", __builtin_return_address(0), comm, code);
}

RONDO_EXPORT int PMPI_Abort(MPI_Comm comm, int code) {
    return abort_program("PMPI_Abort", __builtin_return_address(0), comm, code);
}
