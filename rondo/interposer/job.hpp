// SPDX-License-Identifier: BSD-3-Clause
// The file that a job leaves for those who look after many of them: what all ranks did in sums, and what rank 0 did in
// detail. Its length does not depend on the number of ranks.
#pragma once

#include <string>

namespace rondo::interposer {

struct Job {
    std::string directory;  ///< that exists
    std::string rules;      ///< path; empty: there are none
    int rank = 0;
    int size = 1;
};

/// Has this job leave its file when it ends. Called in MPI_Init.
void begin_job(const Job& job);

/// Adds up what the ranks did, and has rank 0 write the file. Called in MPI_Finalize, on all ranks that have agreed in
/// MPI_Init; communicates. Without it, rank 0 writes what itself did when the process ends.
void end_job();

}  // namespace rondo::interposer
