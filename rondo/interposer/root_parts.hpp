// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "rondo/backends/mpi/exchanging.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from or to a vector on the root, of which each rank gets or gives a part (MPI_Scatter, MPI_Gather; with parts
/// of any lengths MPI_Scatterv, MPI_Gatherv). Lengths are in bytes: ranks may describe them by different datatypes.
/// Where the parts differ, the root knows all lengths, every other rank its own. What all know alike is that there is
/// such a call with this root: so it is never empty, and nothing else may decide. Arguments that are not significant on
/// a rank may be anything.
class RootParts {
  public:
    static constexpr bool takes_empty_type = false;
    static bool is_empty(const UserCall& /*call*/) { return false; }
    /// The call by the arguments that ranks decide by if the parts are equal: those of the vector on the root, those of
    /// the part elsewhere.
    static UserCall significant(UserCall call, Rank rank) {
        if (rank == call.root || call.counts.is_argument()) return call;
        call.count = call.part_count;
        call.datatype = call.part_type;
        return call;
    }
    static Count bytes_of(const SeenCall& seen) { return seen.call.count * seen.type.size * seen.communicator.size(); }

    /// `seen.call` is what `significant` has returned.
    explicit RootParts(const SeenCall& seen)
        : seen_(seen), is_root_(rank() == seen.call.root), scatters_(seen.function.has.output == Share::part),
          whole_{is_root_ ? buffer(scatters_) : nullptr, described_if(is_root_, seen.call.datatype, derived_whole_),
                 counts_of_whole(), has_arrays() ? seen.call.displacements : mpi::Numbers()},
          type_of_part_(described_if(has_own_part(), seen.call.part_type, derived_part_)),
          part_{buffer(!scatters_), type_of_part_, {count_of_part(), 1}, {}},
          fits_(!is_root_ || !has_own_part() || bytes_of_part() == bytes_of_place()), stays_(stays()),
          data_(exchanging()), plan_in_place_(!parts_differ() && stays_ && (scatters_ || data_.incoming().place())) {}

    RootParts(const RootParts&) = delete;  // types may refer to members
    RootParts& operator=(const RootParts&) = delete;
    ~RootParts() = default;

    [[nodiscard]] bool is_nothing() const { return !parts_differ() && bytes_of_equal_parts() <= 0; }
    /// Bytes of the vector; if parts differ, the bytes that this rank sends or receives, whichever are more.
    [[nodiscard]] Count bytes() const {
        return parts_differ() ? std::max(data_.outgoing().bytes(), data_.incoming().bytes()) : bytes_of_equal_parts();
    }
    [[nodiscard]] Count bytes_to_a_count() const {
        return parts_differ() ? 1 : seen_.type.size * seen_.communicator.size();
    }

    [[nodiscard]] mpi::CallKey key() const {
        mpi::CallKey key = seen_.key(parts_differ() ? 0 : bytes(), 1, plan_in_place_);
        key.root = root_within(seen_.call.root, seen_.communicator.size());
        if (parts_differ()) key.division = data_.hash_of_places();
        return key;
    }
    [[nodiscard]] bool has_starts(std::span<const Count> starts) const { return data_.has_places(starts); }
    [[nodiscard]] std::vector<Count> starts() const { return data_.places(); }

