// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/serve.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "rondo/interposer/decide.hpp"
#include "rondo/interposer/differing_parts.hpp"
#include "rondo/interposer/gathered_parts.hpp"
#include "rondo/interposer/guarded_call.hpp"
#include "rondo/interposer/left_on_any.hpp"
#include "rondo/interposer/library_before.hpp"
#include "rondo/interposer/meeting.hpp"
#include "rondo/interposer/own_vectors.hpp"
#include "rondo/interposer/reduced_parts.hpp"
#include "rondo/interposer/rooted_parts.hpp"
#include "rondo/interposer/service.hpp"
#include "rondo/interposer/whole_vector.hpp"

namespace rondo::interposer {
namespace {

using mpi::CallKey;
using mpi::Communicator;
using mpi::Decision;

/// A call of a whole vector that was carried out, as far as the next one like it needs it again.
struct Served {
    const Wrapped* function;
    Communicator* communicator;
    const mpi::Datatype* type;
    mpi::Reduction reduction;
    Count count;
    MPI_Comm comm;
    Rank root;
    std::uint32_t decision;  // its number
    bool in_place;
    const void *input, *output;  // nothing has been loaded since these were the buffers, as far as that matters
};
static_assert(sizeof(Served) <= sizeof(LastCall::served) && std::is_trivially_copyable_v<Served>);

/// Buffers that were the host's in the last call with these words still are, so nobody needs to look for runtimes of
/// GPUs again. Long ones are not remembered: they may have been given back to the system.
constexpr Count longest_remembered = Count{64} << 10;  // in bytes

void remember_buffers(const void* input, const void* output, Served& served) {
    const bool is_short = served.count * served.type->size <= longest_remembered;
    served.input = is_short ? input : &served;  // which is nobody's buffer
    served.output = is_short ? output : &served;
}

/// Runs a plan, as `run` says, and tells the error handler what went wrong.
template <class Run>
int run_plan(const Plan& plan, MPI_Comm comm, Communicator& communicator, Run&& run) {
    int error = MPI_SUCCESS;
    try {
        error = run(plan);
    } catch (...) {
        error = code_of_exception();
    }
    if (error != MPI_SUCCESS) [[unlikely]] {
        communicator.leave_messages();
        mpi::library().Comm_call_errhandler(comm, error);
    }
    return error;
}

/// The same again, if nothing but buffers is different and these are no matter for doubt.
int serve_again(LastCall& last, const void* input, void* output) {
    auto& known = *std::launder(reinterpret_cast<Served*>(last.served));
    const Wrapped& function = *known.function;
    Communicator& communicator = *known.communicator;
    const Decision* const decision = communicator.decision_of_number(function.collective, known.decision);
    const Rank rank = communicator.rank();
    const UserCall call = {.input = input, .output = output, .count = known.count, .root = known.root};
    if (decision == nullptr || WholeVector::in_place(function.output, call, rank) != known.in_place ||
        WholeVector::buffers_in_doubt(function.output, call, *known.type, rank) || !last.count_call()) {
        return LastCall::not_again;
    }
    if (output != known.output || input != known.input) {
        mpi::notice_device_runtimes();
        remember_buffers(input, output, known);
    }
    ++served_again;
    return run_plan(*decision->plan, known.comm, communicator, [&](const Plan& plan) {
        const mpi::Reduction* const reduction = function.has.operation ? &known.reduction : nullptr;
        return WholeVector::run(function.output, communicator, call, *known.type, reduction, plan);
    });
}

/// Calls `again`, and counts the call if that carries it out. `bytes`: of its vector.
template <class Again>
int counted(const Decision* decision, Count bytes, Again&& again) {
    if (decision == nullptr) return LastCall::not_again;
    mpi::Tally* const tally = decision->tally;  // an error handler may free the communicator, with the decision
    const std::uint64_t start = now();
    const int error = again();
    if (error != LastCall::not_again && tally != nullptr)
        tally->count(static_cast<std::uint64_t>(bytes), now() - start);
    return error;
}

int serve_again_counted(LastCall& last, const void* input, void* output) {
    const auto& known = *std::launder(reinterpret_cast<const Served*>(last.served));
    return counted(known.communicator->decision_of_number(known.function->collective, known.decision),
                   known.count * known.type->size, [&] { return serve_again(last, input, output); });
}

void serve_again_from_now(LastCall& last, const SeenCall& seen, bool in_place, guard::Trial* won, bool is_counted) {
    const mpi::Reduction reduction = seen.reduction != nullptr ? *seen.reduction : mpi::Reduction();
    const std::uint32_t decision = seen.communicator.number_of_decision(seen.function.collective);
    auto* const served = new (last.served)
        Served{&seen.function, &seen.communicator, &seen.type, reduction, seen.call.count, seen.call.comm,
               seen.call.root, decision,           in_place,   nullptr,   nullptr};
    remember_buffers(seen.call.input, seen.call.output, *served);
    last.again = is_counted ? serve_again_counted : serve_again;
    last.calls_left = won != nullptr ? won->counter() : nullptr;
    last.served_in = mpi::epoch();
}

/// The same of a call without data.
struct Met {
    Communicator* communicator;
    MPI_Comm comm;
    std::size_t collective;
    std::uint32_t decision;  // its number
};
static_assert(sizeof(Met) <= sizeof(LastCall::served) && std::is_trivially_copyable_v<Met>);

int meet_again(LastCall& last, const void* /*input*/, void* /*output*/) {
    const Met known = *std::launder(reinterpret_cast<Met*>(last.served));
    const Decision* const decision = known.communicator->decision_of_number(known.collective, known.decision);
    if (decision == nullptr || !last.count_call()) return LastCall::not_again;
    ++served_again;
    return run_plan(*decision->plan, known.comm, *known.communicator,
                    [&](const Plan& plan) { return Meeting::run(*known.communicator, plan); });
}

int meet_again_counted(LastCall& last, const void* input, void* output) {
    const auto& known = *std::launder(reinterpret_cast<const Met*>(last.served));
    return counted(known.communicator->decision_of_number(known.collective, known.decision), 0,
                   [&] { return meet_again(last, input, output); });
}

void meet_again_from_now(LastCall& last, const SeenCall& seen, guard::Trial* won, bool is_counted) {
    const std::size_t collective = seen.function.collective;
    new (last.served)
        Met{&seen.communicator, seen.call.comm, collective, seen.communicator.number_of_decision(collective)};
    last.again = is_counted ? meet_again_counted : meet_again;
    last.calls_left = won != nullptr ? won->counter() : nullptr;
    last.served_in = mpi::epoch();
}

RONDO_THREAD_LOCAL LeftOnAny left_on_any;

/// What is decided for such calls now, whatever was before.
template <class Kind>
const Decision& decided_anew(const Kind& kind, const CallKey& key, const Runtime& runtime, const SeenCall& seen,
                             GuardedCall& guarded) {
    const auto starts = [&] {
        return key.division != 0 ? std::make_shared<const std::vector<Count>>(kind.starts()) : nullptr;
    };
    const auto trial_of = [&](const Choice* chosen) { return guarded.join(chosen); };
    Communicator& communicator = seen.communicator;
    return communicator.remember(key, decide(runtime, key, communicator, seen.call.comm, trial_of, starts));
}

/// What becomes of a call.
struct Decided {
    const Decision* decision = nullptr;  // nullptr: this rank has no plan, where the others have one
    NoPlan missing = {};
    guard::Trial* trial = nullptr;  // which has counted the call; nullptr if nobody doubts the choice

