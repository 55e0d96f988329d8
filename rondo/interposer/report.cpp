// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/report.hpp"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <deque>
#include <mutex>

namespace rondo::mpi {

void Tally::count(std::uint64_t call_bytes, std::uint64_t call_nanoseconds) {
    constexpr auto relaxed = std::memory_order_relaxed;
    calls.fetch_add(1, relaxed);
    bytes.fetch_add(call_bytes, relaxed);
    nanoseconds.fetch_add(call_nanoseconds, relaxed);
    for (std::uint64_t seen = smallest.load(relaxed);
         call_bytes < seen && !smallest.compare_exchange_weak(seen, call_bytes, relaxed);) {
    }
    for (std::uint64_t seen = largest.load(relaxed);
         call_bytes > seen && !largest.compare_exchange_weak(seen, call_bytes, relaxed);) {
    }
}

}  // namespace rondo::mpi

namespace rondo::interposer {
namespace {

struct Report {
    std::mutex mutex;
    std::deque<mpi::Tally> tallies;  // addresses stay
    std::string directory, mpi_library;
    int rank = 0, size = 0;
    pid_t process = 0;
};

/// Never destroyed: other libraries may still call MPI while the process ends.
Report& report() {
    static Report& the_report = *new Report;
    return the_report;
}

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char letter : text) {
        if (static_cast<unsigned char>(letter) < 0x20) continue;
        if (letter == '"' || letter == '\\') result += '\\';
        result += letter;
    }
    return result + '"';
}

void write(std::FILE* file, const std::string& host) {
    const Report& r = report();
    std::fprintf(file, "{\"rank\":%d,\"size\":%d,\"host\":%s,\"library\":%s,\"abi\":\"%s\",\"entries\":[", r.rank,
                 r.size, quoted(host).c_str(), quoted(r.mpi_library).c_str(), RONDO_ABI_NAME);
    const char* separator = "";
    for (const mpi::Tally& tally : r.tallies) {
        if (tally.calls == 0) continue;
        std::fprintf(file,
                     "%s{\"collective\":%s,\"algorithm\":%s,\"reason\":%s,\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64
                     ",\"smallest\":%" PRIu64 ",\"largest\":%" PRIu64 ",\"seconds\":%.9f}",
                     separator, quoted(tally.collective).c_str(), quoted(tally.algorithm).c_str(),
                     quoted(tally.reason).c_str(), tally.calls.load(), tally.bytes.load(), tally.smallest.load(),
                     tally.largest.load(), static_cast<double>(tally.nanoseconds.load()) * 1e-9);
        separator = ",";
    }
    std::fprintf(file, "]}\n");
}

/// Written under another name first: whoever finds the file finds all of it.
void write_report() {
    const Report& r = report();
    if (r.process == 0 || r.process != getpid()) return;
    char host[256] = "unknown";
    gethostname(host, sizeof host - 1);
    const std::string path =
        r.directory + "/" + std::to_string(r.rank) + "-" + host + "-" + std::to_string(r.process) + ".json";
    const std::string unfinished = path + ".part";
    std::FILE* file = std::fopen(unfinished.c_str(), "w");
    bool written = file != nullptr;
    if (written) {
        write(file, host);
        written = std::ferror(file) == 0;
        written = std::fclose(file) == 0 && written;
        written = written && std::rename(unfinished.c_str(), path.c_str()) == 0;
    }
    if (!written) std::fprintf(stderr, "rondo: rank %d cannot write its report to %s\n", r.rank, path.c_str());
}

__attribute__((destructor)) void at_exit() { write_report(); }

}  // namespace

mpi::Tally* tally_of(std::string_view collective, std::string_view algorithm, std::string_view reason) {
    Report& r = report();
    const std::lock_guard lock(r.mutex);
    for (mpi::Tally& tally : r.tallies) {
        if (tally.collective == collective && tally.algorithm == algorithm && tally.reason == reason) return &tally;
    }
    mpi::Tally& tally = r.tallies.emplace_back();
    tally.collective = collective;
    tally.algorithm = algorithm;
    tally.reason = reason;
    return &tally;
}

void open_report(const std::string& directory, int rank, int size, const std::string& mpi_library) {
    Report& r = report();
    r.directory = directory;
    r.rank = rank;
    r.size = size;
    r.mpi_library = mpi_library;
    r.process = getpid();
}

std::uint64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000U + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace rondo::interposer