    /// Why the library would report an error; nullptr if it would not. Never names an error that the library lets pass.
    [[nodiscard]] const char* wrong() const {
        const MPI_Datatype null = mpi::library().datatype_null;
        if (!is_rank(seen_.call.root, seen_.communicator.size())) return "no such root";
        if (lacks_arrays()) return "no counts or displacements";
        if (has_negative_count()) return "negative count";
        if ((is_root_ && seen_.call.datatype == null) || (has_own_part() && seen_.call.part_type == null)) {
            return doubtful;
        }
        const bool has_bytes = is_root_ && has_parts(), has_own_bytes = has_own_part() && part_.counts[0] > 0;
        if (has_bytes && whole_.buffer == MPI_IN_PLACE) return doubtful;
        if (!is_root_ && has_own_bytes && part_.buffer == MPI_IN_PLACE) return doubtful;
        if (has_bytes && is_reported_null(whole_.buffer, whole_.type, 1)) return doubtful;
        if (has_own_bytes && (is_reported_null(part_.buffer, part_.type, 1) || is_reported_alias())) return doubtful;
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const {
        if (!is_rank(seen_.call.root, seen_.communicator.size()) || has_negative_count() || lacks_arrays()) return true;
        if (!reported::all_types && scatters_) return false;
        return (has_own_part() && is_refused(seen_, part_.buffer, part_.type, part_.counts[0])) ||
               (reported::all_types && is_root_ && is_refused(seen_, whole_.buffer, whole_.type, has_parts() ? 1 : 0));
    }

    template <class Runner>
    int run(Runner& runner, const Plan& plan, bool /*is_wrong*/) const {
        return plan_in_place_ ? run_in_place(runner, plan) : run_exchange(runner, plan, data_);
    }
    /// A root's own part that differs in length from its place is an error of this rank alone.
    [[nodiscard]] int own_error() const {
        if (fits_) return MPI_SUCCESS;
        return scatters_ ? error_of_lengths(bytes_of_place(), bytes_of_part())
                         : error_of_lengths(bytes_of_part(), bytes_of_place());
    }

    int keep_types(mpi::KeptHandles& kept) {
        const int error = kept.keep(derived_whole_);
        return error != MPI_SUCCESS ? error : kept.keep(derived_part_);
    }

  private:
    [[nodiscard]] bool parts_differ() const { return seen_.function.has.local_lengths; }
    /// Bytes of all parts. A negative count says nothing about the other ranks': 1 stands for theirs.
    [[nodiscard]] Count bytes_of_equal_parts() const {
        return (seen_.call.count < 0 ? 1 : seen_.call.count) * seen_.type.size * seen_.communicator.size();
    }
    [[nodiscard]] Rank rank() const { return seen_.communicator.rank(); }
    [[nodiscard]] char* buffer(bool of_input) const {
        return static_cast<char*>(of_input ? const_cast<void*>(seen_.call.input) : seen_.call.output);
    }
    /// True if this rank has a buffer for its part; false on a root whose part stands in the vector.
    [[nodiscard]] bool has_own_part() const { return !is_root_ || buffer(!scatters_) != MPI_IN_PLACE; }
    [[nodiscard]] bool has_arrays() const {
        return is_root_ && seen_.call.counts.array() != nullptr && seen_.call.displacements.array() != nullptr;
    }
    [[nodiscard]] bool lacks_arrays() const { return parts_differ() && is_root_ && !has_arrays(); }
    /// The counts of all parts on the root; none on other ranks.
    [[nodiscard]] mpi::PartCounts counts_of_whole() const {
        const Rank size = seen_.communicator.size();
        if (!is_root_) return {0, 0};
        if (has_arrays()) return {seen_.call.counts, size};
        return {parts_differ() ? 0 : seen_.call.count, size};
    }
    /// Elements of this rank's part. A root may have room for more than it gets.
    [[nodiscard]] Count count_of_part() const {
        if (!has_own_part()) return 0;
        const Count size = type_of_part_.size, count = seen_.call.part_count;
        const bool has_room = scatters_ && is_root_ && size > 0 && count * size > bytes_of_place();
        return has_room && bytes_of_place() % size == 0 ? bytes_of_place() / size : count;
    }
    [[nodiscard]] Count bytes_of_part() const { return part_.counts[0] * part_.type.size; }
    /// The bytes of the place that the root's part has in the vector.
    [[nodiscard]] Count bytes_of_place() const { return whole_.counts[rank()] * whole_.type.size; }
    [[nodiscard]] bool has_parts() const {
        return whole_.counts.any([](Count count) { return count > 0; });
    }
    [[nodiscard]] bool has_negative_count() const {
        return (has_own_part() && seen_.call.part_count < 0) || whole_.counts.any_negative();
    }
    /// True if MPICH reports that the root's part is its place in the vector: it compares sizes and ignores gaps.
    [[nodiscard]] bool is_reported_alias() const {
        const UserCall& call = seen_.call;
        return is_root_ && !parts_differ() && whole_.type.predefined && call.part_type == call.datatype &&
               call.part_count == call.count && whole_.buffer != nullptr &&
               part_.buffer == whole_.buffer + rank() * bytes_of_place() && reported::aliases();
    }
    /// The facts of a datatype: bytes where the argument is not significant.
    static const mpi::Datatype& described_if(bool is_significant, MPI_Datatype handle, mpi::Datatype& derived) {
        return is_significant ? described(handle, derived) : mpi::byte_type();
    }
    /// True if this rank's part does not move. Without a root there is nobody to send to: the plan moves nothing, and
    /// the library's error code replaces its own. MPI_BOTTOM twice is not the same buffer.
    [[nodiscard]] bool stays() const {
        if (!is_rank(seen_.call.root, seen_.communicator.size())) return true;
        const bool stands_in_place = is_root_ && whole_.type.predefined && whole_.buffer != nullptr &&
                                     !lacks_arrays() && part_.buffer == whole_[rank()].buffer;
        return is_root_ && (!has_own_part() || stands_in_place || !fits_);
    }
    /// What moves. If parts differ, a part that stays is taken for empty. If they are equal, a plan has blocks of one
    /// length: a root that gathers gives its part from the vector then, or has it there.
    [[nodiscard]] mpi::Exchanging exchanging() const {
        mpi::notice_device_runtimes();  // memory of a device has to be packed
        const Rank still = parts_differ() && stays_ ? rank() : no_rank;
        const bool from_place = stays_ && is_root_ && !parts_differ();
        const mpi::ExchangedParts whole(whole_, still);
        const mpi::PlacedParts place = {
            static_cast<char*>(whole_[rank()].buffer), whole_.type, {whole_.counts[rank()], 1}, {}};
        const mpi::ExchangedParts part =
            from_place ? mpi::ExchangedParts(place) : mpi::ExchangedParts(part_, still == no_rank ? no_rank : 0);
        return scatters_ ? mpi::Exchanging(whole, part) : mpi::Exchanging(part, whole);
    }
    /// Runs the plan, which finds the root's part in the vector. A scatter only reads that.
    template <class Runner>
    int run_in_place(Runner& runner, const Plan& plan) const {
        const mpi::ExchangedParts& whole = scatters_ ? data_.outgoing() : data_.incoming();
        return run_on_bytes(runner, plan, mpi::Unstaged(),
                            mpi::Staged(whole, scatters_ ? mpi::Staging::before : mpi::Staging::after));
    }

    const SeenCall& seen_;
    const bool is_root_;
    const bool scatters_;
    mpi::Datatype derived_whole_, derived_part_;
    const mpi::PlacedParts whole_;  // the parts of the root's vector; none elsewhere
    const mpi::Datatype& type_of_part_;
    const mpi::PlacedParts part_;  // the part of this rank, as it is described beside the vector
    const bool fits_;
    const bool stays_;
    const mpi::Exchanging data_;
    const bool plan_in_place_;
};

}  // namespace rondo::interposer
