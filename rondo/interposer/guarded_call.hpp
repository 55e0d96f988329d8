// SPDX-License-Identifier: BSD-3-Clause
// A call as the guard sees it.
#pragma once

#include <optional>

#include "rondo/guard/communicator_site.hpp"
#include "rondo/guard/guard.hpp"
#include "rondo/interposer/seen_call.hpp"
#include "rondo/selection/verdicts.hpp"

namespace rondo::interposer {

/// True if all ranks know that some of them have no part, and need not wait for the others: there are fewer elements
/// than ranks, or, of an MPI_Allgatherv, fewer bytes.
inline bool has_empty_parts(const SeenCall& seen, const mpi::CallKey& key) {
    return seen.function.has.waiting_for_all() && !seen.function.has.local_lengths && seen.call.counts.is_argument() &&
           key.count < seen.communicator.size();
}

/// What trials of such calls are about; nothing if they are not compared with the library.
inline std::optional<guard::TrialKey> trial_key_of(const SeenCall& seen, const mpi::CallKey& key,
                                                   const Runtime& runtime) {
    const Instructions& instructions = runtime.instructions;
    const Guard guard = instructions.guard(key.collective);
    if (guard == Guard::off) [[likely]]
        return std::nullopt;
    const bool rounding = guard == Guard::exact && seen.reduction != nullptr && !seen.reduction->keeps_bits();
    const bool has_local_lengths = seen.function.has.local_lengths, empty_parts = has_empty_parts(seen, key);
    // The program's own operators may do more than compute: nobody calls them twice.
    if (rounding && (instructions.learned_directory().empty() || !seen.reduction->predefined())) return std::nullopt;
    return guard::TrialKey{.collective = static_cast<std::uint8_t>(key.collective),
                           .length = length_class(key.count * key.element_bytes),
                           .commutative = key.commutative,
                           .rounding = rounding,
                           .runs_ahead = !seen.function.has.waiting_for_all() || has_local_lengths || empty_parts,
                           .empty_parts = empty_parts,
                           .any_length = has_local_lengths};
}

/// Asks the guard about one call. There is nothing to ask about a call that is not compared.
class GuardedCall {
  public:
    GuardedCall(const SeenCall& seen, const mpi::CallKey& key, const Runtime& runtime)
        : bytes_(key.count * key.element_bytes) {
        if (const auto trial_key = trial_key_of(seen, key, runtime)) compared_.emplace(*trial_key, seen);
    }

    [[nodiscard]] mpi::CallKey::Compared compared() const {
        using enum mpi::CallKey::Compared;
        return !compared_ ? nothing : compared_->key.rounding ? choice_and_bits : choice;
    }
    /// Bytes of the call, equal on all ranks.
    [[nodiscard]] Count bytes() const { return bytes_; }
    /// The site of the call's trial; nullptr without one.
    [[nodiscard]] guard::Site* site() { return compared_ ? &compared_->site : nullptr; }
    /// Counts the call for the trial of this call and its choice, a Choice. Returns the trial; nullptr if there is
    /// none.
    guard::Trial* begin(const void* chosen) {
        if (!compared_) return nullptr;
        return guard::begin_call({compared_->key, bytes_, chosen}, compared_->site);
    }

    /// Why the library has such calls, by what an earlier run has found out about them and this choice; nullptr if it
    /// does not.
    const char* lost_before(const void* chosen) {
        if (!compared_) return nullptr;
        const std::optional<guard::Trial> trial = compared_->site.take_up({compared_->key, bytes_, chosen});
        return trial && trial->is_lost() ? guard::reason_of(*trial) : nullptr;
    }

  private:
    struct ComparedCall {
        // A rank whose part is empty need not wait for others, which may happen where lengths differ.
        ComparedCall(const guard::TrialKey& trial_key, const SeenCall& seen)
            : key(trial_key), site(seen.communicator, seen.call.comm,
                                   seen.function.has.waiting_for_all() && !seen.call.counts.is_argument()) {}

        guard::TrialKey key;
        guard::CommunicatorSite site;
    };

    Count bytes_;
    std::optional<ComparedCall> compared_;
};

}  // namespace rondo::interposer
