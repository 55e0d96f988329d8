// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "rondo/backends/mpi/exchanging.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from or to a vector on the root, of which each rank gets or gives a part, of any length (MPI_Scatterv,
/// MPI_Gatherv). The root knows all lengths, every other rank its own. What all know alike is that there is such a call
/// with this root: so it is never empty, and nothing else may decide. Arguments that are not significant on a rank may
/// be anything. Lengths are in bytes: ranks may describe them by different datatypes.
class DifferingParts {
  public:
    static constexpr bool has_type = false;  // which of two types it is depends on the rank
    static constexpr bool takes_empty_type = true;
    static bool is_empty(const UserCall& /*call*/) { return false; }
    static Count bytes_of(const SeenCall& /*seen*/) { return 0; }

    explicit DifferingParts(const SeenCall& seen)
        : seen_(seen), is_root_(seen.communicator.rank() == seen.call.root),
          scatters_(seen.function.has.output == Share::part),
          type_of_whole_(described(is_root_, seen.call.datatype, derived_whole_)),
          type_of_part_(described(has_own_part(), seen.call.part_type, derived_part_)),
          whole_{buffer_of_whole(), type_of_whole_, counts_of_whole(),
                 has_arrays() ? seen.call.displacements : mpi::Numbers()},
          part_{buffer_of_part(), type_of_part_, {count_of_part(), 1}, {}},
          fits_(!is_root_ || !has_own_part() || bytes_of_part() == bytes_of_place()), data_(exchanging()) {}

    DifferingParts(const DifferingParts&) = delete;  // types may refer to members
    DifferingParts& operator=(const DifferingParts&) = delete;
    ~DifferingParts() = default;

    /// The bytes that this rank sends or receives, whichever are more.
    [[nodiscard]] Count bytes() const { return std::max(data_.outgoing().bytes(), data_.incoming().bytes()); }
    [[nodiscard]] static bool is_nothing() { return false; }
    [[nodiscard]] static Count bytes_to_a_count() { return 1; }  // no counts are added up

    [[nodiscard]] mpi::CallKey key() const {
        mpi::CallKey key = seen_.key(0, 1, false);
        key.root = root_within(seen_.call.root, seen_.communicator.size());
        key.division = data_.hash_of_places();
        return key;
    }
    [[nodiscard]] bool has_starts(std::span<const Count> starts) const { return data_.has_places(starts); }
    [[nodiscard]] std::vector<Count> starts() const { return data_.places(); }

