// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/backends/mpi/gathering.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from a part of the vector on each rank to the whole of it on all (MPI_Allgather, MPI_Allgatherv). Lengths are
/// in bytes: ranks may describe them by different datatypes.
class GatheredParts : public SeenParts {
  public:
    /// An empty type is taken: other ranks may describe as little data by another type, and take part.
    static constexpr bool takes_empty_type = true;
    static Count bytes_of(const SeenCall& seen) { return SeenParts(seen, seen.type.size).whole(); }

    explicit GatheredParts(const SeenCall& seen)
        : SeenParts(seen, seen.type.size),
          placed_{static_cast<char*>(seen.call.output), seen.type, counts(), seen.call.displacements},
          own_part_(placed_[seen.communicator.rank()]),
          // Open MPI takes the address of the own part for MPI_IN_PLACE. MPI_BOTTOM twice is not the same buffer.
          in_place_(seen.call.input == MPI_IN_PLACE || (seen.type.predefined && seen.call.input == own_part_.buffer)),
          input_(in_place_ ? own_part_ : given()), fits_(input_.bytes() == own_part_.bytes()), data_(gathering()) {}

    GatheredParts(const GatheredParts&) = delete;  // `input_` may refer to `derived_`
    GatheredParts& operator=(const GatheredParts&) = delete;
    ~GatheredParts() = default;

    [[nodiscard]] Count bytes() const { return whole(); }
    [[nodiscard]] mpi::CallKey key() const { return key_of(1, data_.plan_in_place()); }

    /// Why the library would report an error; nullptr if it would not. Never names an error that the library lets pass.
    [[nodiscard]] const char* wrong() const {
        const UserCall& call = seen().call;
        if (call.output == MPI_IN_PLACE) return doubtful;
        const bool has_input = call.input != MPI_IN_PLACE;
        if (has_input && (call.input_count < 0 || call.input_type == mpi::library().datatype_null)) return doubtful;
        if (is_reported_null(placed_)) return doubtful;
        const bool is_null = is_reported_null(call.input, input_.type, input_.bytes());
        if (has_input && (is_null || is_reported_alias())) return doubtful;
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const {
        if (reported::all_types && !seen().type.predefined &&
            !seen().communicator.can_send(seen().call.output, seen().type)) {
            return true;
        }
        return is_refused(seen(), input_.buffer, input_.type, input_.bytes());
    }

    template <class Runner>
    int run(Runner& runner, const Plan& plan, bool /*is_wrong*/) const {
        return run_on_bytes(runner, plan, mpi::Unstaged{const_cast<void*>(data_.input())},
                            mpi::Staged(data_, mpi::Staging::both));
    }
    /// An input that differs in length from the own part is an error of this rank alone. The others get what stands in
    /// its part.
    [[nodiscard]] int own_error() const {
        return fits_ ? MPI_SUCCESS : error_of_lengths(input_.bytes(), own_part_.bytes());
    }
    int keep_types(mpi::KeptHandles& kept) { return kept.keep(derived_); }

  private:
    /// True if MPICH reports that the input is the own part of the output: it compares sizes and ignores gaps.
    [[nodiscard]] bool is_reported_alias() const {
        const UserCall& call = seen().call;
        const Rank rank = seen().communicator.rank();
        const char* const place = mpi::beyond(placed_.buffer, placed_.displacement(rank) * seen().type.size);
        return seen().type.predefined && own_part_.count > 0 && call.input == place &&
               call.input_type == call.datatype && call.input_count == own_part_.count && reported::aliases();
    }
    mpi::Gathering gathering() const {
        mpi::notice_device_runtimes();  // memory of a device has to be packed
        return {fits_ ? input_ : own_part_, in_place_ || !fits_, placed_, seen().communicator.rank()};
    }
    mpi::UserData given() {
        return {const_cast<void*>(seen().call.input), seen().call.input_count,
                described(seen().call.input_type, derived_)};
    }

    const mpi::PlacedParts placed_;
    const mpi::UserData own_part_;
    const bool in_place_;
    mpi::Datatype derived_;
    const mpi::UserData input_;
    const bool fits_;
    const mpi::Gathering data_;
};

}  // namespace rondo::interposer
