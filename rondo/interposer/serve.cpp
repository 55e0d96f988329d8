// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/serve.hpp"

#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <type_traits>

#include "rondo/interposer/decide.hpp"
#include "rondo/interposer/service.hpp"

namespace rondo::interposer {
namespace {

using mpi::CallKey;
using mpi::Communicator;
using mpi::Decision;

/// Facts of the call that choice and plan depend on. What is reduced is counted in elements; what is moved in bytes,
/// since ranks may describe the same bytes by different datatypes.
CallKey key_of(const Wrapped& function, std::uint16_t choice, const UserCall& call, Rank root, bool in_place,
               const mpi::Datatype& type, const mpi::Reduction* reduction) {
    CallKey key;
    key.collective = static_cast<std::uint16_t>(function.collective);
    key.choice = choice;
    key.commutative = reduction != nullptr && reduction->commutative();
    key.in_place = in_place;
    key.count = reduction != nullptr ? call.count : call.count * type.size;
    key.element_bytes = reduction != nullptr ? type.size : 1;
    key.over_int = key.count > std::numeric_limits<int>::max();
    key.root = root;
    return key;
}

/// A call that was carried out, as far as the next one like it needs it again.
struct Served {
    Communicator* communicator;
    const mpi::Datatype* type;
    mpi::Reduction reduction;
    std::uint32_t decision;  // its number
    bool in_place;
    const void *input, *output;  // nothing has been loaded since these were the buffers, as far as that matters
};
static_assert(sizeof(Served) <= sizeof(LastCall::served) && std::is_trivially_copyable_v<Served>);

/// Buffers that were the host's in the last call with these words still are, so nobody needs to look for runtimes of
/// GPUs again. Long ones are not remembered: they may have been given back to the system.
constexpr Count longest_remembered = Count{64} << 10;  // in bytes

int run(const Wrapped& function, Communicator& communicator, const UserCall& call, const mpi::Datatype& type,
        const mpi::Reduction* reduction, const Decision& decision) {
    const Rank rank = communicator.rank();
    if (reduction == nullptr) {
        return communicator.run_on_bytes(*decision.plan, {call.output, call.count, type}, rank == call.root);
    }
    return run_on_elements(communicator, *decision.plan, {call.input, call.output, type, reduction},
                           in_place(function.output, call, rank), call.count,
                           has_output(function.output, call, rank) ? call.count : 0);
}

void look_at(const UserCall& call, const mpi::Datatype& type, Served& served) {
    mpi::notice_device_runtimes();
    const bool is_short = call.count * type.size <= longest_remembered;
    served.input = is_short ? call.input : &served;  // which is nobody's buffer
    served.output = is_short ? call.output : &served;
}

/// The same again, if nothing but buffers is different and these are no matter for doubt.
std::optional<int> serve_again(const Wrapped& function, const UserCall& call, LastCall& last) {
    if (last.era == 0) return std::nullopt;
    auto& known = *std::launder(reinterpret_cast<Served*>(last.served));
    Communicator& communicator = *known.communicator;
    const Rank rank = communicator.rank();
    if (communicator.number_of_decision(function.collective) != known.decision ||
        in_place(function.output, call, rank) != known.in_place ||
        buffers_in_doubt(function.output, call, *known.type, rank)) {
        return std::nullopt;
    }
    if (call.output != known.output || call.input != known.input) look_at(call, *known.type, known);
    const mpi::Reduction* const reduction = function.has.operation ? &known.reduction : nullptr;
    return run(function, communicator, call, *known.type, reduction, communicator.last_decision(function.collective));
}

}  // namespace

Wrapped::Wrapped(std::string_view collective_name, Output where, Native library_function, Address address_of_it)
    : collective(index_of(*find_collective(collective_name))), has(collectives()[collective].has), output(where),
      native(library_function), address(address_of_it) {}

int Service::native(const char* reason, Count bytes) const {
    note_left_call(function_.collective, reason);
    const int error = function_.native(mpi::library(), call_);
    if (reporting_) stop(tally_of(collectives()[function_.collective].name, "native", reason), bytes);
    return error;
}

int serve_without_rondo(const Wrapped& function, const UserCall& call, const void* caller) {
    const mpi::Library* library = native_library(caller);
    return library != nullptr ? function.native(*library, call) : MPI_ERR_OTHER;
}

int code_of_exception() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return MPI_ERR_NO_MEM;
    } catch (const std::exception& fault) {
        warn(fault.what());
        return MPI_ERR_INTERN;
    }
}

