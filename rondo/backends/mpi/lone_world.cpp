// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/backends/mpi/lone_world.hpp"

#include <cstdlib>

#include "rondo/backends/mpi/library.hpp"
#include "rondo/backends/mpi/world.hpp"

namespace rondo::mpi {
namespace {

/// The variables by which a launcher tells each process how many there are, and which one it is. SLURM_NTASKS is not
/// among them: a batch job has it, too, where srun has started nothing.
struct Told {
    const char *size, *rank;
};
constexpr Told launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};
constexpr const char* rank_alone = "PMIX_RANK";  // set by launchers that tell no size

/// The number in an environment variable; -1 if it is unset or no number.
long number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    if (text == nullptr || *text < '0' || *text > '9') return -1;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    return *end == '\0' ? number : -1;
}

}  // namespace

std::string complaint_of_lone_world(const std::string& version) {
    int world = 0;
    library().Comm_size(library().comm_world, &world);
    if (world != 1) return {};
    const Told* told = nullptr;
    for (const Told& each : launchers) {
        const long size = number_in(each.size);
        if (size == 1) return {};  // an inner launcher has started this process alone
        if (size > 1 && told == nullptr) told = &each;
    }
    if (number_in(told != nullptr ? told->rank : rank_alone) != (told != nullptr ? 0 : 1)) return {};
    if (was_spawned()) return {};  // a spawned process may well be the only one. SimGrid aborts on the question
    const std::string who = told != nullptr ? std::string(told->size) + " says that " + std::getenv(told->size)
                                            : std::string(rank_alone) + " says that several";
    return who + " processes belong together, but each is alone in MPI_COMM_WORLD: the launcher does not speak with " +
           version + " (start it with the launcher of that library; srun may need --mpi)";
}

}  // namespace rondo::mpi
