// SPDX-License-Identifier: BSD-3-Clause
// A call as the guard sees it.
#pragma once

#include <optional>

#include "rondo/guard/communicator_site.hpp"
#include "rondo/guard/guard.hpp"
#include "rondo/interposer/seen_call.hpp"
#include "rondo/selection/verdicts.hpp"

namespace rondo::interposer {

/// What trials of such calls are about; nothing if nobody doubts what was chosen for them.
inline std::optional<guard::TrialKey> trial_key_of(const SeenCall& seen, const mpi::CallKey& key,
                                                   const Runtime& runtime) {
    const Instructions& instructions = runtime.instructions;
    const Guard guard = instructions.guard(key.collective);
    if (guard == Guard::off || seen.function.has.local_lengths) [[likely]]  // nobody knows the lengths of all
        return std::nullopt;
    const bool rounding = guard == Guard::exact && seen.reduction != nullptr && !seen.reduction->keeps_bits();
    // The program's own operators may do more than to compute: nobody calls them twice.
    if (rounding && (instructions.learned_directory().empty() || !seen.reduction->predefined())) return std::nullopt;
    return guard::TrialKey{.collective = static_cast<std::uint8_t>(key.collective),
                           .length = length_class(key.count * key.element_bytes),
                           .commutative = key.commutative,
                           .rounding = rounding};
}

/// Asks the guard about one call. Of a call that nobody doubts, there is nothing to ask.
class GuardedCall {
  public:
    GuardedCall(const SeenCall& seen, const mpi::CallKey& key, const Runtime& runtime)
        : bytes_(key.count * key.element_bytes) {
        if (const auto trial_key = trial_key_of(seen, key, runtime)) in_doubt_.emplace(*trial_key, seen);
    }

    [[nodiscard]] mpi::CallKey::Doubt doubt() const {
        using enum mpi::CallKey::Doubt;
        return !in_doubt_ ? none : in_doubt_->key.rounding ? choice_and_bits : choice;
    }
    /// As all ranks see it.
    [[nodiscard]] Count bytes() const { return bytes_; }
    /// Where there is a trial.
    [[nodiscard]] guard::Site* site() { return in_doubt_ ? &in_doubt_->site : nullptr; }
    /// The trial of this call and what was chosen for it, a Choice, counts the call; nullptr if there is none.
    guard::Trial* begin(const void* chosen) {
        if (!in_doubt_) return nullptr;
        return guard::begin_call({in_doubt_->key, bytes_, chosen}, in_doubt_->site);
    }

  private:
    struct InDoubt {
        // Who has a part of nothing need not wait, as it may be where lengths differ.
        InDoubt(const guard::TrialKey& trial_key, const SeenCall& seen)
            : key(trial_key), site(seen.communicator, seen.call.comm,
                                   seen.function.has.waiting_for_all() && !seen.call.counts.is_argument()) {}

        guard::TrialKey key;
        guard::CommunicatorSite site;
    };

    Count bytes_;
    std::optional<InDoubt> in_doubt_;
};

}  // namespace rondo::interposer
