// SPDX-License-Identifier: BSD-3-Clause
// Calls that go to the library on every communicator of as many ranks, whoever these are. A communicator that lives for
// a moment does without a state of its own for them: to make one and to delete it again takes longer than all else.
#pragma once

#include <array>

#include "rondo/algorithms/registry.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

class ForwardedAnywhere {
  public:
    /// Why such a call on a communicator that has no state yet goes to the library, if that need not be decided; else
    /// nullptr. Now and then it says nothing, so that communicators that stay get a state, which knows more.
    const char* reason(const Wrapped& function, const UserCall& call, const mpi::Datatype& type,
                       const mpi::Reduction* reduction, std::uint16_t choice) {
        const Kind& kind = kinds_[function.collective];
        const bool has_length = function.has.data && !function.has.local_lengths;  // the ranks decide by it
        const bool is_odd = has_length && (call.counts.is_argument() || call.count <= 0);
        if (kind.reason == nullptr || kind.choice != choice || is_odd ||
            kind.commutative != commutes(function, reduction) || ++asked_ % patience == 0) {
            return nullptr;
        }
        Rank size = 0;
        if (mpi::library().Comm_size(call.comm, &size) != MPI_SUCCESS || size != kind.size) return nullptr;
        const Count of_each = has_length ? call.count * type.size : 0;
        const Count bytes = of_each * (function.has.parts() || function.has.all_to_all() ? size : 1);
        return kind.lowest <= bytes && bytes <= kind.highest ? kind.reason : nullptr;
    }

    void remember(const mpi::CallKey& key, Rank size, const mpi::Decision& decision) {
        kinds_[key.collective] = {decision.reason, decision.lowest, decision.highest, size,
                                  key.choice,      key.commutative};
    }

  private:
    static constexpr unsigned patience = 32;

    /// The last decision for a collective that holds on any communicator.
    struct Kind {
        const char* reason = nullptr;
        Count lowest = 0, highest = -1;
        Rank size = 0;
        std::uint16_t choice = 0;
        bool commutative = false;
    };
    std::array<Kind, number_of_collectives> kinds_{};
    unsigned asked_ = 0;
};

/// This thread's; nullptr while it remembers no calls at all.
ForwardedAnywhere* forwarded_anywhere() noexcept;

}  // namespace rondo::interposer
