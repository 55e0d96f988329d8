// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "rondo/backends/mpi/packing.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// A call from or to a vector on the root, of which each rank gets or gives a part (MPI_Scatter, MPI_Gather): all of
/// one length, since other ranks do not know of other lengths. Lengths are in bytes: ranks may describe them by
/// different datatypes.
class RootedParts {
  public:
    static constexpr bool takes_empty_type = false;
    /// The call by the arguments that all ranks decide by: those of the vector on the root, those of the part
    /// elsewhere.
    static UserCall deciding(UserCall call, Rank rank) {
        if (rank == call.root) return call;
        call.count = call.part_count;
        call.datatype = call.part_type;
        return call;
    }
    static Count bytes_of(const SeenCall& seen) { return seen.call.count * seen.type.size * seen.communicator.size(); }

    /// `seen.call` is what `deciding` has returned.
    explicit RootedParts(const SeenCall& seen)
        : seen_(seen), is_root_(rank() == seen.call.root), each_(count() * seen.type.size),
          scatters_(seen.function.has.output == Share::part),
          part_buffer_(scatters_ ? seen.call.output : const_cast<void*>(seen.call.input)),
          whole_buffer_(scatters_ ? const_cast<void*>(seen.call.input) : seen.call.output),
          whole_{whole_buffer_, is_root_ ? count() * seen.communicator.size() : 0, seen.type}, part_(own_part()),
          is_in_place_(is_root_ && (part_buffer_ == MPI_IN_PLACE || is_part_of_whole() || !fits())),
          plan_in_place_(is_in_place_ && stands_as_packed(whole_)) {}

    RootedParts(const RootedParts&) = delete;  // `part_` may refer to `derived_`
    RootedParts& operator=(const RootedParts&) = delete;
    ~RootedParts() = default;

    [[nodiscard]] bool is_nothing() const { return each_ <= 0; }
    [[nodiscard]] Count bytes() const { return each_ * seen_.communicator.size(); }
    [[nodiscard]] Count bytes_to_a_count() const { return seen_.type.size * seen_.communicator.size(); }
    [[nodiscard]] mpi::CallKey key() const {
        mpi::CallKey key = seen_.key(bytes(), 1, plan_in_place_);
        key.root = root_within(seen_.call.root, seen_.communicator.size());
        return key;
    }
    [[nodiscard]] bool has_starts(std::span<const Count>) const { return true; }  // the parts are even
    [[nodiscard]] std::vector<Count> starts() const { return {}; }

    /// Why the library would report an error; nullptr if it would not. Never names an error that the library lets pass.
    [[nodiscard]] const char* wrong() const {
        constexpr const char* doubtful = "doubtful buffers";
        if (seen_.call.count < 0) return "negative count";
        if (!is_rank(seen_.call.root, seen_.communicator.size())) return "no such root";
        const bool says_in_place = part_buffer_ == MPI_IN_PLACE;
        if (is_root_ ? whole_buffer_ == MPI_IN_PLACE : says_in_place) return doubtful;
        const bool has_own = is_root_ && !says_in_place;
        if (has_own && (seen_.call.part_count < 0 || seen_.call.part_type == mpi::library().datatype_null))
            return doubtful;
        if (is_reported_null(is_root_ ? whole_buffer_ : part_buffer_, seen_.type, each_)) return doubtful;
        const bool is_null = is_reported_null(part_buffer_, part_.type, part_.bytes());
        if (has_own && (is_null || is_reported_alias())) return doubtful;
        return nullptr;
    }
    [[nodiscard]] bool refused_by_library() const {
        if (seen_.call.count < 0) return true;
        const bool has_part = !is_root_ || part_buffer_ != MPI_IN_PLACE;
        if (!reported::all_types && scatters_) return false;
        return (reported::all_types && is_root_ && is_refused(whole_)) || (has_part && is_refused(part_));
    }

