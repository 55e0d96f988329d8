// SPDX-License-Identifier: BSD-3-Clause
// What Rondo keeps with a user's communicator: its place in the world, a context for messages, and plans. It is an
// attribute of the communicator, and is deleted with it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/decision.hpp"
#include "rondo/backends/mpi/operation.hpp"
#include "rondo/backends/mpi/own_communicator.hpp"
#include "rondo/backends/mpi/persistent_numbers.hpp"
#include "rondo/backends/mpi/slot.hpp"
#include "rondo/backends/mpi/world.hpp"

namespace rondo::mpi {

class Communicator {
  public:
    /// The state kept with `comm`: nullptr if none was made yet. Nothing if the library keeps none.
    static std::optional<Communicator*> of(MPI_Comm comm);
    /// Makes the state of `comm`, which has none, without communicating. Throws std::bad_alloc.
    static Communicator* make(MPI_Comm comm);

    /// Keeps the state alive during a call, whose error handler may free the communicator.
    class Use {
      public:
        explicit Use(Communicator& communicator) : communicator_(communicator) { ++communicator.uses_; }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;
        ~Use() {
            if (--communicator_.uses_ == 0 && communicator_.is_freed_) [[unlikely]]
                communicator_.leave();
        }

      private:
        Communicator& communicator_;
    };
    /// Keeps the state alive for a call that may end in any thread.
    class Keeper {
      public:
        explicit Keeper(Communicator& communicator) : communicator_(communicator) { ++communicator.keepers_; }
        Keeper(const Keeper&) = delete;
        Keeper& operator=(const Keeper&) = delete;
        ~Keeper() { communicator_.leave(); }

      private:
        Communicator& communicator_;
    };
    /// Notes that the program has freed the communicator. Its state is deleted when nobody uses it.
    void end() {
        is_freed_ = true;
        if (uses_ == 0) leave();
    }
    [[nodiscard]] bool is_freed() const { return is_freed_; }

    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;
    ~Communicator();

    [[nodiscard]] Rank rank() const { return rank_; }
    /// Number of ranks; 0 for an inter-communicator.
    [[nodiscard]] Rank size() const { return size_; }
    /// How the ranks are spread over the nodes, as far as is known.
    [[nodiscard]] const Spread& spread() const { return spread_; }
    /// True if the ranks have been found in the world.
    [[nodiscard]] bool is_found() const { return !world_ranks_.empty(); }
    /// Finds out where the ranks of `comm`, the communicator of this state, are. False if some are of another program;
    /// then there is a `native_reason`.
    bool find_in_world(MPI_Comm comm);
    /// Where the ranks are, if that is known. They must have been found in the world.
    [[nodiscard]] std::optional<Placement> placement() const { return world().placement(world_ranks_); }
    /// Gets a context for Rondo's own messages, if there is none yet. True if there is one then. The first call is
    /// collective over `comm`, the communicator of this state, whose ranks have been found in the world.
    bool obtain_context(MPI_Comm comm);
    /// Where messages go, and the context of their tags. Needs a context.
    [[nodiscard]] const Route& route() const { return route_; }
    [[nodiscard]] const Context& context() const { return context_; }
    /// Why every call on the communicator goes to the library, a literal; nullptr if it need not.
    [[nodiscard]] const char* native_reason() const { return native_reason_; }
    /// True if the reason is that ranks were given different instructions.
    [[nodiscard]] bool ranks_disagree() const { return world().ranks_disagree(); }

    /// The remembered decision, or nullptr. It stays until the next call of `find` or `remember` for the collective.
    Decision* find(const CallKey& key) { return decisions_[key.collective].find(key); }
    /// Remembers a decision, instead of the one for that key, or of the oldest.
    Decision& remember(const CallKey& key, Decision decision) {
        return decisions_[key.collective].put(key, std::move(decision), decisions_so_far_);
    }

    /// The number of the decision that `find` or `remember` returned last for a collective; 0 if there was none.
    [[nodiscard]] std::uint32_t number_of_decision(std::size_t collective) const {
        return decisions_[collective].last_number();
    }
    /// The decision that had this number; nullptr if another one has taken its place.
    [[nodiscard]] const Decision* decision_of_number(std::size_t collective, std::uint32_t number) const {
        return decisions_[collective].of_number(number);
    }

