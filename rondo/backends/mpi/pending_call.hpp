// SPDX-License-Identifier: BSD-3-Clause
// A collective that the program has begun and not yet completed.
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/backends/mpi/communicator.hpp"
#include "rondo/backends/mpi/kept_operators.hpp"

namespace rondo::mpi {

/// Datatypes and an operator that the program may free while a call needs them.
class KeptHandles {
  public:
    KeptHandles() = default;
    KeptHandles(const KeptHandles&) = delete;
    KeptHandles& operator=(const KeptHandles&) = delete;
    ~KeptHandles();

    /// Has the facts speak of a datatype like theirs that nobody else frees. Returns an MPI error code; throws
    /// std::bad_alloc.
    int keep(Datatype& type);
    /// Keeps an operator, and the datatype that it is called with, by the handle that the program has. Returns an MPI
    /// error code; throws std::bad_alloc.
    int keep(MPI_Op op, const Datatype& type);

  private:
    std::vector<MPI_Datatype> types_;
    KeptOperator operator_;
};

/// A collective under way on this rank that owns all it needs. Only the library's engine of progress lets it go on.
class PendingCall {
  public:
    /// `plan`: what is carried out on `communicator`, which has a way for messages.
    PendingCall(Communicator& communicator, std::shared_ptr<const Plan> plan)
        : keeper_(communicator), communicator_(communicator), plan_(std::move(plan)), own_(communicator.own()) {}
    PendingCall(const PendingCall&) = delete;
    PendingCall& operator=(const PendingCall&) = delete;
    virtual ~PendingCall();

    /// How many calls have a generalized request that is not completed.
    static int number_with_requests() { return with_requests.load(std::memory_order_relaxed); }

    /// Begins a call, which `request`, a generalized one of the library, stands for from then on. Returns an MPI error
    /// code: then the rank takes no part.
    static int begin(std::unique_ptr<PendingCall> call, MPI_Request* request);

    /// The request of a persistent call, which owns it.
    class Owner {
      public:
        /// Called when a start is over, with its MPI error code. The call does nothing after that, and may be gone.
        virtual void complete(int error) = 0;

      protected:
        ~Owner() = default;
    };
    /// Makes the call a persistent one. `number`: that of its communicator. Returns an MPI error code.
    int persist(Owner& owner, std::uint32_t number);
    /// Starts a persistent call, of which no start is under way.
    void start_again();

    // What a call of a blocking form asks of a communicator. The plan is begun. Both return an MPI error code.
    int run(const Plan& plan, const Operands& operands);
    template <class Input, class Output>
    int run(const Plan& plan, const Datatype& type, const Reduction* reduction, Input&& input, Output&& output) {
        using Staging = Buffers<std::remove_cvref_t<Input>, std::remove_cvref_t<Output>>;
        buffers_ = std::make_unique<Staging>(std::forward<Input>(input), std::forward<Output>(output));
        const MPI_Comm messages = world().messages();
        note(buffers_->enter(messages));
        return run(plan, {buffers_->input(), buffers_->output(), type, reduction});
    }

    /// Goes on as far as is possible without waiting. True if the call is over: then it may be gone.
    bool poll();

  protected:
    /// Keeps what the program may free while the call goes on. Returns an MPI error code; throws std::bad_alloc.
    virtual int keep_handles() = 0;
    /// Runs the plan on this call. Returns an MPI error code; throws std::bad_alloc.
    virtual int start(const Plan& plan) = 0;
    /// Notes that the call is over. Returns its MPI error code, if that of the plan is this one.
    virtual int finish(int error) = 0;

  private:
    friend class PendingCalls;

    /// The buffers of the plan, both with the interface of Staged.
    struct AnyBuffers {
        AnyBuffers() = default;
        AnyBuffers(const AnyBuffers&) = delete;
        AnyBuffers& operator=(const AnyBuffers&) = delete;
        virtual ~AnyBuffers() = default;
        virtual int enter(MPI_Comm comm) = 0;
        virtual int leave(MPI_Comm comm) = 0;
        virtual void* input() = 0;
        virtual void* output() = 0;
    };
    template <class Input, class Output>
    struct Buffers final : AnyBuffers {
        Buffers(Input&& from, Output&& into) : input_buffer(std::move(from)), output_buffer(std::move(into)) {}
        int enter(MPI_Comm comm) override {
            const int error = input_buffer.enter(comm), other = output_buffer.enter(comm);
            return error != MPI_SUCCESS ? error : other;
        }
        int leave(MPI_Comm comm) override {
            const int error = input_buffer.leave(comm), other = output_buffer.leave(comm);
            return error != MPI_SUCCESS ? error : other;
        }
        void* input() override { return input_buffer.address(); }
        void* output() override { return output_buffer.address(); }

        Input input_buffer;
        Output output_buffer;
    };

    int keep_handles_or_fail();
    void go_on();
    bool start_plan();
    bool advance();
    void complete();
    /// Keeps the first error.
    void note(int error) {
        if (error_ == MPI_SUCCESS) error_ = error;
    }
    /// Called when nothing is left for this thread to do: whoever completes the request may go on with the call.
    void hand_over() { is_over_.store(true, std::memory_order_release); }
    void take_over() { is_over_.exchange(false, std::memory_order_acquire); }
    static int query(void* call, MPI_Status* status);
    static int release(void* call);
    static int cancel(void* call, int is_complete);

    static inline std::atomic<int> with_requests{0};

    PendingCall* next_ = nullptr;  // in PendingCalls
    Communicator::Keeper keeper_;
    Communicator& communicator_;
    std::shared_ptr<const Plan> plan_;
    std::shared_ptr<OwnCommunicator> own_;  // for the messages, once it is ready; nullptr if they have a context
    std::unique_ptr<AnyBuffers> buffers_;
    Route route_{};
    Operation operation_;
    MPI_Request request_{};   // unless there is an owner
    Owner* owner_ = nullptr;  // of a persistent call
    std::uint32_t number_ = 0, starts_ = 0;
    bool has_ever_failed_ = false;
    int error_ = MPI_SUCCESS;
    std::atomic<bool> is_over_{false};
    bool is_started_ = false;  // there has been an attempt
    bool is_running_ = false;  // the plan has not come to its end
    bool has_failed_ = false;  // this rank could not carry the plan out
};

}  // namespace rondo::mpi