    /// Runs the plan. A root's own part that differs in length from the others is an error of this rank alone, for
    /// which they must not wait.
    int run(const Plan& plan, bool /*is_wrong*/) const {
        mpi::notice_device_runtimes();
        const mpi::UserData standing = {static_cast<char*>(whole_buffer_) + own_offset(), count(), seen_.type};
        const mpi::Moved whole = is_root_ ? mpi::Moved(whole_) : mpi::Moved(0);
        const mpi::Moved part = !is_in_place_ ? mpi::Moved(part_)
                                : scatters_   ? mpi::Moved(each_)
                                              : mpi::Moved(standing);
        const mpi::Moved nothing(0);
        const mpi::Moved &from = plan_in_place_ ? nothing
                                 : scatters_    ? whole
                                                : part,
                         &into = plan_in_place_ || !scatters_ ? whole : part;
        const int error = run_on_bytes(seen_.communicator, plan, mpi::Staged(from, mpi::Staging::before),
                                       mpi::Staged(into, mpi::Staging::after));
        if (error != MPI_SUCCESS || fits()) return error;
        return (part_.bytes() > each_) != scatters_ ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
    }

  private:
    static bool stands_as_packed(const mpi::UserData& data) {
        mpi::notice_device_runtimes();
        return mpi::lies_as_packed(data.type) && !mpi::on_device(data.buffer);
    }
    [[nodiscard]] bool is_refused(const mpi::UserData& data) const {
        return data.bytes() > 0 && !data.type.predefined && !seen_.communicator.can_send(data.buffer, data.type);
    }
    [[nodiscard]] Rank rank() const { return seen_.communicator.rank(); }
    /// Elements of a part, in the deciding type. A negative count says nothing about the other ranks': 1 stands for
    /// theirs.
    [[nodiscard]] Count count() const { return seen_.call.count < 0 ? 1 : seen_.call.count; }
    [[nodiscard]] Count own_offset() const { return rank() * count() * seen_.type.extent; }
    /// The part as this rank has described it; on the root, beside the vector.
    mpi::UserData own_part() {
        if (!is_root_) return {part_buffer_, count(), seen_.type};
        if (part_buffer_ == MPI_IN_PLACE) return {nullptr, count(), seen_.type};
        const mpi::Datatype* type = mpi::describe(seen_.call.part_type, derived_);
        if (type == nullptr) type = &(derived_ = {});  // of size 0
        // A root may have room for more than it gets.
        const bool has_room = scatters_ && type->size > 0 && seen_.call.part_count * type->size > each_;
        return {part_buffer_, has_room && each_ % type->size == 0 ? each_ / type->size : seen_.call.part_count, *type};
    }
    [[nodiscard]] bool fits() const { return part_.bytes() == each_; }
    /// True if MPICH reports that the root's part is its place in the vector: it compares sizes and ignores gaps.
    [[nodiscard]] bool is_reported_alias() const {
        const UserCall& call = seen_.call;
        return seen_.type.predefined && call.part_type == call.datatype && call.part_count == call.count &&
               whole_buffer_ != nullptr && part_buffer_ == static_cast<char*>(whole_buffer_) + rank() * each_ &&
               reported::aliases();
    }
    /// True if the root's part stands at its place in the vector. MPI_BOTTOM twice is not the same buffer.
    [[nodiscard]] bool is_part_of_whole() const {
        return is_root_ && seen_.type.predefined && whole_buffer_ != nullptr &&
               part_buffer_ == static_cast<char*>(whole_buffer_) + own_offset();
    }

    const SeenCall& seen_;
    bool is_root_;
    Count each_;  // bytes of a part
    bool scatters_;
    void* part_buffer_;
    void* whole_buffer_;
    mpi::Datatype derived_;
    mpi::UserData whole_, part_;
    bool is_in_place_;    // the root's own part stands in the vector
    bool plan_in_place_;  // the plan finds the root's own part in the vector
};

}  // namespace rondo::interposer
