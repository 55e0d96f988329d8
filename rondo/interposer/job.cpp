// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/job.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/world.hpp"
#include "rondo/core/host.hpp"
#include "rondo/core/json_text.hpp"
#include "rondo/core/version.hpp"
#include "rondo/guard/guard.hpp"
#include "rondo/interposer/report.hpp"
#include "rondo/interposer/runtime.hpp"

namespace rondo::interposer {
namespace {

/// Who carried calls out, and why.
constexpr const char* carriers[] = {"rondo", "taken_back", "trial", "library"};
struct Sum {
    std::uint64_t calls, bytes, nanoseconds;
};
using Sums = std::array<std::array<Sum, std::size(carriers)>, number_of_collectives>;

struct Started {
    Job job;
    Sums sums{};
    std::time_t began = 0;
    std::uint64_t clock = 0;
    bool has_all_ranks = false;  // in the sums
    pid_t process = 0;           // 0: no file is to be written, or no more
};

/// Returns the job, which is never destroyed.
Started& started() {
    static Started& the_job = *new Started;
    return the_job;
}

std::size_t carrier_of(const Counts& counts) {
    if (counts.algorithm != "native") return 0;
    if (counts.reason == guard::no_faster_here) return 1;
    for (const char* each : {guard::compared, guard::not_compared, guard::too_busy}) {
        if (counts.reason == each) return 2;
    }
    return 3;
}

/// None where there is no memory: other ranks add up with this one all the same.
Sums sums_here() try {
    Sums sums{};
    for (const Counts& each : counts_here()) {
        Sum& sum = sums[index_of(require_collective(each.collective))][carrier_of(each)];
        sum.calls += each.calls;
        sum.bytes += each.bytes;
        sum.nanoseconds += each.nanoseconds;
    }
    return sums;
} catch (const std::bad_alloc&) {
    return {};
}

/// Adds up the sums of all ranks, on rank 0. Others keep theirs, and so do all where that fails: then it returns false
/// on rank 0.
bool add_up(Sums& sums) {
    mpi::World& world = mpi::world();
    if (started().job.size == 1) return true;
    if (!world.agreed() || world.ranks_disagree() || world.messages() == mpi::library().comm_null) return false;
    static const MPI_Datatype word = MPI_UINT64_T;
    static const MPI_Op sum = MPI_SUM;
    constexpr int words = sizeof(Sums) / sizeof(std::uint64_t);
    Sums total{};
    if (mpi::library().Reduce(&sums, &total, words, word, sum, 0, world.messages()) != MPI_SUCCESS) return false;
    if (world.rank() == 0) sums = total;
    return true;
}

/// What the batch system calls the job; empty outside one.
std::string batch_job() {
    for (const char* each : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"}) {
        const char* const value = std::getenv(each);
        if (value != nullptr && *value != '\0') return value;
    }
    return "";
}

void write_sums(std::FILE* file, const Sums& sums) {
    const char* between = "";
    std::fputs("\"sums\":[", file);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        for (std::size_t by = 0; by < std::size(carriers); ++by) {
            const Sum& sum = sums[i][by];
            if (sum.calls == 0) continue;
            std::fprintf(file,
                         "%s\n{\"collective\":%s,\"by\":\"%s\",\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64
                         ",\"seconds\":%.6f}",
                         between, json_text(collectives()[i].name).c_str(), carriers[by], sum.calls, sum.bytes,
                         static_cast<double>(sum.nanoseconds) * 1e-9);
            between = ",";
        }
    }
    std::fputs("],\n", file);
}

void write_text(std::FILE* file, const Started& done, bool ended) {
    std::fprintf(file, "{\"rondo\":%s,\"uid\":%u,\"batch_job\":%s,\"program\":%s,\"rules\":%s,\"began\":%lld,",
                 json_text(version).c_str(), getuid(), json_text(batch_job()).c_str(), json_text(own_program()).c_str(),
                 json_text(done.job.rules).c_str(), static_cast<long long>(done.began));
    std::fprintf(file, "\"seconds\":%.3f,\"all_ranks\":%s,\n", static_cast<double>(now() - done.clock) * 1e-9,
                 done.has_all_ranks ? "true" : "false");
    write_sums(file, done.sums);
    std::fputs("\"rank\":", file);
    write_rank(file, ended);
    std::fputs("}\n", file);
}

/// Returns 0, or the error. Others may write into the directory: the file is new, and nobody's link.
int write_file(const Started& done, bool ended) {
    constexpr rlim_t largest = rlim_t{1} << 20;
    rlimit limit{};  // beyond it, a signal would end the program
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < largest) return EFBIG;
    const std::string name =
        done.job.directory + "/" + std::to_string(done.began) + "-" + host_name() + "-" + std::to_string(done.process);
    const std::string unfinished = name + ".part";
    const int descriptor = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    std::FILE* const file = descriptor >= 0 ? fdopen(descriptor, "w") : nullptr;
    if (file == nullptr) return errno;
    write_text(file, done, ended);
    int error = std::ferror(file) != 0 ? EIO : 0;
    if (std::fclose(file) != 0) error = errno;
    if (error == 0 && std::rename(unfinished.c_str(), (name + ".json").c_str()) != 0) error = errno;
    if (error != 0) unlink(unfinished.c_str());
    return error;
}

void write_once(bool ended) try {
    Started& done = started();
    if (done.process == 0 || done.process != getpid() || done.job.rank != 0) return;
    const int error = write_file(done, ended);
    done.process = 0;
    if (error != 0) warn(("no file of this job in " + done.job.directory + ": " + std::strerror(error)).c_str());
} catch (const std::bad_alloc&) {
    warn("no file of this job: no memory");
}

/// Ends a job that has not come to MPI_Finalize.
__attribute__((destructor)) void write_unfinished() {
    Started& done = started();
    if (done.process == 0) return;
    done.sums = sums_here();
    write_once(false);
}

}  // namespace

void begin_job(const Job& job) {
    Started& fresh = started();
    fresh.job = job;
    fresh.began = std::time(nullptr);
    fresh.clock = now();
    fresh.process = getpid();
}

void end_job() {
    Started& done = started();
    if (done.process == 0) return;
    done.sums = sums_here();
    done.has_all_ranks = add_up(done.sums);
    write_once(true);
    done.process = 0;
}

}  // namespace rondo::interposer
