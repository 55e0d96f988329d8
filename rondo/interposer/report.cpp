// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <optional>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/trace.hpp"
#include "rondo/backends/mpi/world.hpp"
#include "rondo/core/host.hpp"
#include "rondo/core/json_text.hpp"
#include "rondo/guard/history.hpp"
#include "rondo/interposer/kept_tallies.hpp"
#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {
namespace {

struct Line {
    std::string collective, algorithm, reason;
    int line;  // the line of the rules
    std::string form;
    mpi::Tally* tally;

    [[nodiscard]] mpi::Treatment treatment() const { return {collective, algorithm, reason, line, form}; }
};

struct Report {
    std::mutex mutex;
    std::deque<Line> lines;
    std::deque<mpi::Tally> tallies;  // those for which the file has no room; their addresses stay
    KeptTallies kept;
    std::string path;        // without suffix; empty: there is no report
    std::string trace_path;  // likewise
    std::string owner;       // the members of a JSON object
    int rank = 0;
    pid_t process = 0;
};

constexpr std::size_t most_lines = 4096;  // what a program can cause has an end

/// Returns the report, which is never destroyed: other libraries may still call MPI while the process ends.
Report& report() {
    static Report& the_report = *new Report;
    return the_report;
}

void write_class(std::FILE* file, const mpi::Tally::Class& some, std::optional<std::uint64_t> limit) {
    std::fprintf(file,
                 "{\"up_to\":%s,\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"smallest\":%" PRIu64
                 ",\"largest\":%" PRIu64 ",\"seconds\":%.9f}",
                 limit ? std::to_string(*limit).c_str() : "null", some.calls.load(), some.bytes.load(),
                 some.smallest.load(), some.largest.load(), static_cast<double>(some.nanoseconds.load()) * 1e-9);
}

void write_trials(std::FILE* file) {
    const char* between = "";
    std::fputs("\"trials\":[", file);
    for (const guard::History::Known& each : guard::history().known()) {
        const Verdict& verdict = each.verdict;
        std::fprintf(file,
                     "%s\n{\"collective\":%s,\"bytes\":%lld,\"processes\":%d,\"nodes\":%d,\"choice\":%s,\"rondo\":%.4g,"
                     "\"library\":%.4g,\"calls\":%d,\"in_row\":%s,\"rounding\":%s,\"effective\":%s,\"day\":%s}",
                     between, json_text(verdict.collective->name).c_str(), static_cast<long long>(verdict.bytes),
                     verdict.shape.processes, verdict.shape.nodes, json_text(to_string(verdict.choice)).c_str(),
                     verdict.rondo, verdict.library, verdict.calls, verdict.alone > 0 ? "true" : "false",
                     verdict.rounding ? "true" : "false", !each.is_new || !verdict.rounding ? "true" : "false",
                     json_text(each.is_new ? "" : verdict.day).c_str());
        between = ",";
    }
    std::fputs("],", file);
}

void write(std::FILE* file, bool ended) {
    const Report& r = report();
    std::fprintf(file, "{%s,\"ended\":%s,", r.owner.c_str(), ended ? "true" : "false");
    if (mpi::Node* const node = mpi::world().node()) {
        const shared_memory::Traffic sent = node->neighbours().sent();
        std::fprintf(file, "\"shared_memory\":{\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64 "},", sent.messages,
                     sent.bytes);
    }
    write_trials(file);
    std::fputs("\"entries\":[", file);
    const char* between_lines = "";
    std::size_t left = most_lines;
    for (const Line& line : r.lines) {
        if (left-- == 0) break;
        const auto& classes = line.tally->classes();
        if (std::ranges::all_of(classes, [](const auto& each) { return each.calls == 0; })) continue;
        std::fprintf(file, "%s\n{\"collective\":%s,\"algorithm\":%s,\"reason\":%s,\"line\":%d,", between_lines,
                     json_text(line.collective).c_str(), json_text(line.algorithm).c_str(),
                     json_text(line.reason).c_str(), line.line);
        if (!line.form.empty()) std::fprintf(file, "\"form\":%s,", json_text(line.form).c_str());
        std::fputs("\"classes\":[", file);
        between_lines = ",";
        const char* between_classes = "";
        for (std::size_t i = 0; i < classes.size(); ++i) {
            if (classes[i].calls == 0) continue;
            std::fputs(between_classes, file);
            between_classes = ",";
            const auto& limits = mpi::Tally::limits;
            write_class(file, classes[i], i < limits.size() ? std::optional(limits[i]) : std::nullopt);
        }
        std::fputs("]}", file);
    }
    std::fputs("]}\n", file);
}

