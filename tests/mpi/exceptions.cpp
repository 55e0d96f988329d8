// SPDX-License-Identifier: BSD-3-Clause
// C++ exceptions of the program that pass through collectives: of its error handler, and of its operator. Then a call
// in which nothing is wrong. Prints what rank 0 has caught, which must be the same natively and under Rondo.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace {

struct Judgement : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Tells whether frames between a throw and its handler were unwound in order.
int destroyed = 0;
struct Local {
    ~Local() { ++destroyed; }
};

// Variadic, as MPI declares it.
// NOLINTNEXTLINE(cert-dcl50-cpp)
void throwing_handler(MPI_Comm*, int*, ...) {
    const Local local;
    throw Judgement("of the error handler");
}

bool operator_throws = false;

void throwing_sum(void* input, void* into, int* count, MPI_Datatype*) {
    const Local local;
    if (operator_throws) throw Judgement("of the operator");
    for (int i = 0; i < *count; ++i) static_cast<int*>(into)[i] += static_cast<int*>(input)[i];
}

int rank = 0;

template <class Call>
void report(const char* what, Call call) {
    destroyed = 0;
    std::string caught;
    try {
        const int error = call();
        int error_class = error;
        if (error != MPI_SUCCESS) MPI_Error_class(error, &error_class);
        caught = error == MPI_SUCCESS ? "success" : "error class " + std::to_string(error_class);
    } catch (const Judgement& judgement) {
        caught = judgement.what();
    }
    if (rank == 0) std::printf("%s: %s, %d destroyed\n", what, caught.c_str(), destroyed);
    if (std::uncaught_exceptions() != 0) std::printf("%d on their way\n", std::uncaught_exceptions());
}

}  // namespace

int main(int argument_count, char** arguments) {
    MPI_Init(&argument_count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm world;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(throwing_handler, &handler);
    MPI_Comm_set_errhandler(world, handler);
    MPI_Op sum;
    MPI_Op_create(throwing_sum, 1, &sum);
    int one = 1, total = 0;
    const auto allreduce = [&] { return MPI_Allreduce(&one, &total, 1, MPI_INT, sum, world); };
    const auto bcast = [&](int root) { return MPI_Bcast(&one, 1, MPI_INT, root, world); };
    const auto exscan = [&] { return MPI_Exscan(&one, &total, 1, MPI_INT, MPI_SUM, world); };

    for (int repetition = 0; repetition < 3; ++repetition) {
        report("allreduce, right", allreduce);
        report("exscan, right", exscan);
        report("bcast, right", [&] { return bcast(0); });
        report("bcast, no such root", [&] { return bcast(99); });
    }
    if (rank == 0) std::printf("total %d\n", total);
    if (argument_count > 1) {
        // What MPI libraries do after that nobody promises, not even that they can be finalized.
        operator_throws = true;
        report("allreduce, throwing operator", allreduce);
        std::fflush(stdout);
        if (rank != 0) sleep(1);  // a launcher ends the others with the first one that leaves without MPI_Finalize
        std::_Exit(0);
    }
    MPI_Op_free(&sum);
    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&world);
    MPI_Finalize();
}
