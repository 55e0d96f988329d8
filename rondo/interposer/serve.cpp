// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/serve.hpp"

#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <set>

#include "rondo/core/error.hpp"
#include "rondo/interposer/report.hpp"

namespace rondo::interposer {
namespace {

using mpi::CallKey;
using mpi::Communicator;
using mpi::Decision;

/// Counts a call that begins now, if anybody wants to know.
class Stopwatch {
  public:
    explicit Stopwatch(bool running) : running_(running), start_(running ? now() : 0) {}
    void stop(mpi::Tally* tally, Count bytes) const {
        if (running_ && tally != nullptr) tally->count(static_cast<std::uint64_t>(bytes), now() - start_);
    }

  private:
    bool running_;
    std::uint64_t start_;
};

/// Calls of one collective that went to the library.
struct Left {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<const char*> reason{""};
};
std::array<Left, most_collectives> left;

void note_left(std::size_t collective, const char* reason) {
    left[collective].calls.fetch_add(1, std::memory_order_relaxed);
    left[collective].reason.store(reason, std::memory_order_relaxed);
}

/// The same text, for ever.
const char* kept(const std::string& text) {
    static std::mutex& mutex = *new std::mutex;
    static std::set<std::string>& texts = *new std::set<std::string>;
    const std::lock_guard lock(mutex);
    return texts.insert(text).first->c_str();
}

/// Facts of the call that choice and plan depend on.
CallKey key_of(std::size_t collective, std::uint16_t choice, const PrefixCall& call, bool in_place,
               const mpi::Reduction& reduction) {
    const mpi::Datatype& type = reduction.type();
    CallKey key;
    key.collective = static_cast<std::uint16_t>(collective);
    key.choice = choice;
    key.commutative = reduction.commutative();
    key.in_place = in_place;
    key.over_int = call.count > std::numeric_limits<int>::max();
    key.count = call.count;
    key.element_bytes = type.size;
    return key;
}

bool large_messages_possible() {
#ifdef RONDO_HAVE_LARGE_COUNT_API
    return mpi::library().Isend_c != nullptr && mpi::library().Irecv_c != nullptr;
#else
    return false;
#endif
}

Decision native_decision(const Runtime& runtime, const Collective& collective, const std::string& reason) {
    return {nullptr, runtime.reporting ? tally_of(collective.name, "native", reason) : nullptr, kept(reason)};
}

Decision decide(const Runtime& runtime, const CallKey& key, Communicator& communicator, MPI_Comm comm) {
    const Collective& subject = collectives()[key.collective];
    if (key.over_int && !large_messages_possible()) {
        return native_decision(runtime, subject, "messages of more than 2^31-1 elements");
    }
    Situation situation{.collective = subject.name,
                        .bytes = key.count * key.element_bytes,
                        .processes = communicator.size(),
                        .commutative = key.commutative};
    if (runtime.instructions.ask_ranks_per_node(key.collective, situation)) {
        situation.ranks_per_node = communicator.ranks_per_node(comm);
    }
    const Choice* choice = runtime.instructions.choose(key.collective, situation);
    if (choice == nullptr) return native_decision(runtime, subject, "no rule");
    if (choice->algorithm == nullptr) return native_decision(runtime, subject, "chosen");
    const CallFacts facts{
        .size = communicator.size(), .count = key.count, .element_bytes = key.element_bytes, .op = {key.commutative}};
    if (const auto refusal = choice->algorithm->refusal(facts, choice->settings)) {
        const std::string reason = std::string(choice->algorithm->name) + " refuses: " + *refusal;
        static std::atomic<bool> said{false};
        if (communicator.rank() == 0 && !said.exchange(true))
            warn((reason + "; the native collective is used").c_str());
        return native_decision(runtime, subject, reason);
    }
    if (!communicator.can_communicate(comm)) {
        return native_decision(runtime, subject, "no duplicate of the communicator to be had");
    }
    const Call call(facts, communicator.rank(), choice->settings, key.in_place);
    auto plan = std::make_unique<Plan>(Plan::of(call, *choice->algorithm));
    return {std::move(plan), runtime.reporting ? tally_of(subject.name, choice->algorithm->name, "") : nullptr};
}

void warn_of_disagreement(const Communicator& communicator) {
    static std::atomic<bool> said{false};
    if (!communicator.ranks_disagree() || communicator.rank() != 0 || said.exchange(true)) return;
    warn("the ranks were given different RONDO_ variables or rules; the native collectives are used");
}

/// Buffers that MPI forbids: for the library to judge. MPICH's family compares them on every rank; Open MPI looks only
/// at an output that means something, and takes the same buffer for both.
bool buffers_in_doubt(const Wrapped& function, const PrefixCall& call, const mpi::Datatype& type, Rank rank) {
    const bool has_output = rank > 0 || function.output_on_rank_0;
    // With a derived datatype, nullptr may be MPI_BOTTOM.
    if (type.predefined && (call.input == nullptr || (has_output && call.output == nullptr))) return true;
#ifdef RONDO_ABI_OPENMPI
    return has_output && call.output == MPI_IN_PLACE;
#else
    return call.output == MPI_IN_PLACE || call.input == call.output;
#endif
}

}  // namespace

void forget_left_calls(std::size_t collective) {
    left[collective].calls = 0;
    left[collective].reason = "";
}

std::uint64_t left_calls(std::size_t collective) { return left[collective].calls; }
const char* reason_of_left_call(std::size_t collective) { return left[collective].reason; }

std::size_t index_of(std::string_view collective) {
    std::size_t index = 0;
    while (collectives()[index].name != collective) ++index;
    return index;
}

int serve(const Wrapped& function, const PrefixCall& call, const void* caller) {
    const Runtime* const here = runtime(caller);
    if (here == nullptr) {
        const mpi::Library* library = native_library(caller);
        return library != nullptr ? function.native(*library, call) : MPI_ERR_OTHER;
    }
    const mpi::Library& library = mpi::library();
    const Stopwatch stopwatch(here->reporting);
    const auto native = [&](const char* reason, Count bytes) {
        note_left(function.collective, reason);
        const int error = function.native(library, call);
        if (here->reporting) stopwatch.stop(tally_of(collectives()[function.collective].name, "native", reason), bytes);
        return error;
    };
    // What is not plainly right is for the library to judge.
    if (call.count <= 0 || call.comm == library.comm_null || call.op == library.op_null) return native("empty", 0);
    mpi::Datatype derived;
    const mpi::Datatype* type = mpi::describe(call.datatype, derived);
    if (type == nullptr) return native("unusual datatype", 0);
    const Count bytes = call.count * type->size;
    const mpi::Reduction reduction(call.op, *type);
    if (!reduction.supported()) return native("operator undefined on type", bytes);

    int error = MPI_SUCCESS;
    try {
        Communicator* communicator = Communicator::of(call.comm, here->instructions.fingerprint());
        if (communicator == nullptr) return native("no attributes", bytes);
        if (!communicator->native_reason().empty()) {
            warn_of_disagreement(*communicator);
            return native(communicator->native_reason().data(), bytes);
        }
        if (buffers_in_doubt(function, call, *type, communicator->rank())) return native("doubtful buffers", bytes);
        const bool in_place = call.input == MPI_IN_PLACE || call.input == call.output;
        const std::uint16_t choice = here->instructions.choice_number(function.collective);
        const CallKey key = key_of(function.collective, choice, call, in_place, reduction);
        Decision* decision = communicator->find(key);
        if (decision == nullptr) {
            decision = communicator->remember(key, decide(*here, key, *communicator, call.comm));
        }
        if (decision->plan == nullptr) {
            note_left(function.collective, decision->reason);
            error = function.native(library, call);
            stopwatch.stop(decision->tally, bytes);
            return error;  // the library has called the error handler
        }
        error = communicator->run(*decision->plan, call.input, call.output, reduction);
        stopwatch.stop(decision->tally, bytes);
    } catch (const std::bad_alloc&) {
        error = MPI_ERR_NO_MEM;
    } catch (const std::exception& fault) {
        warn(fault.what());
        error = MPI_ERR_INTERN;
    }
    if (error != MPI_SUCCESS) library.Comm_call_errhandler(call.comm, error);
    return error;
}

}  // namespace rondo::interposer
