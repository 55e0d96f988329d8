// SPDX-License-Identifier: BSD-3-Clause
// Functions whose vector has a part for each rank: all parts together decide, as only they are equal on all ranks.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rondo/interposer/decide.hpp"
#include "rondo/interposer/service.hpp"

namespace rondo::interposer {
namespace {

using mpi::CallKey;
using mpi::Communicator;
using mpi::Datatype;
using mpi::Decision;
using mpi::Division;
using mpi::PartCounts;

bool is_missing(const mpi::Numbers& numbers) { return numbers.is_argument() && numbers.array() == nullptr; }

PartCounts counts_of(const UserCall& call, Rank size) {
    const mpi::Numbers& counts = call.parts->counts;
    return counts.is_argument() ? PartCounts(counts, size) : PartCounts(call.count, size);
}

/// What has been decided for such calls, or is now. `unit`: what each of the counted is in the elements of the plan.
const Decision& decision_for(const Runtime& runtime, const CallKey& key, const PartCounts& counts, Count unit,
                             Communicator& communicator, MPI_Comm comm) {
    const Decision* known = communicator.find(key);
    if (known != nullptr &&
        (key.division == 0 || known->holds_whatever_the_parts() || starts_at(counts, unit, *known->starts))) {
        return *known;
    }
    std::shared_ptr<const std::vector<Count>> starts;
    if (key.division != 0) starts = std::make_shared<const std::vector<Count>>(starts_of(counts, unit));
    Decision fresh = decide(runtime, key, communicator, comm, starts ? *starts : std::span<const Count>());
    fresh.starts = std::move(starts);
    return *communicator.remember(key, std::move(fresh));
}

CallKey key_of(const Wrapped& function, const Runtime& runtime, const Division& division, Count element_bytes) {
    CallKey key;
    key.collective = static_cast<std::uint16_t>(function.collective);
    key.choice = runtime.instructions.choice_number(function.collective);
    key.over_int = division.count > std::numeric_limits<int>::max();
    key.count = division.count;
    key.element_bytes = element_bytes;
    key.division = division.hash;
    return key;
}

/// As `buffers_in_doubt`. The part of this rank may be empty; then only the input means something.
bool buffers_in_doubt(const UserCall& call, [[maybe_unused]] const Datatype& type, Count own_count) {
    const bool has_output = own_count > 0 || call.input == MPI_IN_PLACE;
    if (has_output && call.output == MPI_IN_PLACE) return true;
#ifdef RONDO_ABI_OPENMPI
    return false;
#else
    if (type.predefined && (call.input == nullptr || (has_output && call.output == nullptr))) return true;
    return has_output && call.input == call.output;
#endif
}

int reduce_and_scatter(const Service& service, const Wrapped& function, const UserCall& call, const Runtime& runtime,
                       const Datatype& type, const mpi::Reduction& reduction, Communicator& communicator,
                       LastCall& last) {
    const PartCounts counts = counts_of(call, communicator.size());
    const Division division = Division::of(counts, 1);
    if (division.count <= 0) return service.native("empty", 0);
    const Count bytes = division.count * type.size;
    CallKey key = key_of(function, runtime, division, type.size);
    key.commutative = reduction.commutative();
    key.in_place = call.input == MPI_IN_PLACE || call.input == call.output;
    const Decision& decision = decision_for(runtime, key, counts, 1, communicator, call.comm);
    if (decision.plan == nullptr) {
        if (counts.plainly_equal()) service.hand_on_from_now(last, type, reduction.predefined(), decision.reason);
        return service.native(decision, bytes);
    }
    // Faults of this rank alone, perhaps: the others are under way. It leaves them only for a library that reports.
    if (buffers_in_doubt(call, type, counts[communicator.rank()]) && communicator.library_checks_arguments()) {
        communicator.skip_call();
        return service.native("doubtful buffers", bytes);
    }
    mpi::notice_device_runtimes();
    const int error = run_on_elements(communicator, *decision.plan, {call.input, call.output, type, &reduction},
                                      key.in_place, division.count, counts[communicator.rank()]);
    service.stop(decision.tally, bytes);
    if (error != MPI_SUCCESS) mpi::library().Comm_call_errhandler(call.comm, error);
    return error;
}

/// True for what MPI forbids and the library reports. What it does not report must not be among it.
bool in_doubt(const UserCall& call, [[maybe_unused]] const mpi::UserData& own_part,
              [[maybe_unused]] const mpi::UserData& input) {
    if (call.output == MPI_IN_PLACE) return true;
    const PartsArguments& more = *call.parts;
    const bool has_input = call.input != MPI_IN_PLACE;
    if (has_input && (more.input_count < 0 || more.input_type == mpi::library().datatype_null)) return true;
#ifdef RONDO_ABI_OPENMPI
    return false;
#else
    const bool predefined = own_part.type.predefined;
    if (predefined && call.output == nullptr) return true;
    if (!has_input) return false;
    if (input.type.predefined && input.bytes() > 0 && call.input == nullptr) return true;
    return predefined && own_part.count > 0 && call.input == own_part.buffer && more.input_type == call.datatype &&
           more.input_count == own_part.count;
#endif
}

/// Open MPI takes an output of a datatype that is not committed.
#ifdef RONDO_ABI_OPENMPI
constexpr bool judges_output_type = false;
#else
constexpr bool judges_output_type = true;
#endif

int gather(const Service& service, const Wrapped& function, const UserCall& call, const Runtime& runtime,
           const Datatype& type, Communicator& communicator, LastCall& last) {
    const PartCounts counts = counts_of(call, communicator.size());
    const Division division = Division::of(counts, type.size);
    const Count bytes = division.count;
    if (bytes <= 0) return service.native("empty", 0);
    const Rank rank = communicator.rank();
    const mpi::PlacedParts parts = {static_cast<char*>(call.output), type, counts, call.parts->displacements};
    const mpi::UserData own_part = parts[rank];
    // Open MPI takes the address of the own part for MPI_IN_PLACE. MPI_BOTTOM, for both, says nothing.
    const bool in_place = call.input == MPI_IN_PLACE || (type.predefined && call.input == own_part.buffer);
    Datatype derived;
    const Datatype* input_type = in_place ? &type : mpi::describe(call.parts->input_type, derived);
    if (input_type == nullptr) input_type = &(derived = {});  // of no size
    const mpi::UserData input = {in_place ? own_part.buffer : const_cast<void*>(call.input),
                                 in_place ? own_part.count : call.parts->input_count, *input_type};
    mpi::notice_device_runtimes();
    // An error of this rank alone, for which the others must not wait: they get what stands in its part.
    const bool fits = input.bytes() == own_part.bytes();
    const mpi::Gathering data(fits ? input : own_part, in_place || !fits, parts, rank);

    CallKey key = key_of(function, runtime, division, 1);
    key.in_place = data.plan_in_place();
    const Decision& decision = decision_for(runtime, key, counts, type.size, communicator, call.comm);
    if (decision.plan == nullptr) {
        if (counts.plainly_equal()) service.hand_on_from_now(last, type, true, decision.reason);
        return service.native(decision, bytes);
    }
    // Faults of this rank alone, perhaps: the others are under way. It leaves them only for a library that reports.
    const char* objection = nullptr;
    if (in_doubt(call, own_part, input) && communicator.library_checks_arguments()) {
        objection = "doubtful buffers";
    } else if ((judges_output_type && !type.predefined && !communicator.can_send(call.output, type)) ||
               (!input_type->predefined && input.bytes() > 0 && !communicator.can_send(input.buffer, *input_type))) {
        objection = "unusual datatype";
    }
    if (objection != nullptr) {
        communicator.skip_call();
        return service.native(objection, bytes);
    }
    int error = communicator.run_on_parts(*decision.plan, data, bytes);
    if (error == MPI_SUCCESS && !fits) error = input.bytes() > own_part.bytes() ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
    service.stop(decision.tally, bytes);
    if (error != MPI_SUCCESS) mpi::library().Comm_call_errhandler(call.comm, error);
    return error;
}

}  // namespace

int serve_parts(const Wrapped& function, const UserCall& call, const void* caller, LastCall& last) {
    const Runtime* const here = runtime(caller);
    if (here == nullptr) return serve_without_rondo(function, call, caller);
    const mpi::Library& library = mpi::library();
    const Service service(function, call, *here);
    const bool reduces = function.has.operation;
    // What is not plainly right is for the library to judge. Only what is wrong may be known to this rank alone.
    if (call.comm == library.comm_null || is_missing(call.parts->counts) || is_missing(call.parts->displacements) ||
        (reduces && call.op == library.op_null)) {
        return service.native("empty", 0);
    }
    Datatype derived;
    const Datatype* type = mpi::describe(call.datatype, derived);
    if (type == nullptr) {
        if (reduces || call.datatype == library.datatype_null) return service.native("unusual datatype", 0);
        // Other ranks may say by another type that they get nothing, and ask.
        type = &(derived = {});
    }
    std::optional<mpi::Reduction> reduction;
    if (reduces) {
        reduction.emplace(call.op, *type);
        if (reduction->objection() != nullptr) return service.native(reduction->objection(), 0);
    }
    try {
        Communicator* communicator = Communicator::of(call.comm);
        if (communicator == nullptr) return service.native("no attributes", 0);
        if (const char* const reason = communicator->native_reason()) {
            warn_of_disagreement(*communicator);
            const bool predefined_operator = !reduces || reduction->predefined();
            // No array of counts decides.
            service.hand_on_from_now(last, *type, predefined_operator, reason);
            const Count count = Division::of(counts_of(call, communicator->size()), type->size).count;
            return service.native(reason, std::max<Count>(0, count));
        }
        return reduces ? reduce_and_scatter(service, function, call, *here, *type, *reduction, *communicator, last)
                       : gather(service, function, call, *here, *type, *communicator, last);
    } catch (...) {
        const int error = code_of_exception();
        library.Comm_call_errhandler(call.comm, error);
        return error;
    }
}

}  // namespace rondo::interposer