    [[nodiscard]] const void* chosen() const { return decision != nullptr ? decision->chosen : missing.chosen; }
};

/// What has been decided for such calls, or is now. A decision that was made when a trial was lost holds as long as it
/// is.
template <class Kind>
Decided decided_for(const Kind& kind, const CallKey& key, const Runtime& runtime, const SeenCall& seen,
                    GuardedCall& guarded) {
    Decided found;
    try {
        found.decision = seen.communicator.find(key);
        const bool holds = found.decision != nullptr &&
                           (found.decision->starts == nullptr || kind.has_starts(*found.decision->starts));
        if (!holds) found.decision = &decided_anew(kind, key, runtime, seen, guarded);
        found.trial = guarded.begin(found.decision->chosen);
        const bool is_void = found.decision->plan == nullptr && found.trial != nullptr && !found.trial->has_lost();
        if (is_void) found.decision = &decided_anew(kind, key, runtime, seen, guarded);
    } catch (const NoPlan& what) {
        found.decision = nullptr;
        found.missing = what;
        if (found.trial == nullptr) found.trial = guarded.begin(what.chosen);
    }
    return found;
}

constexpr Interval any_count = {std::numeric_limits<Count>::min(), std::numeric_limits<Count>::max()};

/// None, where each rank has one.
Interval count_of(const UserCall& call) {
    if (call.counts.is_argument()) return {0, -1};
    return {call.count, call.count};
}

/// The same, where each rank has one: their sum. A trial is about calls of a length, however their vectors are divided.
template <class Kind>
Interval sum_of_counts(const Kind& kind, const UserCall& call) {
    if (!call.counts.is_argument()) return count_of(call);
    const Count sum = kind.bytes() / kind.bytes_to_a_count();
    return {sum, sum};
}

/// For which counts of such calls it was decided that they go to the library.
Interval handed_on_counts(const Decision& decision, const UserCall& call, Count bytes_to_a_count) {
    if (decision.holds_whatever_the_parts()) {
        constexpr Interval any_length;
        const Count lowest = decision.lowest;
        if (lowest == any_length.lowest && decision.highest == any_length.highest) return any_count;
        return {lowest / bytes_to_a_count + (lowest % bytes_to_a_count != 0 ? 1 : 0),
                decision.highest / bytes_to_a_count};
    }
    return count_of(call);
}

template <class Kind>
int serve_seen(const SeenCall& seen, const Service& service, const Runtime& runtime, LastCall& last) {
    Communicator& communicator = seen.communicator;
    const UserCall& call = seen.call;
    const bool predefined_operator = seen.reduction == nullptr || seen.reduction->predefined();
    if (const char* const reason = communicator.native_reason()) {
        warn_of_disagreement(communicator);
        service.hand_on_from_now(last, seen, reason, any_count);
        return service.leave_to_library(reason, std::max<Count>(0, Kind::bytes_of(seen)));
    }
    const Kind kind(seen);
    const Count bytes = kind.bytes();
    if (kind.is_nothing()) return service.leave_to_library("empty", 0);
    CallKey key = kind.key();
    GuardedCall guarded(seen, key, runtime);
    key.doubt = guarded.doubt();
    const Decided decided = decided_for(kind, key, runtime, seen, guarded);
    const Decision* const decision = decided.decision;
    guard::Trial* const trial = decided.trial;
    if (decision != nullptr && decision->plan == nullptr) {
        guard::Trial* const lost = decision->chosen != nullptr ? trial : nullptr;
        const Interval counts =
            lost != nullptr ? sum_of_counts(kind, call) : handed_on_counts(*decision, call, kind.bytes_to_a_count());
        if (decision->holds_on_any) left_on_any.remember(key, communicator.size(), *decision);
        service.hand_on_from_now(last, seen, decision->reason, counts, decision->tally, kind.bytes_to_a_count(), lost);
        return service.leave_to_library(*decision, bytes);
    }
    // Faults of this rank alone, perhaps: the others are under way. It leaves them only for a library that reports.
    const char* const wrong = kind.wrong();
    const bool is_refused = (wrong != nullptr && communicator.library_checks_arguments()) || kind.refused_by_library();
    const auto carry_out = [&](bool counts = true) {
        if (decision == nullptr) {
            communicator.skip_call();  // the others run it: tags stay alike
            mpi::library().Comm_call_errhandler(call.comm, decided.missing.error);
            return decided.missing.error;
        }
        if (is_refused) {
            communicator.skip_call();
            return service.leave_to_library(wrong != nullptr ? wrong : "unusual datatype", bytes);
        }
        return run_plan(*decision->plan, call.comm, communicator, [&](const Plan& plan) {
            const int error = kind.run(plan, wrong != nullptr);
            if (counts) service.stop(decision->tally, bytes);
            return error;
        });
    };
    const auto line = [&] {  // nobody looks for it without a report
        return runtime.reporting ? runtime.instructions.line_of(static_cast<const Choice*>(decided.chosen())) : 0;
    };
    const auto course = trial != nullptr ? trial->course_of(guarded.bytes()) : guard::Trial::Course::rondo;
    if (course == guard::Trial::Course::compared) {
        if (trial->key().rounding) {
            LibraryBefore library_before(seen, key, decision != nullptr && wrong == nullptr && !is_refused);
            return guard::compare_twice(*trial, *guarded.site(), library_before, carry_out);
        }
        return guard::compare(*trial, *guarded.site(), [&](guard::Contender contender) {
            if (contender == guard::Contender::rondo) return carry_out();
            return service.leave_to_library(guard::compared, bytes, line());
        });
    }
    if (course == guard::Trial::Course::library) {
        const char* const reason = guard::reason_of(*trial);
        service.hand_on_from_now(last, seen, reason, sum_of_counts(kind, call), service.tally_for(reason, line()),
                                 kind.bytes_to_a_count(), trial);
        return service.leave_to_library(reason, bytes, line());
    }
    const bool is_decided = decision != nullptr && (trial == nullptr || trial->is_over());
    if (is_decided && !is_refused) {
        if constexpr (std::is_same_v<Kind, WholeVector>) {
            if (wrong == nullptr && seen.type.predefined && predefined_operator) {
                serve_again_from_now(last, seen, key.in_place, trial, runtime.reporting);
            }
        }
        if constexpr (std::is_same_v<Kind, Meeting>) meet_again_from_now(last, seen, trial, runtime.reporting);
    }
    return carry_out();
}

/// What is not plainly right is for the library to judge. Only what is wrong may be known to this rank alone.
template <class Kind>
int serve_as(const Wrapped& function, const UserCall& call, const void* caller, LastCall& last) {
    const Runtime* const here = runtime(caller);
    if (here == nullptr) return serve_without_rondo(function, call, caller);
    const mpi::Library& library = mpi::library();
    const Service service(function, call, *here);
    if (Kind::is_empty(call) || call.comm == library.comm_null ||
        (function.has.operation && call.op == library.op_null)) {
        return service.leave_to_library("empty", 0);
    }
    mpi::Datatype derived;
    const mpi::Datatype* type = Kind::has_type ? mpi::describe(call.datatype, derived) : &mpi::empty_type();
    if (type == nullptr) {
        if (!Kind::takes_empty_type || call.datatype == library.datatype_null)
            return service.leave_to_library("unusual datatype", 0);
        type = &(derived = {});
    }
    std::optional<mpi::Reduction> reduction;
    if (function.has.operation) {
        reduction.emplace(call.op, *type);
        if (reduction->objection() != nullptr)
            return service.leave_to_library(reduction->objection(), std::max<Count>(0, call.count) * type->size);
    }
    try {
        const std::optional<Communicator*> known = Communicator::of(call.comm);
        if (!known) return service.leave_to_library("no attributes", 0);
        const mpi::Reduction* const reduces = reduction ? &*reduction : nullptr;
        const std::uint16_t choice = here->instructions.choice_number(function.collective);
        if (*known == nullptr && !here->reporting) {
            const char* const reason = left_on_any.reason(function, call, *type, reduces, choice);
            if (reason != nullptr) return service.leave_to_library(reason, 0);
        }
        Communicator& communicator = *known != nullptr ? **known : *Communicator::make(call.comm);
        const SeenCall seen = {function, call, *type, reduces, communicator, choice};
        return serve_seen<Kind>(seen, service, *here, last);
    } catch (...) {
        const int error = code_of_exception();
        library.Comm_call_errhandler(call.comm, error);
        return error;
    }
}

/// A call of equal parts whose vector stands on the root. What a rank says of what stands elsewhere means nothing, and
/// may be anything: what the call is about is looked at when its rank is known.
int serve_rooted_parts(const Wrapped& function, const UserCall& call, const Runtime& here, const Service& service,
                       LastCall& last) {
    const std::optional<Communicator*> known = Communicator::of(call.comm);
    if (!known) return service.leave_to_library("no attributes", 0);
    const std::uint16_t choice = here.instructions.choice_number(function.collective);
    mpi::Datatype derived;
    if (*known == nullptr && !here.reporting) {
        int inter = 0;
        Rank rank = 0;
        mpi::library().Comm_test_inter(call.comm, &inter);
        mpi::library().Comm_rank(call.comm, &rank);
        const UserCall deciding = RootedParts::deciding(call, rank);
        const mpi::Datatype* const type = inter == 0 ? mpi::describe(deciding.datatype, derived) : nullptr;
        const char* const reason =
            type != nullptr ? left_on_any.reason(function, deciding, *type, nullptr, choice) : nullptr;
        if (reason != nullptr) return service.leave_to_library(reason, 0);
    }
    Communicator& communicator = *known != nullptr ? **known : *Communicator::make(call.comm);
    if (const char* const reason = communicator.native_reason()) {
        warn_of_disagreement(communicator);
        const SeenCall seen = {function, call, mpi::byte_type(), nullptr, communicator, choice};
        service.hand_on_from_now(last, seen, reason, any_count);
        return service.leave_to_library(reason, 0);
    }
    const UserCall deciding = RootedParts::deciding(call, communicator.rank());
    const mpi::Datatype* const type = mpi::describe(deciding.datatype, derived);
    if (type == nullptr) return service.leave_to_library("unusual datatype", 0);
    // The words of this call may have been taken without knowing who is the root.
    LastCall unknown;
    const bool is_known = std::exchange(last.rank, communicator.rank()) == communicator.rank();
    return serve_seen<RootedParts>({function, deciding, *type, nullptr, communicator, choice}, service, here,
                                   is_known ? last : unknown);
}

int serve_equal_parts_of_the_root(const Wrapped& function, const UserCall& call, const void* caller, LastCall& last) {
    const Runtime* const here = runtime(caller);
    if (here == nullptr) return serve_without_rondo(function, call, caller);
    const mpi::Library& library = mpi::library();
    const Service service(function, call, *here);
    if (call.comm == library.comm_null) return service.leave_to_library("empty", 0);
    try {
        return serve_rooted_parts(function, call, *here, service, last);
    } catch (...) {
        const int error = code_of_exception();
        library.Comm_call_errhandler(call.comm, error);
        return error;
    }
}

}  // namespace

Wrapped::Wrapped(std::string_view collective_name, Output where, Native library_function, Address address_of_it)
    : collective(index_of(*find_collective(collective_name))), has(collectives()[collective].has), output(where),
      native(library_function), address(address_of_it) {}

int Service::leave_to_library(const char* reason, Count bytes, int line) const {
    left_calls_of[function_.collective].note(reason);
    const int error = function_.native(mpi::library(), call_);
    stop(tally_for(reason, line), bytes);
    return error;
}

int serve_without_rondo(const Wrapped& function, const UserCall& call, const void* caller) {
    const mpi::Library* library = connected_library(caller);
    return library != nullptr ? function.native(*library, call) : MPI_ERR_OTHER;
}

int code_of_exception() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    } catch (const std::length_error&) {
        return MPI_ERR_NO_MEM;
    } catch (const Error& fault) {
        warn(fault.what());
        return MPI_ERR_INTERN;
    }
    // All others are the program's: of its error handlers, and its operators.
}

int serve(const Wrapped& function, const UserCall& call, const void* caller, LastCall& last) {
    if (!function.has.data) return serve_as<Meeting>(function, call, caller, last);
    if (function.has.all_to_all()) return serve_as<OwnVectors>(function, call, caller, last);
    if (!function.has.parts()) return serve_as<WholeVector>(function, call, caller, last);
    if (function.has.local_lengths) return serve_as<DifferingParts>(function, call, caller, last);
    if (function.has.root) return serve_equal_parts_of_the_root(function, call, caller, last);
    if (function.has.operation) return serve_as<ReducedParts>(function, call, caller, last);
    return serve_as<GatheredParts>(function, call, caller, last);
}

}  // namespace rondo::interposer