/// Writes the trace: a line that is a JSON object, and one for each event, whose calls are numbers of treatments.
void write_trace(std::FILE* file) {
    const Report& r = report();
    std::map<const mpi::Tally*, std::size_t> numbers;
    timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    const std::uint64_t since_epoch =
        static_cast<std::uint64_t>(wall.tv_sec) * 1000000000U + static_cast<std::uint64_t>(wall.tv_nsec);
    std::fprintf(file, "{%s,\"boot\":%s,\"epoch\":%" PRIu64 ",\"lost\":%zu,\"treatments\":[", r.owner.c_str(),
                 json_text(boot_id()).c_str(), since_epoch - now(), mpi::trace->lost());
    for (const Line& line : r.lines) {
        std::fprintf(file, "%s{\"collective\":%s,\"algorithm\":%s,\"reason\":%s,\"form\":%s}",
                     numbers.empty() ? "" : ",", json_text(line.collective).c_str(), json_text(line.algorithm).c_str(),
                     json_text(line.reason).c_str(), json_text(line.form).c_str());
        numbers.emplace(line.tally, numbers.size());
    }
    std::fputs("]}\n", file);
    for (const mpi::Event& each : mpi::trace->events()) {
        const std::size_t call = each.call != nullptr ? numbers[each.call] : 0;
        std::fprintf(file, "%d %zu %d %d %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", static_cast<int>(each.kind), call,
                     each.peer, each.tag, each.step, each.bytes, each.start, each.end);
    }
}

/// Writes under another name first, so that a file of this name is complete. Returns 0, or the error.
template <class Write>
int write_file(const std::string& path, Write&& write) {
    const std::string unfinished = path + ".part";
    std::FILE* file = std::fopen(unfinished.c_str(), "w");
    if (file == nullptr) return errno;
    write(file);
    int error = std::ferror(file) != 0 ? EIO : 0;
    if (std::fclose(file) != 0) error = errno;
    if (error == 0 && std::rename(unfinished.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) unlink(unfinished.c_str());
    return error;
}

/// False in a process that ends by MPI_Abort, or by exit in the midst of the program.
bool came_to_its_end() {
    int finalized = 0;
    return mpi::library().Finalized(&finalized) != MPI_SUCCESS || finalized != 0;
}

void say_not_written(const char* what, const std::string& path, int error) {
    std::fprintf(stderr, "rondo: rank %d cannot write its %s to %s: %s\n", report().rank, what, path.c_str(),
                 std::strerror(error));
}

void end_report() {
    Report& r = report();
    const bool ended = came_to_its_end();
    const std::string path = r.path + ".json";
    const int error = write_file(path, [&](std::FILE* file) { write(file, ended); });
    if (error == 0) {
        r.kept.remove_file();
        return;
    }
    if (ended) r.kept.mark_ended();
    // The other file has the same counts.
    if (r.kept.is_open() && r.tallies.empty()) return;
    say_not_written("report", path, error);
}

__attribute__((destructor)) void write_files() {
    const Report& r = report();
    if (r.process == 0 || r.process != getpid()) return;
    if (!r.path.empty()) end_report();
    if (r.trace_path.empty()) return;
    const std::string path = r.trace_path + ".trace";
    if (const int error = write_file(path, write_trace); error != 0) say_not_written("trace", path, error);
}

/// The name of this process's files in a directory, without a suffix.
std::string own_path(const std::string& directory) {
    Report& r = report();
    r.process = getpid();
    return directory + "/" + std::to_string(r.rank) + "-" + host_name() + "-" + std::to_string(r.process);
}

}  // namespace

mpi::Tally* tally_of(const mpi::Treatment& treatment) try {
    Report& r = report();
    const std::lock_guard lock(r.mutex);
    for (const Line& line : r.lines) {
        if (line.treatment() == treatment) return line.tally;
    }
    mpi::Tally* tally = r.kept.add(treatment);
    if (tally == nullptr) tally = &r.tallies.emplace_back(treatment);
    const auto& [collective, algorithm, reason, line, form] = treatment;
    r.lines.push_back(
        {std::string(collective), std::string(algorithm), std::string(reason), line, std::string(form), tally});
    return tally;
} catch (const std::bad_alloc&) {
    return nullptr;
}

std::vector<Counts> counts_here() {
    Report& r = report();
    const std::lock_guard lock(r.mutex);
    std::vector<Counts> all;
    for (const Line& line : r.lines) {
        Counts sum{line.collective, line.algorithm, line.reason, 0, 0, 0};
        for (const mpi::Tally::Class& each : line.tally->classes()) {
            sum.calls += each.calls;
            sum.bytes += each.bytes;
            sum.nanoseconds += each.nanoseconds;
        }
        all.push_back(sum);
    }
    return all;
}

void name_rank(int rank, int size, const std::string& mpi_library) {
    Report& r = report();
    r.rank = rank;
    r.owner = "\"rank\":" + std::to_string(rank) + ",\"size\":" + std::to_string(size) +
              ",\"host\":" + json_text(host_name()) + ",\"library\":" + json_text(mpi_library) +
              ",\"abi\":\"" RONDO_ABI_NAME "\"";
}

void write_rank(std::FILE* file, bool ended) {
    const std::lock_guard lock(report().mutex);
    write(file, ended);
}

void open_report(const std::string& directory) {
    Report& r = report();
    r.path = own_path(directory);
    const std::string problem = r.kept.open(r.path + ".counts", "{" + r.owner + "}");
    // The problem is mostly the same on all ranks, and does no harm unless one is killed.
    if (r.rank == 0 && !problem.empty()) {
        warn(("no file for counts in " + directory + ": " + problem + "; a rank that is killed will leave no report")
                 .c_str());
    }
}

void open_trace(const std::string& directory) try {
    report().trace_path = own_path(directory);
    mpi::trace = new mpi::Trace;
} catch (const std::bad_alloc&) {
    report().trace_path.clear();
    warn("no trace: no memory");
}

}  // namespace rondo::interposer
