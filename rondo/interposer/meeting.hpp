// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call without data (MPI_Barrier): a plan of elements of no bytes, one of each rank. See docs/decisions/0027.
class Meeting {
  public:
    static bool is_empty(const UserCall& /*call*/) { return false; }
    static constexpr bool takes_empty_type = false;
    static Count bytes_of(const SeenCall& /*seen*/) { return 0; }

    explicit Meeting(const SeenCall& seen) : seen_(seen) {}

    [[nodiscard]] static bool is_nothing() { return false; }
    [[nodiscard]] static Count bytes() { return 0; }
    [[nodiscard]] static Count bytes_to_a_count() { return 1; }  // there are no counts
    [[nodiscard]] mpi::CallKey key() const { return seen_.key(seen_.communicator.size(), 0, false); }
    [[nodiscard]] static bool has_starts(std::span<const Count> /*starts*/) { return true; }
    [[nodiscard]] static std::vector<Count> starts() { return {}; }

    [[nodiscard]] static const char* wrong() { return nullptr; }
    [[nodiscard]] static bool refused_by_library() { return false; }

    template <class Runner>
    static int run(Runner& runner, const Plan& plan, bool /*is_wrong*/ = false) {
        return runner.run(plan, {nullptr, nullptr, mpi::empty_type(), nullptr});
    }
    [[nodiscard]] static int own_error() { return MPI_SUCCESS; }
    static int keep_types(mpi::KeptHandles& /*kept*/) { return MPI_SUCCESS; }

  private:
    const SeenCall& seen_;
};

}  // namespace rondo::interposer
