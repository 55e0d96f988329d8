// SPDX-License-Identifier: BSD-3-Clause
// What the rules have chosen is compared with the library's own collective while the program runs.
#pragma once

#include <optional>

#include "rondo/interposer/report.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

constexpr const char* compared = "while Rondo's choice is in doubt";
constexpr const char* faster_here = "faster here than Rondo's choice";

/// Of such calls, what a duel is about; nothing if nobody doubts what was chosen for them.
inline std::optional<mpi::DuelKind> doubted_kind(const SeenCall& seen, const mpi::CallKey& key,
                                                 const Runtime& runtime) {
    const Guard guard = runtime.instructions.guard(key.collective);
    if (guard == Guard::off || seen.function.has.local_lengths) [[likely]]  // nobody knows the lengths of all
        return std::nullopt;
    const bool keeps_bits = seen.reduction == nullptr || seen.reduction->keeps_bits();
    if (guard == Guard::exact && !keeps_bits) return std::nullopt;
    return mpi::DuelKind{.collective = static_cast<std::uint8_t>(key.collective),
                         .length = mpi::DuelKind::length_of(key.count * key.element_bytes),
                         .commutative = key.commutative};
}

/// The one that is known, or a new one; nullptr if there have been too many.
inline mpi::Duel* duel_about(const mpi::Duel& fresh, mpi::Communicator& communicator) {
    mpi::Duel* const known = communicator.duel(fresh.kind(), fresh.chosen());
    return known != nullptr ? known : communicator.begin_duel(fresh);
}

/// A call that is part of a duel: `carry_out` by the rival whose turn it is. Returns what that returns.
template <class CarryOut>
int contest(mpi::Duel& duel, const mpi::Communicator& communicator, MPI_Comm comm, CarryOut&& carry_out) {
    static const MPI_Datatype time_type = MPI_FLOAT;
    static const MPI_Op slowest = MPI_MAX;
    const mpi::Library& library = mpi::library();
    if (duel.is_stuck()) {
        duel.abandon();
        return carry_out(mpi::Rival::library);
    }
    const bool is_timed = duel.times_next();
    const mpi::Rival rival = duel.next();
    duel.begin();
    if (!is_timed) return carry_out(rival);
    library.Barrier(comm);
    const mpi::Communicator* const before = mpi::watch(&communicator);
    const std::uint64_t start = now();
    const int error = carry_out(rival);
    const std::uint64_t end = now();
    // The user's error handler may have freed the communicator, and the duel with it.
    if (mpi::watch(before) != &communicator) return error;
    duel.end(static_cast<float>(end - start));
    if (!duel.is_due()) return error;
    mpi::Duel::Times times = duel.times();
    const int count = static_cast<int>(times.size());
    if (library.Allreduce(MPI_IN_PLACE, times.data(), count, time_type, slowest, comm) == MPI_SUCCESS) {
        duel.judge(times);
    } else {
        duel.abandon();
    }
    return error;
}

}  // namespace rondo::interposer