int serve(const Wrapped& function, const UserCall& call, const void* caller, LastCall& last) {
    try {
        if (const std::optional<int> error = serve_again(function, call, last)) {
            if (*error != MPI_SUCCESS) mpi::library().Comm_call_errhandler(call.comm, *error);
            return *error;
        }
    } catch (...) {
        const int error = code_of_exception();
        mpi::library().Comm_call_errhandler(call.comm, error);
        return error;
    }
    const Runtime* const here = runtime(caller);
    if (here == nullptr) return serve_without_rondo(function, call, caller);
    const mpi::Library& library = mpi::library();
    const Service service(function, call, *here);
    // What is not plainly right is for the library to judge. Only what is wrong may be known to this rank alone.
    if (call.count <= 0 || call.comm == library.comm_null) return service.native("empty", 0);
    mpi::Datatype derived;
    const mpi::Datatype* type = mpi::describe(call.datatype, derived);
    if (type == nullptr) return service.native("unusual datatype", 0);
    const Count bytes = call.count * type->size;
    std::optional<mpi::Reduction> operation;
    if (function.has.operation) {
        if (call.op == library.op_null) return service.native("empty", 0);
        operation.emplace(call.op, *type);
        if (operation->objection() != nullptr) return service.native(operation->objection(), bytes);
    }
    const mpi::Reduction* reduction = operation ? &*operation : nullptr;
    const bool predefined_operator = reduction == nullptr || reduction->predefined();

    int error = MPI_SUCCESS;
    try {
        Communicator* communicator = Communicator::of(call.comm);
        if (communicator == nullptr) return service.native("no attributes", bytes);
        if (const char* const reason = communicator->native_reason()) {
            warn_of_disagreement(*communicator);
            service.hand_on_from_now(last, *type, predefined_operator, reason);
            return service.native(reason, bytes);
        }
        const Rank rank = communicator->rank();
        // Whatever is wrong on this rank alone, the others may be about to decide: this rank takes part.
        const Rank size = communicator->size();
        const bool has_root = call.root >= 0 && call.root < size;
        const Rank root = has_root ? call.root : (call.root % size + size) % size;
        const std::uint16_t choice = here->instructions.choice_number(function.collective);
        const CallKey key =
            key_of(function, choice, call, root, in_place(function.output, call, rank), *type, reduction);
        const Decision* decision = communicator->find(key);
        if (decision == nullptr) {
            decision = communicator->remember(key, decide(*here, key, *communicator, call.comm));
        }
        if (decision->plan == nullptr) {
            service.hand_on_from_now(last, *type, predefined_operator, decision->reason);
            return service.native(*decision, bytes);
        }
        // Faults of this rank alone, perhaps: the others are under way. It leaves them only for a library that reports.
        if (!has_root && communicator->library_checks_arguments()) {
            communicator->skip_call();
            return service.native("no such root", bytes);
        }
        UserCall checked = call;
        const bool in_doubt = buffers_in_doubt(function.output, call, *type, rank);
        if (in_doubt) {
            if (communicator->library_checks_arguments()) {
                communicator->skip_call();
                return service.native("doubtful buffers", bytes);
            }
            // A library that checks nothing reads the input there, on ranks that are not the root as well.
            if (call.input == MPI_IN_PLACE) checked.input = call.output;
        }
        // Its bytes would travel, whatever the library thinks of the type.
        if (reduction == nullptr && !type->predefined && !communicator->can_send(call.output, *type)) {
            communicator->skip_call();
            return service.native("unusual datatype", bytes);
        }
        if (has_root && !in_doubt && type->predefined && predefined_operator && !here->reporting) {
            auto* const served =
                new (last.served) Served{communicator, type, operation.value_or(mpi::Reduction()),
                                         communicator->number_of_decision(function.collective), key.in_place};
            look_at(call, *type, *served);
            last.era = mpi::era();
        } else {
            mpi::notice_device_runtimes();
        }
        checked.root = root;
        error = run(function, *communicator, checked, *type, reduction, *decision);
        service.stop(decision->tally, bytes);
    } catch (...) {
        error = code_of_exception();
    }
    if (error != MPI_SUCCESS) library.Comm_call_errhandler(call.comm, error);
    return error;
}

}  // namespace rondo::interposer
