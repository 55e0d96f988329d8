// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/measured_machine.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "rondo/backends/mpi/link_figures.hpp"
#include "rondo/backends/mpi/warn.hpp"
#include "rondo/backends/mpi/world.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/host.hpp"
#include "rondo/selection/shared_file.hpp"
#include "rondo/selection/text_file.hpp"
#include "rondo/selection/verdict_file.hpp"

namespace rondo::interposer {
namespace {

using mpi::LinkFigures;

constexpr double seconds_between_nodes = 0.4, seconds_inside = 0.02;

/// The text of the file; empty if there is none, or if it cannot be read, which is said only `aloud`.
std::string kept_text(const std::string& path, bool aloud) {
    if (access(path.c_str(), F_OK) != 0) return "";
    try {
        std::string text = read_text_file(path, "the machine's figures");
        Machine::parse(text, path);
        return text;
    } catch (const Error& error) {
        if (aloud) mpi::warn((std::string(error.what()) + "; they are measured anew").c_str());
        return "";
    }
}

bool can_be_kept(const std::string& path, const std::string& directory) {
    make_parents(path);                                    // what cannot be made is noticed in the next line
    return access((directory + "/.").c_str(), W_OK) == 0;  // which is not there in a file
}

std::string text_of(const LinkFigures& between, const std::optional<LinkFigures>& inside) {
    char line[160];
    std::string text = "# Measured by a program under Rondo, in MPI_Init. Delete the file to have it measured again.\n";
    std::snprintf(line, sizeof line, "alpha = %.3g\nbeta = %.3g\noverhead = %.3g\n", between.latency, between.per_byte,
                  between.overhead);
    text += line;
    if (!inside) return text;
    std::snprintf(line, sizeof line, "alpha_inside = %.3g\nbeta_inside = %.3g\noverhead_inside = %.3g\n",
                  inside->latency, inside->per_byte, inside->overhead);
    return text + line;
}

std::optional<LinkFigures> measure(Rank other, double seconds) {
    const mpi::World& world = mpi::world();
    if (other == no_rank || (world.rank() != 0 && world.rank() != other)) return std::nullopt;
    return mpi::measure_link(world.messages(), world.rank(), 0, other, seconds);
}

/// What rank 0 has measured between the first two nodes, and inside its own; empty on others, and where it could not
/// be told.
std::string measured_text(Rank elsewhere) {
    const auto between = measure(elsewhere, seconds_between_nodes);
    const auto inside = measure(mpi::world().first_rank_after_0(true), seconds_inside);
    try {
        return between ? text_of(*between, inside) : "";
    } catch (const std::bad_alloc&) {
        return "";
    }
}

/// Keeps what was measured, unless another job has done so meanwhile. Returns the text that is kept; empty if it could
/// not be.
std::string kept(const std::string& path, const std::string& text) try {
    const FileLock lock(path + ".lock");
    if (const std::string other = kept_text(path, false); !other.empty()) return other;
    const int error = lock.error() != 0 ? lock.error() : write_shared(path, text);
    if (error != 0) {
        mpi::warn((path + ": " + std::strerror(error) + "; the standard figures are used").c_str());
        return "";
    }
    const Machine machine = Machine::parse(text, path);
    char figures[80];
    std::snprintf(figures, sizeof figures, "%.3g us, %.3g GB/s", machine.alpha * 1e6, 1e-9 / machine.beta);
    mpi::warn(("messages between nodes were measured, once (" + std::string(figures) + "): " + path).c_str());
    return text;
} catch (const std::bad_alloc&) {
    return "";
}

/// Takes the text of rank 0. Nothing if it is empty, or if a rank could not.
std::optional<Machine> agreed_machine(std::string& text) {
    std::optional<Machine> machine;
    bool done = mpi::world().share_text(text);
    if (done && text.empty()) return std::nullopt;
    try {
        if (done) machine = Machine::parse(text, "the measured figures");
    } catch (const std::exception&) {
        done = false;
    }
    return mpi::world().all_say(done) ? machine : std::nullopt;
}

}  // namespace

std::optional<Machine> measured_machine(const std::string& directory, std::string_view library_version,
                                        bool may_measure) {
    mpi::World& world = mpi::world();
    if (!world.agreed() || world.ranks_disagree() || world.messages() == mpi::library().comm_null) return std::nullopt;
    const Rank elsewhere = may_measure ? world.first_rank_after_0(false) : no_rank;
    std::string path, text;
    bool is_to_be_measured = elsewhere != no_rank;
    try {
        if (world.rank() == 0) {
            path = directory + "/" + measured_machine_file_name(host_name(), library_version);
            text = kept_text(path, true);
            is_to_be_measured = is_to_be_measured && text.empty() && can_be_kept(path, directory);
        }
    } catch (const std::bad_alloc&) {
        is_to_be_measured = false;
    }
    if (elsewhere != no_rank && world.all_say(is_to_be_measured)) {
        text = measured_text(elsewhere);
        if (world.rank() == 0) text = text.empty() ? "" : kept(path, text);
    }
    return agreed_machine(text);
}

}  // namespace rondo::interposer