    /// Runs a plan on buffers of the user. Returns an MPI error code; throws std::bad_alloc.
    int run(const Plan& plan, const Operands& operands) {
        count_call();  // before anything can fail: all ranks count alike
        return execute(plan, operands);
    }
    /// Runs a plan from one buffer to another, both with the interface of Staged. Returns an MPI error code, of the
    /// first thing that went wrong: the others run the plan, whatever this rank could not do before it. Throws
    /// std::bad_alloc.
    template <class Input, class Output>
    int run(const Plan& plan, const Datatype& type, const Reduction* reduction, Input&& input, Output&& output) {
        count_call();
        const MPI_Comm messages = world().messages();
        const int input_entered = input.enter(messages), output_entered = output.enter(messages);
        if (const int error = execute(plan, {input.address(), output.address(), type, reduction}))
            return error;  // messages may still use the buffers
        const int input_left = input.leave(messages), output_left = output.leave(messages);
        return first_error({input_entered, output_entered, input_left, output_left});
    }
    /// Gets what messages of nonblocking calls need, without waiting for other ranks: the context, if that is there or
    /// can be had so, else a communicator of Rondo's own, if the library makes one. That takes longer than a few calls:
    /// the first ones on a new communicator go without, unless they are persistent. False without; equal on all ranks.
    /// Throws std::bad_alloc.
    bool obtain_route_to_begin(MPI_Comm comm, bool is_persistent);
    /// True if all ranks reach each other through memory that they share. Equal on all ranks, which have been found in
    /// the world.
    [[nodiscard]] bool shares_memory() const {
        const Node* const node = world().node();
        return world().shares_memory() && node != nullptr && node->reaches_all(world_ranks_);
    }
    /// Begins a call that goes on while the program does other things. Returns the route of its messages, all of which
    /// the library carries: memory that ranks share is for one call at a time.
    Route begin_call();
    /// The communicator of Rondo's own where messages of calls go that begin now; nullptr if they have the context.
    [[nodiscard]] std::shared_ptr<OwnCommunicator> own() const { return context_.exists() ? nullptr : own_; }
    /// Notes that such a call is over. Any thread may do so, at any time.
    void end_call() { --pending_; }
    /// Takes the place of running a plan that the other ranks may run.
    void skip_call() {
        count_call();
        leave_messages();
    }
    /// A number for a persistent call on `comm`, the communicator of this state, as PersistentNumbers gives it. Needs a
    /// way for messages.
    std::optional<std::uint32_t> number_persistent_call(MPI_Comm comm) {
        return numbers_.take(
            comm, context_.exists() ? context_.most_persistent() : Context::most_persistent_of(promised_tags));
    }
    /// Gives the number back at the end of the call, none of whose starts has failed on this rank.
    void give_back_number(std::uint32_t number) { numbers_.give_back(number); }
    /// The route of the messages of such a call when it is started for the `starts`-th time. `has_context`: else they
    /// go to the communicator of Rondo's own.
    [[nodiscard]] Route route_of_start(std::uint32_t call, std::uint32_t starts, bool has_context) const {
        return route_to_begin(
            has_context, has_context ? context_.tag(call, starts) : Context::tag_of_start(call, starts, promised_tags));
    }
    /// The number of this state, which no other one of this process has or had.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    /// How many calls there were here so far that have run a plan, or might have. Equal on all ranks.
    [[nodiscard]] std::uint32_t calls() const { return calls_; }
    /// Notes that a plan has failed: messages that the others have sent may still come.
    void leave_messages() { messages_may_be_left_ = true; }
    /// True if the library takes data of this type for a message. Needs a context.
    [[nodiscard]] bool can_send(const void* data, const Datatype& type) const;
    /// True if the library reports arguments that MPI forbids; it may have been told not to, and then carries calls out
    /// as well as it can. Needs a context.
    [[nodiscard]] bool library_checks_arguments() const;

    /// Room for the guard's trials of this communicator.
    [[nodiscard]] Slot<5888>& slot() { return slot_; }

    static constexpr std::size_t most_collectives = 16;  ///< the indices of collectives are below

  private:
    static constexpr int promised_tags = 1 << 15;  // on every communicator

    Communicator();
    void set_up(MPI_Comm comm);
    bool translate_ranks(MPI_Comm comm);
    void leave() {
        if (--keepers_ == 0) delete this;
    }
    /// Counts a call, whose tag must not be that of one that goes on.
    void count_call() {
        ++calls_;
        if (pending_ > 0 && tag(calls_) == tag(oldest_pending_)) [[unlikely]]
            wait_for_pending();
    }
    [[nodiscard]] int tag(std::uint32_t call) const {
        return context_.exists() ? context_.tag(call) : Context::tag_of_call(call, promised_tags);
    }
    [[nodiscard]] Route route_to_begin(bool has_context, int tag) const;
    void wait_for_pending();
    static int first_error(std::initializer_list<int> errors) {
        const auto* const found = std::ranges::find_if(errors, [](int error) { return error != MPI_SUCCESS; });
        return found != errors.end() ? *found : MPI_SUCCESS;
    }
    int execute(const Plan& plan, const Operands& operands) {
        route_.tag = context_.tag(calls_);
        return operation_.run(plan, operands, route_);
    }

    const std::uint64_t number_;
    Context context_;
    Route route_{};  // the route of all calls here, once there is a context
    bool asked_for_context_ = false;
    std::shared_ptr<OwnCommunicator> own_;
    int begun_without_ = 0;  // nonblocking calls for which there was no way for messages
    Rank rank_ = 0, size_ = 1;
    Spread spread_;
    std::vector<Rank> world_ranks_;  // the world ranks of the ranks here, once they are found; room was made before
    std::uint32_t calls_ = 0;
    PersistentNumbers numbers_;              // of persistent calls
    std::atomic<std::uint32_t> pending_{0};  // calls that go on while the program does other things
    std::uint32_t oldest_pending_ = 0;       // no such call has a lower number
    std::atomic<bool> messages_may_be_left_{false};
    bool is_freed_ = false;
    int uses_ = 0;                 // MPI allows one call of a collective at a time
    std::atomic<int> keepers_{1};  // calls that go on; one is the program's, until it frees the communicator
    const char* native_reason_ = nullptr;
    Decisions decisions_[most_collectives];
    std::uint32_t decisions_so_far_ = 0;
    Operation operation_;
    Slot<5888> slot_;
};

/// Makes the attribute key. Called once, after MPI_Init and `connect`. False if the library refuses.
bool prepare_communicators();
/// Frees the attribute key in MPI_Finalize. No state is asked for from then on.
void end_communicators();

}  // namespace rondo::mpi
