// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "rondo/backends/mpi/packing.hpp"
#include "rondo/interposer/seen_call.hpp"

namespace rondo::interposer {

/// The arguments of a call on the whole vector. (A UserCall has many more, which a call that is served again would have
/// to set to null.)
struct WholeArguments {
    const void* input;  ///< or MPI_IN_PLACE
    void* output;
    Count count;
    Rank root;
};

/// A call to or from the whole vector on every rank. Reduced data are counted in elements; moved data in bytes, since
/// ranks may describe the same bytes by different datatypes.
class WholeVector {
  public:
    static bool is_empty(const UserCall& call) { return call.count == 0; }
    static constexpr bool takes_empty_type = false;

    static Count bytes_of(const SeenCall& seen) { return seen.call.count * seen.type.size; }

    explicit WholeVector(const SeenCall& seen) : seen_(seen) {}

    [[nodiscard]] Count bytes() const { return count() * seen_.type.size; }
    [[nodiscard]] bool is_nothing() const { return bytes() <= 0; }
    [[nodiscard]] Count bytes_to_a_count() const { return seen_.type.size; }

    [[nodiscard]] mpi::CallKey key() const {
        const bool reduces = seen_.reduction != nullptr;
        mpi::CallKey key = seen_.key(reduces ? count() : bytes(), reduces ? seen_.type.size : 1,
                                     in_place(seen_.function.output, arguments(), rank()));
        key.root = root();
        return key;
    }
    [[nodiscard]] bool has_starts(std::span<const Count>) const { return true; }  // the parts are even
    [[nodiscard]] std::vector<Count> starts() const { return {}; }

    /// What MPI forbids on this rank, perhaps on it alone; nullptr for nothing.
    [[nodiscard]] const char* wrong() const {
        if (seen_.call.count < 0) return "negative count";
        if (!has_root()) return "no such root";
        return buffers_in_doubt(seen_.function.output, arguments(), seen_.type, rank()) ? doubtful : nullptr;
    }
    /// True if only the library can carry the call out: the data would travel as bytes, whatever it thinks of their
    /// type, or their count is negative.
    [[nodiscard]] bool refused_by_library() const {
        if (seen_.call.count < 0) return true;
        return seen_.reduction == nullptr && !seen_.type.predefined &&
               !seen_.communicator.can_send(seen_.call.output, seen_.type);
    }
    /// Runs the plan. `is_wrong`: the call is wrong and the library does not check. An input in place is then read from
    /// the output, as the library does, even without a root.
    template <class Runner>
    int run(Runner& runner, const Plan& plan, bool is_wrong) const {
        mpi::notice_device_runtimes();
        WholeArguments call = arguments();
        if (is_wrong && call.input == MPI_IN_PLACE) call.input = call.output;
        call.root = root();
        return run(seen_.function.output, runner, rank(), call, seen_.type, seen_.reduction, plan);
    }
    [[nodiscard]] static int own_error() { return MPI_SUCCESS; }
    static int keep_types(mpi::KeptHandles& /*kept*/) { return MPI_SUCCESS; }

    template <class Runner>
    static int run(Output output, Runner& runner, Rank rank, const WholeArguments& call, const mpi::Datatype& type,
                   const mpi::Reduction* reduction, const Plan& plan) {
        if (reduction == nullptr) return run_on_vector(runner, rank == call.root, call, type, plan);
        const mpi::Operands operands = {call.input, call.output, type, reduction};
        if (!mpi::device_runtime_noticed()) [[likely]]
            return runner.run(plan, operands);
        return run_on_elements(runner, plan, operands, in_place(output, call, rank), call.count,
                               has_output(output, call, rank) ? call.count : 0);
    }

    /// True if the output of this rank is significant after the call.
    static bool has_output(Output output, const WholeArguments& call, Rank rank) {
        if (output == Output::at_the_root) return rank == call.root;
        return output != Output::after_rank_0 || rank > 0;
    }

    /// True if the input stands in the output buffer of this rank.
    static bool in_place(Output output, const WholeArguments& call, Rank rank) {
        if (output == Output::at_the_root && rank != call.root) return false;
        return call.input == MPI_IN_PLACE || call.input == call.output;
    }

    /// True if MPI forbids the buffers and a library that checks its arguments reports them.
    static bool buffers_in_doubt(Output output, const WholeArguments& call, const mpi::Datatype& type, Rank rank) {
        if (is_reported_null(call.input, type, 1)) return true;
        const bool has_root = output == Output::at_the_root;
        if (has_root && rank != call.root) return call.input == MPI_IN_PLACE;
        const bool has_output = rank > 0 || output != Output::after_rank_0;
        if (has_output && is_reported_null(call.output, type, 1)) return true;
        if (!has_output && !reported::unused_outputs) return false;
        const bool alike = output != Output::is_the_input && call.input == call.output;
        return call.output == MPI_IN_PLACE || (alike && (has_root ? reported::aliases_at_root() : reported::aliases()));
    }

  private:
    [[nodiscard]] WholeArguments arguments() const {
        return {seen_.call.input, seen_.call.output, seen_.call.count, seen_.call.root};
    }
    /// Runs the plan on the output, which is all that it knows: the root's data are there before, the others' come.
    template <class Runner>
    static int run_on_vector(Runner& runner, bool is_root, const WholeArguments& call, const mpi::Datatype& type,
                             const Plan& plan) {
        // Nearly all broadcasts take this path; short ones notice the cost of staging.
        if (mpi::lies_as_packed(type) && !mpi::on_device(call.output)) {
            return runner.run(plan, {nullptr, call.output, mpi::byte_type(), nullptr});
        }
        const mpi::UserData data = {call.output, call.count, type};
        const auto when = is_root ? mpi::Staging::before : mpi::Staging::after;
        return run_on_bytes(runner, plan, mpi::Unstaged(), mpi::Staged(mpi::Moved(data), when));
    }
    [[nodiscard]] Rank rank() const { return seen_.communicator.rank(); }
    /// The call's count. A negative one says nothing about the other ranks': 1 stands for theirs, as rules speak of
    /// lengths.
    [[nodiscard]] Count count() const { return seen_.call.count < 0 ? 1 : seen_.call.count; }
    [[nodiscard]] bool has_root() const { return is_rank(seen_.call.root, seen_.communicator.size()); }
    [[nodiscard]] Rank root() const { return root_within(seen_.call.root, seen_.communicator.size()); }

    const SeenCall& seen_;
};

}  // namespace rondo::interposer
