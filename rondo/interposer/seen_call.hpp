// SPDX-License-Identifier: BSD-3-Clause
// What Rondo makes of a call before anything is decided. There is a class for each way in which ranks share the vector
// (whole_vector.hpp, reduced_parts.hpp, gathered_parts.hpp, root_parts.hpp, own_vectors.hpp, meeting.hpp). `serve` asks
// it in turn for
// - is_nothing(): nothing to do. bytes(): those of the whole vector. bytes_of(seen): before anything else is looked at
// - key(): the facts that choice and plan depend on
// - bytes_to_a_count(): bytes of the vector for each of the call's count, or for each of the sum over all ranks
// - has_starts(starts), starts(): how the vector is cut, or where its parts are, where key().division is not 0
// - wrong(), refused_by_library(), run(runner, plan, is_wrong): when a plan is there. The runner is a communicator, or
// a
//   call that goes on when the function has returned (mpi::PendingCall)
// - own_error(): an error of this rank alone, for which the others must not wait, after a plan without errors
// - keep_types(kept): has the call keep its datatypes, which the program may free while it goes on
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/communicator.hpp"
#include "rondo/backends/mpi/device_memory.hpp"
#include "rondo/backends/mpi/exchanging.hpp"
#include "rondo/backends/mpi/pending_call.hpp"
#include "rondo/backends/mpi/staging.hpp"
#include "rondo/interposer/argument_checks.hpp"
#include "rondo/interposer/serve.hpp"

namespace rondo::interposer {

/// True if the operator commutes, as ranks decide by it. They may have told MPI different things of an operator of
/// their own. No scan needs to know: it keeps the order in any case, and must not depend on it, because no library's
/// does.
inline bool commutes(const Wrapped& function, const mpi::Reduction* reduction) {
    return reduction != nullptr && reduction->commutative() && (reduction->predefined() || !function.has.prefix);
}

/// A call with the facts that are known about it. Borrows all that it is made of.
struct SeenCall {
    const Wrapped& function;
    const UserCall& call;
    const mpi::Datatype& type;        ///< of size 0 if it is null or empty
    const mpi::Reduction* reduction;  ///< nullptr if nothing is reduced
    mpi::Communicator& communicator;
    std::uint16_t choice;  ///< number of the choice that the program has made

