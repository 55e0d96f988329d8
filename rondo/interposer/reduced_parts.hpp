// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from the whole vector to a part of its sum on each rank (MPI_Reduce_scatter, MPI_Reduce_scatter_block).
class ReducedParts : public SeenParts {
  public:
    static constexpr bool takes_empty_type = false;
    static Count bytes_of(const SeenCall& seen) { return ReducedParts(seen).bytes(); }

    explicit ReducedParts(const SeenCall& seen) : SeenParts(seen, 1) {}

    [[nodiscard]] Count bytes() const { return whole() * seen().type.size; }
    [[nodiscard]] mpi::CallKey key() const { return key_of(seen().type.size, in_place()); }

    /// What MPI forbids on this rank; nullptr for nothing. If its part is empty, only the input is significant.
    [[nodiscard]] const char* wrong() const {
        const UserCall& call = seen().call;
        const bool has_output = own_count() > 0 || call.input == MPI_IN_PLACE;
        if (has_output && call.output == MPI_IN_PLACE) return doubtful;
        const bool is_null = is_reported_null(call.input, seen().type, bytes()) ||
                             (has_output && is_reported_null(call.output, seen().type, bytes()));
        if (is_null || (has_output && call.input == call.output && reported::aliases())) return doubtful;
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const { return false; }

    template <class Runner>
    int run(Runner& runner, const Plan& plan, bool /*is_wrong*/) const {
        mpi::notice_device_runtimes();
        return run_on_elements(runner, plan, {seen().call.input, seen().call.output, seen().type, seen().reduction},
                               in_place(), whole(), own_count());
    }
    [[nodiscard]] static int own_error() { return MPI_SUCCESS; }
    static int keep_types(mpi::KeptHandles& /*kept*/) { return MPI_SUCCESS; }

  private:
    [[nodiscard]] bool in_place() const {
        return seen().call.input == MPI_IN_PLACE || seen().call.input == seen().call.output;
    }
    [[nodiscard]] Count own_count() const { return counts()[seen().communicator.rank()]; }
};

}  // namespace rondo::interposer
