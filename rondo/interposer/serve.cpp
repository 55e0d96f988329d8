// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/serve.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "rondo/interposer/differing_parts.hpp"
#include "rondo/interposer/gathered_parts.hpp"
#include "rondo/interposer/meeting.hpp"
#include "rondo/interposer/own_vectors.hpp"
#include "rondo/interposer/reduced_parts.hpp"
#include "rondo/interposer/rooted_parts.hpp"
#include "rondo/interposer/serving.hpp"
#include "rondo/interposer/whole_vector.hpp"

namespace rondo::interposer {
namespace {

using mpi::Communicator;

template <class Kind>
int serve_seen(const SeenCall& seen, const Service& service, const Runtime& runtime, CachedCall& cached) {
    if (const char* const reason = seen.communicator.native_reason()) {
        warn_of_disagreement(seen.communicator);
        service.forward_from_now(cached, seen, reason, whatever_count);
        return service.leave_to_library(reason, std::max<Count>(0, Kind::bytes_of(seen)));
    }
    const Kind kind(seen);
    if (kind.is_nothing()) return service.leave_to_library("empty", 0);
    return Serving<Kind>(seen, kind, service, runtime, cached).serve();
}

/// Serves a call that is plainly right, and leaves others to the library. What leaves a call must be known to all
/// ranks; an error that this rank alone may have made is looked at later.
template <class Kind>
int serve_as(const Wrapped& function, const UserCall& call, const void* caller, CachedCall& cached) {
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
            const char* const reason = forwarded_anywhere.reason(function, call, *type, reduces, choice);
            if (reason != nullptr) return service.leave_to_library(reason, 0);
        }
        Communicator& communicator = *known != nullptr ? **known : *Communicator::make(call.comm);
        const SeenCall seen = {function, call, *type, reduces, communicator, choice};
        return serve_seen<Kind>(seen, service, *here, cached);
    } catch (...) {
        const int error = code_of_exception();
        library.Comm_call_errhandler(call.comm, error);
        return error;
    }
}

/// Serves a call of equal parts whose vector stands on the root. Arguments that are not significant on a rank may be
/// anything: the others are looked at when the rank is known.
int serve_rooted_parts(const Wrapped& function, const UserCall& call, const Runtime& here, const Service& service,
                       CachedCall& cached) {
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
            type != nullptr ? forwarded_anywhere.reason(function, deciding, *type, nullptr, choice) : nullptr;
        if (reason != nullptr) return service.leave_to_library(reason, 0);
    }
    Communicator& communicator = *known != nullptr ? **known : *Communicator::make(call.comm);
    if (const char* const reason = communicator.native_reason()) {
        warn_of_disagreement(communicator);
        const SeenCall seen = {function, call, mpi::byte_type(), nullptr, communicator, choice};
        service.forward_from_now(cached, seen, reason, whatever_count);
        return service.leave_to_library(reason, 0);
    }
    const UserCall deciding = RootedParts::deciding(call, communicator.rank());
    const mpi::Datatype* const type = mpi::describe(deciding.datatype, derived);
    if (type == nullptr) return service.leave_to_library("unusual datatype", 0);
    // The key of this call may have been made without knowing who is the root.
    CachedCall unknown;
    const bool is_known = std::exchange(cached.rank, communicator.rank()) == communicator.rank();
    return serve_seen<RootedParts>({function, deciding, *type, nullptr, communicator, choice}, service, here,
                                   is_known ? cached : unknown);
}

int serve_equal_parts_of_the_root(const Wrapped& function, const UserCall& call, const void* caller,
                                  CachedCall& cached) {
    const Runtime* const here = runtime(caller);
    if (here == nullptr) return serve_without_rondo(function, call, caller);
    const mpi::Library& library = mpi::library();
    const Service service(function, call, *here);
    if (call.comm == library.comm_null) return service.leave_to_library("empty", 0);
    try {
        return serve_rooted_parts(function, call, *here, service, cached);
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
    // All other exceptions are the program's: they come from its error handlers and its operators.
}

int serve(const Wrapped& function, const UserCall& call, const void* caller, CachedCall& cached) {
    if (!function.has.data) return serve_as<Meeting>(function, call, caller, cached);
    if (function.has.all_to_all()) return serve_as<OwnVectors>(function, call, caller, cached);
    if (!function.has.parts()) return serve_as<WholeVector>(function, call, caller, cached);
    if (function.has.local_lengths) return serve_as<DifferingParts>(function, call, caller, cached);
    if (function.has.root) return serve_equal_parts_of_the_root(function, call, caller, cached);
    if (function.has.operation) return serve_as<ReducedParts>(function, call, caller, cached);
    return serve_as<GatheredParts>(function, call, caller, cached);
}

}  // namespace rondo::interposer
