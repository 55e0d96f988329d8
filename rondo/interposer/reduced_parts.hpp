// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from the whole vector to a part of its sum on each rank.
class ReducedParts {
  public:
    static bool is_empty(const UserCall& call) { return SeenParts::are_missing(call); }
    static constexpr bool takes_empty_type = false;

    static Count bytes_of(const SeenCall& seen) { return ReducedParts(seen).bytes(); }

    explicit ReducedParts(const SeenCall& seen) : seen_(seen), parts_(seen, 1) {}

    [[nodiscard]] Count bytes() const { return parts_.division().count * seen_.type.size; }
    [[nodiscard]] Count bytes_to_a_count() const { return parts_.for_each_counted() * seen_.type.size; }

    [[nodiscard]] mpi::CallKey key() const {
        mpi::CallKey key = seen_.key(parts_.division().count, seen_.type.size, in_place());
        key.division = parts_.division().hash;
        return key;
    }
    [[nodiscard]] bool has_starts(std::span<const Count> starts) const { return parts_.have_starts(starts); }
    [[nodiscard]] std::vector<Count> starts() const { return parts_.starts(); }

    /// The part of this rank may be empty; then only the input means something.
    [[nodiscard]] const char* wrong() const {
        const UserCall& call = seen_.call;
        constexpr const char* doubtful = "doubtful buffers";
        const bool has_output = own_count() > 0 || call.input == MPI_IN_PLACE;
        if (has_output && call.output == MPI_IN_PLACE) return doubtful;
#ifndef RONDO_ABI_OPENMPI
        const bool is_null = call.input == nullptr || (has_output && call.output == nullptr);
        if ((seen_.type.predefined && is_null) || (has_output && call.input == call.output)) return doubtful;
#endif
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const { return false; }

    int run(const Plan& plan, bool /*is_wrong*/) const {
        return run_on_elements(seen_.communicator, plan,
                               {seen_.call.input, seen_.call.output, seen_.type, seen_.reduction}, in_place(),
                               parts_.division().count, own_count());
    }

  private:
    [[nodiscard]] bool in_place() const {
        return seen_.call.input == MPI_IN_PLACE || seen_.call.input == seen_.call.output;
    }
    [[nodiscard]] Count own_count() const { return parts_.counts()[seen_.communicator.rank()]; }

    const SeenCall& seen_;
    const SeenParts parts_;
};

}  // namespace rondo::interposer