    /// True if datatype and operator are predefined: their handles cannot come to mean something else.
    [[nodiscard]] bool has_lasting_handles() const {
        return type.predefined && (reduction == nullptr || reduction->predefined());
    }
    [[nodiscard]] mpi::CallKey key(Count count, Count element_bytes, bool in_place) const {
        mpi::CallKey key;
        key.collective = static_cast<std::uint16_t>(function.collective);
        key.choice = choice;
        key.commutative = commutes(function, reduction);
        key.in_place = in_place;
        key.over_int = count > std::numeric_limits<int>::max();
        key.count = count;
        key.element_bytes = element_bytes;
        return key;
    }
};

inline bool is_rank(Rank root, Rank size) { return root >= 0 && root < size; }

/// A root within the communicator. A wrong root may be this rank's alone: it takes part in what the others decide.
inline Rank root_within(Rank root, Rank size) { return is_rank(root, size) ? root : (root % size + size) % size; }

/// True if the library reports a null address for so many bytes.
inline bool is_reported_null(const void* buffer, const mpi::Datatype& type, Count bytes) {
    return reported::null_buffers && type.predefined && bytes > 0 && buffer == nullptr;
}
inline bool is_reported_null(const mpi::PlacedParts& parts) {
    return reported::null_buffers && parts.has_predefined_at_null();
}

inline constexpr const char* doubtful = "doubtful buffers";

/// The facts of a datatype that is given beside the vector's; of size 0 for a null handle.
inline const mpi::Datatype& described(MPI_Datatype handle, mpi::Datatype& derived) {
    const mpi::Datatype* const type = mpi::describe(handle, derived);
    return type != nullptr ? *type : derived = {};
}

/// True if the library refuses to move so many bytes, or elements, of this type.
inline bool is_refused(const SeenCall& seen, void* buffer, const mpi::Datatype& type, Count length) {
    return length > 0 && type.size > 0 && !type.predefined && !seen.communicator.can_send(buffer, type);
}

/// What MPI calls it if what a rank gives itself is not as long as the place for it.
inline int error_of_lengths(Count given, Count place) { return given > place ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT; }

/// Runs a plan on the user's elements, or on copies of those in memory of a device. Of the output, `before` elements
/// are significant before the call if they are the input, and `after` elements after it.
template <class Runner>
int run_on_elements(Runner& runner, const Plan& plan, const mpi::Operands& operands, bool in_place, Count count,
                    Count after) {
    if (!mpi::device_runtime_noticed()) [[likely]]
        return runner.run(plan, operands);
    // The gaps between the user's elements keep their bytes.
    const Count before = in_place ? count : operands.type.contiguous ? 0 : after;
    const Count given = in_place ? 0 : count;
    return runner.run(plan, operands.type, operands.reduction,
                      mpi::HostCopy(operands.input, operands.type, given, given, 0),
                      mpi::HostCopy(operands.output, operands.type, std::max(before, after), before, after));
}

/// Runs a plan whose elements are bytes, from one staged buffer to another.
template <class Runner, class Input, class Output>
int run_on_bytes(Runner& runner, const Plan& plan, Input&& input, Output&& output) {
    return runner.run(plan, mpi::byte_type(), nullptr, std::forward<Input>(input), std::forward<Output>(output));
}

/// Runs the plan of an exchange. In place, outgoing data stand where the plan finds the incoming.
template <class Runner>
int run_exchange(Runner& runner, const Plan& plan, const mpi::Exchanging& data) {
    mpi::Staged incoming(data.incoming(), data.in_place() ? mpi::Staging::both : mpi::Staging::after);
    if (data.in_place()) return run_on_bytes(runner, plan, mpi::Unstaged{data.outgoing().place()}, std::move(incoming));
    return run_on_bytes(runner, plan, mpi::Staged(data.outgoing(), mpi::Staging::before), std::move(incoming));
}

/// What calls on a vector with a part for each rank have in common.
class SeenParts {
  public:
    /// True if an array is missing.
    static bool is_empty(const UserCall& call) { return call.counts.is_missing() || call.displacements.is_missing(); }

    /// `unit`: elements of the vector for each of a count.
    SeenParts(const SeenCall& seen, Count unit)
        : seen_(seen),
          counts_(seen.call.counts.is_argument() ? mpi::PartCounts(seen.call.counts, seen.communicator.size())
                                                 : mpi::PartCounts(seen.call.count, seen.communicator.size())),
          division_(mpi::Division::of(counts_, unit)), unit_(unit) {}

    /// The length of the whole vector, in elements.
    [[nodiscard]] Count whole() const { return division_.count; }
    [[nodiscard]] bool is_nothing() const { return whole() * seen_.type.size <= 0; }
    /// Bytes of the vector for each of the call's count, which stands for all ranks, or, with an array, for each of the
    /// sum.
    [[nodiscard]] Count bytes_to_a_count() const {
        return seen_.type.size * (counts_.plainly_equal() ? counts_.size() : 1);
    }
    [[nodiscard]] bool has_starts(std::span<const Count> starts) const {
        return mpi::starts_at(counts_, unit_, starts);
    }
    [[nodiscard]] std::vector<Count> starts() const { return mpi::starts_of(counts_, unit_); }

  protected:
    [[nodiscard]] const SeenCall& seen() const { return seen_; }
    [[nodiscard]] const mpi::PartCounts& counts() const { return counts_; }
    [[nodiscard]] mpi::CallKey key_of(Count element_bytes, bool in_place) const {
        mpi::CallKey key = seen_.key(whole(), element_bytes, in_place);
        key.division = division_.hash;
        return key;
    }

  private:
    const SeenCall& seen_;
    mpi::PartCounts counts_;
    mpi::Division division_;
    Count unit_;
};

}  // namespace rondo::interposer
