// SPDX-License-Identifier: BSD-3-Clause
// The functions of include/rondo_prefix.h.
#include "rondo_prefix.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "rondo/backends/mpi/device_memory.hpp"
#include "rondo/backends/mpi/ending.hpp"
#include "rondo/core/error.hpp"
#include "rondo/core/fingerprint.hpp"
#include "rondo/core/version.hpp"
#include "rondo/prefix/failure.hpp"
#include "rondo/prefix/prefix.hpp"

namespace rondo::prefix {
namespace {

void warn(const std::string& text) { std::fprintf(stderr, "rondo: %s\n", text.c_str()); }

const char* variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

/// RONDO_PREFIX and RONDO_MACHINE. What is wrong with them is said by rank 0.
Guidance read_guidance() {
    int rank = 0;
    mpi::library().Comm_rank(mpi::library().comm_world, &rank);
    Guidance guidance;
    Fingerprint fingerprint;
    fingerprint.add(version);
    if (const char* text = variable("RONDO_PREFIX")) {
        fingerprint.add(text);
        try {
            guidance.choice = parse_prefix_choice(text);
        } catch (const Error& error) {
            if (rank == 0) warn("RONDO_PREFIX: " + std::string(error.what()) + "; what is quickest is used");
        }
    }
    if (const char* path = variable("RONDO_MACHINE")) {
        try {
            guidance.machine = Machine::read(path);
        } catch (const Error& error) {
            if (rank == 0) warn("RONDO_MACHINE: " + std::string(error.what()) + "; the standard figures are used");
        }
    }
    fingerprint.add(guidance.machine.fingerprint());
    guidance.fingerprint = fingerprint.value();
    return guidance;
}

std::atomic<bool> has_ended{false};  // MPI, or it is about to

void end() {
    has_ended = true;
    end_exchanges();
}

/// nullptr if MPI cannot be used, which has been said.
const Guidance* guidance_for(const void* caller) {
    static std::mutex& mutex = *new std::mutex;
    static const Guidance* ready = nullptr;
    const std::lock_guard lock(mutex);
    if (ready == nullptr) {
        const char* missing = nullptr;
        if (!mpi::connect(caller, missing)) {
            warn(std::string("no prefix sum: ") + missing);
            return nullptr;
        }
    }
    int initialised = 0, finalized = 0;
    mpi::library().Initialized(&initialised);
    mpi::library().Finalized(&finalized);
    if (initialised == 0 || finalized != 0 || has_ended) {
        warn(initialised == 0 ? "a prefix sum before MPI_Init" : "a prefix sum after MPI_Finalize");
        return nullptr;
    }
    if (ready == nullptr) {
        if (!prepare_exchanges()) return nullptr;
        mpi::at_end(end);
        mpi::learn_datatypes();
        mpi::learn_operators();
        ready = new Guidance(read_guidance());
    }
    return ready;
}

bool overlap_in_part(const void* in, const void* out, Count count, const mpi::Datatype& type) {
    const auto* const first = static_cast<const char*>(in);
    const auto* const second = static_cast<const char*>(out);
    if (first == second || count <= 0 || type.interlocks()) return false;
    const Count length = type.span(count);
    return first < second + length && second < first + length;
}

struct Arguments {
    const void* in;
    void* out;
    void* total;
    Count count;
    MPI_Datatype datatype;
    MPI_Op op;
    bool exclusive;
    MPI_Comm comm;
    bool wants_total;
};

/// What is wrong on this rank, perhaps on it alone.
Failure judge(const Arguments& given, const mpi::Datatype& type) {
    if (given.wants_total && (given.total == nullptr || given.total == MPI_IN_PLACE))
        return {MPI_ERR_ARG, Cause::total};
    if (given.count < 0 || (type.extent > 0 && given.count > std::numeric_limits<Count>::max() / type.extent)) {
        return {MPI_ERR_COUNT, Cause::count};
    }
    mpi::notice_device_runtimes();  // no kernel here reaches a GPU's memory
    if (given.wants_total && mpi::on_device(given.total)) return {MPI_ERR_BUFFER, Cause::device};
    if (given.count == 0) return {};
    // With a derived datatype, nullptr may be MPI_BOTTOM.
    const bool is_missing = type.predefined && (given.in == nullptr || given.out == nullptr);
    if (is_missing || given.out == MPI_IN_PLACE) return {MPI_ERR_BUFFER, Cause::no_buffer};
    const bool in_place = given.in == MPI_IN_PLACE;
    if (mpi::on_device(given.out) || (!in_place && mpi::on_device(given.in))) return {MPI_ERR_BUFFER, Cause::device};
    if (!in_place && overlap_in_part(given.in, given.out, given.count, type)) return {MPI_ERR_BUFFER, Cause::overlap};
    return {};
}

/// Bytes of a total where the datatype does not say: those of the call before, or else of most elements.
Count usual_bytes(const Exchange& exchange) {
    const std::size_t head = sizeof(TotalHead);
    return exchange.bytes() > head ? static_cast<Count>(exchange.bytes() - head) : Count{sizeof(double)};
}

/// `type`: nullptr if there is none. `wrong`: with this rank alone, perhaps. It takes part, and the others are told.
Failure run_on(Exchange& exchange, const Arguments& given, const mpi::Datatype* type, const Guidance& guidance,
               Failure wrong) {
    const void* const in = given.in == MPI_IN_PLACE ? given.out : given.in;
    const Array array{in, given.out, wrong.is_any() ? 0 : given.count, given.exclusive};
    std::unique_ptr<Passes> passes;
    if (type != nullptr) {
        passes = passes_for(array, *type, given.op, exchange.messages());
        if (passes == nullptr && !wrong.is_any()) wrong = {MPI_ERR_OP, Cause::operation};
    }
    if (passes == nullptr) passes = no_passes(type != nullptr ? bytes_of_total(*type) : usual_bytes(exchange));
    char nowhere = 0;  // what fails is not written
    void* const total = given.wants_total && given.total == nullptr ? &nowhere : given.total;
    Prefix operation(array, total, std::move(passes), exchange, guidance);
    if (wrong.is_any()) {
        wrong.rank = exchange.rank();
        operation.fail(wrong);
    }
    while (!operation.progress(true)) {
    }
    return operation.failure();
}

/// Returns what is wrong, which the error handler has been told if `told`.
Failure run(const Arguments& given, const Guidance& guidance, bool& told) {
    Exchange* exchange = nullptr;
    if (const Failure failure = Exchange::of(given.comm, guidance, exchange, told); failure.is_any()) return failure;
    told = false;
    mpi::Datatype derived;
    const mpi::Datatype* const type = mpi::describe(given.datatype, derived);
    const std::uint32_t calls = exchange->calls();
    try {
        const Failure wrong = type != nullptr ? judge(given, *type) : Failure{MPI_ERR_TYPE, Cause::datatype};
        return run_on(*exchange, given, type, guidance, wrong);
    } catch (const std::bad_alloc&) {
        if (exchange->calls() != calls) throw;  // in the midst of it
    }
    exchange->release_reserve();
    return run_on(*exchange, given, type, guidance, {MPI_ERR_NO_MEM, Cause::memory});
}

bool is_fatal(MPI_Comm comm) {
    const mpi::Library& library = mpi::library();
    MPI_Errhandler handler;
    if (library.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
    const bool is = handler == library.errors_are_fatal;
    library.Errhandler_free(&handler);
    return is;
}

/// For a program that ends here, without a look at the error code: MPI would name a function of its own.
void explain(const Arguments& given, const Failure& failure) {
    const mpi::Library& library = mpi::library();
    std::string text = given.wants_total ? "rondo_prefix_total" : "rondo_prefix";
    int rank = 0;
    library.Comm_rank(given.comm == library.comm_null ? library.comm_world : given.comm, &rank);
    text += " on rank " + std::to_string(rank) + ": ";
    if (failure.rank >= 0 && failure.rank != rank) text += "rank " + std::to_string(failure.rank) + " failed: ";
    if (const char* known = text_of(failure.cause)) {
        text += known;
    } else {
        char reported[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        library.Error_string(failure.error, reported, &length);
        text += reported;
    }
    warn(text);
}

int serve_prefix(const Arguments& given, const void* caller) {
    const Guidance* here = nullptr;
    Failure failure{MPI_ERR_OTHER};
    bool told = false;
    try {
        here = guidance_for(caller);
        if (here == nullptr) return failure.error;
        const bool is_null = given.comm == mpi::library().comm_null;
        failure = is_null ? Failure{MPI_ERR_COMM, Cause::comm} : run(given, *here, told);
    } catch (const std::bad_alloc&) {
        failure = {MPI_ERR_NO_MEM, Cause::memory};
    } catch (const std::exception& fault) {
        warn(fault.what());
        failure = {MPI_ERR_INTERN};
    }
    if (!failure.is_any() || told || here == nullptr) return failure.error;
    const bool has_handler = given.comm != mpi::library().comm_null;
    const MPI_Comm handles = has_handler ? given.comm : mpi::library().comm_world;
    if (is_fatal(handles)) explain(given, failure);
    mpi::library().Comm_call_errhandler(handles, failure.error);
    return failure.error;
}

}  // namespace
}  // namespace rondo::prefix

#define RONDO_EXPORT extern "C" __attribute__((visibility("default")))

RONDO_EXPORT int rondo_prefix(const void* in, void* out, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                              int exclusive, MPI_Comm comm) {
    return rondo::prefix::serve_prefix({in, out, nullptr, count, datatype, op, exclusive != 0, comm, false},
                                       __builtin_return_address(0));
}

RONDO_EXPORT int rondo_prefix_total(const void* in, void* out, void* total, MPI_Count count, MPI_Datatype datatype,
                                    MPI_Op op, int exclusive, MPI_Comm comm) {
    return rondo::prefix::serve_prefix({in, out, total, count, datatype, op, exclusive != 0, comm, true},
                                       __builtin_return_address(0));
}

RONDO_EXPORT int rondo_prefix_for_fortran(const void* in, void* out, void* total, MPI_Count count, int datatype, int op,
                                          int exclusive, int comm) {
    const void* const caller = __builtin_return_address(0);
    if (rondo::prefix::guidance_for(caller) == nullptr) return MPI_ERR_OTHER;
#if defined(RONDO_ABI_MPICH)
    const MPI_Datatype type = datatype;
    const MPI_Op operation = op;
    const MPI_Comm communicator = comm;
#else
    const auto& library = rondo::mpi::library();
#if defined(RONDO_ABI_MPIABI)
    const auto to_type = library.Type_fromint;
    const auto to_op = library.Op_fromint;
    const auto to_comm = library.Comm_fromint;
#else
    const auto to_type = library.Type_f2c;
    const auto to_op = library.Op_f2c;
    const auto to_comm = library.Comm_f2c;
#endif
    if (to_type == nullptr || to_op == nullptr || to_comm == nullptr) return MPI_ERR_OTHER;
    const MPI_Datatype type = to_type(datatype);
    const MPI_Op operation = to_op(op);
    const MPI_Comm communicator = to_comm(comm);
#endif
    return rondo::prefix::serve_prefix(
        {in, out, total, count, type, operation, exclusive != 0, communicator, total != nullptr}, caller);
}
