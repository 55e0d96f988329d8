// SPDX-License-Identifier: BSD-3-Clause
#include "rondo/interposer/serve.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "rondo/interposer/gathered_parts.hpp"
#include "rondo/interposer/meeting.hpp"
#include "rondo/interposer/own_vectors.hpp"
#include "rondo/interposer/reduced_parts.hpp"
#include "rondo/interposer/root_parts.hpp"
#include "rondo/interposer/serving.hpp"
#include "rondo/interposer/whole_vector.hpp"

namespace rondo::interposer {
namespace {

using mpi::Communicator;

template <class Kind>
int serve_seen(const SeenCall& seen, Service& service, const Runtime& runtime, CachedCall& cached) {
    Communicator& communicator = seen.communicator;
    const bool begins = seen.function.form != Form::blocking;
    const bool may_begin =
        begins && communicator.native_reason() == nullptr && communicator.find_in_world(seen.call.comm);
    const char* const reason = may_begin ? reason_not_to_begin(seen, runtime) : communicator.native_reason();
    if (reason != nullptr) {
        warn_of_disagreement(communicator);
        service.forward_from_now(cached, seen, reason, whatever_count);
        return service.leave_to_library(reason, std::max<Count>(0, Kind::bytes_of(seen)));
    }
    const Kind kind(seen);
    if (kind.is_nothing()) return service.leave_to_library("empty", 0);
    return Serving<Kind>(seen, kind, service, runtime, cached).serve();
}

/// The rank of this process in a communicator; no_rank in an inter-communicator. `known`: its state, if it has one.
Rank rank_in(const Communicator* known, MPI_Comm comm) {
    if (known != nullptr) return known->size() > 0 ? known->rank() : no_rank;
    int inter = 0;
    Rank rank = 0;
    mpi::library().Comm_test_inter(comm, &inter);
    mpi::library().Comm_rank(comm, &rank);
    return inter == 0 ? rank : no_rank;
}

/// Serves a call on a communicator. `known`: its state, if it has one.
template <class Kind>
int serve_on(Communicator* known, const Wrapped& function, const UserCall& given, Service& service, const Runtime& here,
             CachedCall& cached) {
    constexpr bool is_at_root = std::is_same_v<Kind, RootParts>;
    const Rank rank = is_at_root ? rank_in(known, given.comm) : no_rank;
    const UserCall call = is_at_root ? RootParts::significant(given, rank) : given;
    // Where parts of the root differ, which of two types is significant depends on the rank.
    const bool has_type = function.has.data && !call.types.is_argument() &&
                          (!is_at_root || (rank != no_rank && !function.has.local_lengths));
    mpi::Datatype derived;
    const mpi::Datatype* type = has_type ? mpi::describe(call.datatype, derived) : &mpi::empty_type();
    if (type == nullptr) {
        if (!Kind::takes_empty_type || call.datatype == mpi::library().datatype_null)
            return service.leave_to_library("unusual datatype", 0);
        type = &(derived = {});
    }
    std::optional<mpi::Reduction> reduction;
    if (function.has.operation) {
        reduction.emplace(call.op, *type);
        if (reduction->objection() != nullptr)
            return service.leave_to_library(reduction->objection(), std::max<Count>(0, call.count) * type->size);
    }
    const mpi::Reduction* const reduces = reduction ? &*reduction : nullptr;
    const std::uint16_t choice = here.instructions.choice_number(function.collective);
    ForwardedAnywhere* const anywhere = known == nullptr && !here.reporting ? forwarded_anywhere() : nullptr;
    if (anywhere != nullptr) {
        const char* const reason = anywhere->reason(function, call, *type, reduces, choice);
        if (reason != nullptr) return service.leave_to_library(reason, 0);
    }
    Communicator& communicator = known != nullptr ? *known : *Communicator::make(call.comm);
    // The key of this call may have been made without knowing who is the root.
    CachedCall unknown;
    const bool is_keyed = !is_at_root || std::exchange(cached.rank, rank) == rank;
    return serve_seen<Kind>({function, call, *type, reduces, communicator, choice}, service, here,
                            is_keyed ? cached : unknown);
}

/// Serves a call that is plainly right, and leaves others to the library. What leaves a call must be known to all
/// ranks; an error that this rank alone may have made is looked at later.
template <class Kind>
int serve_as(const Wrapped& function, const UserCall& call, const void* caller, CachedCall& cached) {
    const Runtime* const here = runtime(caller);
    if (here == nullptr) return serve_without_rondo(function, call, caller);
    const mpi::Library& library = mpi::library();
    Service service(function, call, *here);
    if (Kind::is_empty(call) || call.comm == library.comm_null ||
        (function.has.operation && call.op == library.op_null)) {
        return service.leave_to_library("empty", 0);
    }
    try {
        const std::optional<Communicator*> known = Communicator::of(call.comm);
        if (!known) return service.leave_to_library("no attributes", 0);
        return serve_on<Kind>(*known, function, call, service, *here, cached);
    } catch (...) {
        const int error = code_of_exception();
        library.Comm_call_errhandler(call.comm, error);
        return error;
    }
}

}  // namespace

Wrapped::Wrapped(std::string_view collective_name, Output where, Form when, Native library_function,
                 Address address_of_it)
    : collective(index_of(*find_collective(collective_name))), has(collectives()[collective].has), output(where),
      form(when), native(library_function), address(address_of_it) {}

int Service::leave_to_library(const char* reason, Count bytes, int line) {
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
    if (function.has.root) return serve_as<RootParts>(function, call, caller, cached);
    if (function.has.operation) return serve_as<ReducedParts>(function, call, caller, cached);
    return serve_as<GatheredParts>(function, call, caller, cached);
}

}  // namespace rondo::interposer