    /// Why the library would report an error; nullptr if it would not. Never names an error that the library lets pass.
    [[nodiscard]] const char* wrong() const {
        constexpr const char* doubtful = "doubtful buffers";
        const MPI_Datatype null = mpi::library().datatype_null;
        if (!is_rank(seen_.call.root, seen_.communicator.size())) return "no such root";
        if (is_root_ != has_arrays()) return "no counts or displacements";
        if (has_negative_count()) return "negative count";
        if ((is_root_ && seen_.call.datatype == null) || (has_own_part() && seen_.call.part_type == null)) {
            return doubtful;
        }
        const bool has_bytes = is_root_ && has_parts(), has_own_bytes = has_own_part() && part_.counts[0] > 0;
        if (has_bytes && whole_.buffer == MPI_IN_PLACE) return doubtful;
        if (!is_root_ && has_own_bytes && part_.buffer == MPI_IN_PLACE) return doubtful;
        if (has_bytes && is_reported_null(whole_.buffer, whole_.type, 1)) return doubtful;
        if (has_own_bytes && is_reported_null(part_.buffer, part_.type, 1)) return doubtful;
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const {
        if (!is_rank(seen_.call.root, seen_.communicator.size()) || has_negative_count()) return true;
        if (is_root_ != has_arrays()) return true;
        if (!reported::all_types && scatters_) return false;
        return (has_own_part() && is_refused(part_, part_.counts[0] > 0)) ||
               (reported::all_types && is_root_ && is_refused(whole_, has_parts()));
    }

    /// Runs the plan. A root's own part that differs in length from its place is an error of this rank alone, for which
    /// the others must not wait.
    int run(const Plan& plan, bool /*is_wrong*/) const {
        const int error = run_exchange(seen_.communicator, plan, data_);
        if (error != MPI_SUCCESS || fits_) return error;
        return (bytes_of_part() > bytes_of_place()) != scatters_ ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
    }

  private:
    [[nodiscard]] Rank rank() const { return seen_.communicator.rank(); }
    [[nodiscard]] char* buffer_of_whole() const {
        if (!is_root_) return nullptr;
        return static_cast<char*>(scatters_ ? const_cast<void*>(seen_.call.input) : seen_.call.output);
    }
    [[nodiscard]] char* buffer_of_part() const {
        return static_cast<char*>(scatters_ ? seen_.call.output : const_cast<void*>(seen_.call.input));
    }
    /// True if this rank has a buffer for its part; false on a root whose part stands in the vector.
    [[nodiscard]] bool has_own_part() const { return !is_root_ || buffer_of_part() != MPI_IN_PLACE; }
    [[nodiscard]] bool has_arrays() const {
        return is_root_ && seen_.call.counts.array() != nullptr && seen_.call.displacements.array() != nullptr;
    }
    /// The counts of all parts on the root; none on other ranks.
    [[nodiscard]] mpi::PartCounts counts_of_whole() const {
        const Rank size = seen_.communicator.size();
        return has_arrays() ? mpi::PartCounts(seen_.call.counts, size) : mpi::PartCounts(0, is_root_ ? size : 0);
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
        for (Rank each = 0; each < whole_.counts.size(); ++each) {
            if (whole_.counts[each] > 0) return true;
        }
        return false;
    }
    [[nodiscard]] bool has_negative_count() const {
        if (has_own_part() && seen_.call.part_count < 0) return true;
        for (Rank each = 0; each < whole_.counts.size(); ++each) {
            if (whole_.counts[each] < 0) return true;
        }
        return false;
    }
    [[nodiscard]] bool is_refused(const mpi::PlacedParts& parts, bool has_bytes) const {
        return has_bytes && parts.type.size > 0 && !parts.type.predefined &&
               !seen_.communicator.can_send(parts.buffer, parts.type);
    }
    /// The facts of a datatype: bytes where the argument is not significant, a type of size 0 for a null handle.
    static const mpi::Datatype& described(bool means_something, MPI_Datatype handle, mpi::Datatype& derived) {
        if (!means_something) return mpi::byte_type();
        const mpi::Datatype* const type = mpi::describe(handle, derived);
        return type != nullptr ? *type : derived = {};
    }
    /// True if the root's part stands at its place in the vector. MPI_BOTTOM twice is not the same buffer.
    [[nodiscard]] bool stands_in_place() const {
        return whole_.type.predefined && whole_.buffer != nullptr && has_arrays() &&
               static_cast<void*>(part_.buffer) == whole_[rank()].buffer;
    }
    [[nodiscard]] mpi::Exchanging exchanging() const {
        mpi::notice_device_runtimes();  // memory of a device has to be packed
        // Without a root, there is nobody to send to: the plan moves nothing, and the library's error code replaces its
        // own.
        const bool has_root = is_rank(seen_.call.root, seen_.communicator.size());
        const bool stays = !has_root || (is_root_ && (!has_own_part() || stands_in_place() || !fits_));
        const mpi::ExchangedParts whole(whole_, stays ? rank() : no_rank), part(part_, stays ? 0 : no_rank);
        return scatters_ ? mpi::Exchanging(whole, part) : mpi::Exchanging(part, whole);
    }

    const SeenCall& seen_;
    bool is_root_;
    bool scatters_;
    mpi::Datatype derived_whole_, derived_part_;
    const mpi::Datatype &type_of_whole_, &type_of_part_;
    const mpi::PlacedParts whole_;  // the parts of the root's vector; none elsewhere
    const mpi::PlacedParts part_;   // the part of this rank
    const bool fits_;
    const mpi::Exchanging data_;
};

}  // namespace rondo::interposer
