// SPDX-License-Identifier: BSD-3-Clause
// What programs see of prefix sums that fail: the class of the error that the call returns and that the error handler
// is told, on every rank. Three ranks. Prints a line for each case: the errors of ranks 0, 1 and 2.
#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "rondo_prefix.h"

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

int grants = 0;    // so many requests for memory by Rondo are granted yet
int refusals = 0;  // so many behind them are refused

bool in_rondo(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0 && std::strstr(info.dli_fname, "librondo") != nullptr;
}

}  // namespace

/// Before that of the C library.
extern "C" void* malloc(std::size_t bytes) {
    if (refusals > 0 && in_rondo(__builtin_return_address(0)) && grants-- <= 0) {
        --refusals;
        return nullptr;
    }
    return __libc_malloc(bytes);
}

namespace {

int rank = 0;
int told = MPI_SUCCESS;
MPI_Comm told_by = MPI_COMM_NULL;

// Variadic, as MPI declares it.
// NOLINTNEXTLINE(cert-dcl50-cpp)
void handler(MPI_Comm* communicator, int* code, ...) {
    MPI_Error_class(*code, &told);
    told_by = *communicator;
}

const char* name_of(int error) {
    switch (error) {
        case MPI_SUCCESS: return "success";
        case MPI_ERR_COUNT: return "count";
        case MPI_ERR_TYPE: return "type";
        case MPI_ERR_OP: return "op";
        case MPI_ERR_COMM: return "comm";
        case MPI_ERR_BUFFER: return "buffer";
        case MPI_ERR_ARG: return "arg";
        case MPI_ERR_NO_MEM: return "no memory";
        default: return "another";
    }
}

/// `comm`: whose error handler is told.
template <class Call>
void try_case(const char* name, MPI_Comm comm, const Call& call) {
    told = MPI_SUCCESS;
    told_by = MPI_COMM_NULL;
    int error = call();
    MPI_Error_class(error, &error);
    const bool is_told = error == MPI_SUCCESS ? told_by == MPI_COMM_NULL : told == error && told_by == comm;
    int mine[2] = {error, is_told ? 1 : 0};
    std::vector<int> all(6);
    MPI_Gather(mine, 2, MPI_INT, all.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    std::printf("%s:", name);
    for (int i = 0; i < 3; ++i) {
        std::printf(" %s%s%s", name_of(all[2 * i]), all[2 * i + 1] != 0 ? "" : " (not told)", i < 2 ? "," : "\n");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int early = rondo_prefix(nullptr, nullptr, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, own);

    std::vector<double> in(9, 1), out(9, -1);
    double total = 0;
    const auto sum = [&](MPI_Count count, MPI_Op op, MPI_Comm on) {
        return rondo_prefix(in.data(), out.data(), count, MPI_DOUBLE, op, 0, on);
    };
    if (rank == 0) std::printf("before MPI_Init: %s\n", early == MPI_SUCCESS ? "success" : "error");
    try_case("right", comm, [&] { return sum(9, MPI_SUM, comm); });
    try_case("negative count on rank 1", comm, [&] { return sum(rank == 1 ? -1 : 9, MPI_SUM, comm); });
    try_case("no buffer on rank 1", comm, [&] {
        return rondo_prefix(rank == 1 ? nullptr : in.data(), out.data(), 9, MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("no buffer on rank 1, with total", comm, [&] {
        return rondo_prefix_total(rank == 1 ? nullptr : in.data(), out.data(), &total, 9, MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("overlap on rank 0", comm, [&] {
        return rondo_prefix(in.data(), rank == 0 ? in.data() + 1 : out.data(), 5, MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("undefined operator", comm, [&] { return sum(9, MPI_BAND, comm); });
    try_case("operator that reduces nothing", comm, [&] { return sum(9, MPI_REPLACE, comm); });
    try_case("null operator", comm, [&] { return sum(9, MPI_OP_NULL, comm); });
    try_case("null datatype", comm,
             [&] { return rondo_prefix(in.data(), out.data(), 9, MPI_DATATYPE_NULL, MPI_SUM, 0, comm); });
    try_case("struct with an operator of MPI", comm, [&] {
        MPI_Datatype type;
        const int lengths[2] = {1, 1};
        const MPI_Aint places[2] = {0, 8};
        const MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_INT};
        MPI_Type_create_struct(2, lengths, places, parts, &type);
        MPI_Type_commit(&type);
        const int error = rondo_prefix(in.data(), out.data(), 2, type, MPI_SUM, 0, comm);
        MPI_Type_free(&type);
        return error;
    });
    try_case("no place for the total", comm,
             [&] { return rondo_prefix_total(in.data(), out.data(), nullptr, 9, MPI_DOUBLE, MPI_SUM, 0, comm); });
    try_case("no place for the total on rank 1", comm, [&] {
        return rondo_prefix_total(in.data(), out.data(), rank == 1 ? nullptr : &total, 9, MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("total in place on rank 2", comm, [&] {
        void* const place = rank == 2 ? MPI_IN_PLACE : &total;
        return rondo_prefix_total(in.data(), out.data(), place, rank == 1 ? 0 : 9, MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("more elements than there are addresses", comm,
             [&] { return sum(rank == 1 ? MPI_Count{1} << 61 : 9, MPI_SUM, comm); });
    try_case("null communicator", MPI_COMM_WORLD, [&] { return sum(9, MPI_SUM, MPI_COMM_NULL); });
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &inter);
    MPI_Comm_set_errhandler(inter, own);
    try_case("inter-communicator", inter, [&] { return sum(9, MPI_SUM, inter); });
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    try_case("other datatypes on rank 1", comm, [&] {
        return rondo_prefix(in.data(), out.data(), 9, rank == 1 ? MPI_INT64_T : MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("exclusive on rank 1", comm,
             [&] { return rondo_prefix(in.data(), out.data(), 9, MPI_DOUBLE, MPI_SUM, rank == 1 ? 1 : 0, comm); });
    try_case("no memory on rank 1", comm, [&] {
        refusals = rank == 1 ? 1 : 0;
        const int error = sum(9, MPI_SUM, comm);
        refusals = 0;
        return error;
    });
    try_case("shorter datatypes on rank 1", comm, [&] {
        return rondo_prefix(in.data(), out.data(), 9, rank == 1 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM, 0, comm);
    });
    try_case("null operator on rank 1", comm, [&] { return sum(9, rank == 1 ? MPI_OP_NULL : MPI_SUM, comm); });
    try_case("undefined operator on rank 1, with total", comm, [&] {
        const MPI_Op op = rank == 1 ? MPI_BAND : MPI_SUM;
        return rondo_prefix_total(in.data(), out.data(), &total, 9, MPI_DOUBLE, op, 0, comm);
    });
    try_case("null datatype on rank 1", comm, [&] {
        const MPI_Datatype type = rank == 1 ? MPI_DATATYPE_NULL : MPI_DOUBLE;
        return rondo_prefix(in.data(), out.data(), 9, type, MPI_SUM, 0, comm);
    });
    for (const int wants : {0, 1, 2}) {
        const std::string rank_name = std::to_string(wants);
        const auto call = [&](bool wants_total) {
            if (!wants_total) return sum(9, MPI_SUM, comm);
            return rondo_prefix_total(in.data(), out.data(), &total, 9, MPI_DOUBLE, MPI_SUM, 0, comm);
        };
        try_case(("total on rank " + rank_name + " alone").c_str(), comm, [&] { return call(rank == wants); });
        try_case(("no total on rank " + rank_name).c_str(), comm, [&] { return call(rank != wants); });
    }
    // Whatever it is that rank 1 has no memory for: all are told, and the next call is right.
    int granted = 0, refused = 0;
    for (bool is_refused = true; is_refused; ++granted) {
        MPI_Comm fresh;
        MPI_Comm_dup(comm, &fresh);
        MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
        if (sum(1, MPI_SUM, fresh) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 4);
        grants = granted;
        refusals = rank == 1 ? 1 : 0;
        int outcome = rondo_prefix_total(in.data(), out.data(), &total, 9, MPI_INT64_T, MPI_MAX, 0, fresh);
        is_refused = rank == 1 && refusals == 0;
        refusals = 0;
        MPI_Error_class(outcome, &outcome);
        int outcomes[2] = {outcome, -outcome};
        MPI_Allreduce(MPI_IN_PLACE, outcomes, 2, MPI_INT, MPI_MAX, comm);
        const bool is_same = outcomes[0] == -outcomes[1] && (outcome == MPI_SUCCESS || outcome == MPI_ERR_NO_MEM);
        if (!is_same) std::fprintf(stderr, "rank %d, %d granted: %s\n", rank, granted, name_of(outcome));
        if (outcome != MPI_SUCCESS) ++refused;
        if (rondo_prefix_total(in.data(), out.data(), &total, 9, MPI_DOUBLE, MPI_SUM, 0, fresh) != MPI_SUCCESS ||
            total != 27) {
            MPI_Abort(MPI_COMM_WORLD, 5);
        }
        MPI_Bcast(&is_refused, 1, MPI_C_BOOL, 1, comm);
        MPI_Comm_free(&fresh);
    }
    try_case("no memory for anything", comm, [&] { return refused > 2 ? MPI_SUCCESS : MPI_ERR_OTHER; });
    try_case("right again", comm, [&] { return sum(9, MPI_SUM, comm); });
    const bool is_right = out[8] == 9.0 * (rank + 1);
    try_case("sums", comm, [&] { return is_right ? MPI_SUCCESS : MPI_ERR_OTHER; });

    // What Rondo keeps with communicators goes with them: libraries have some 2000.
    for (int i = 0; i < 2100; ++i) {
        MPI_Comm passing;
        MPI_Comm_dup(comm, &passing);
        if (sum(1, MPI_SUM, passing) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
        MPI_Comm_free(&passing);
    }
    if (rank == 0) std::printf("2100 communicators: success\n");
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    const int late = rondo_prefix(nullptr, nullptr, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) std::printf("after MPI_Finalize: %s\n", late == MPI_SUCCESS ? "success" : "error");
    return 0;
}
