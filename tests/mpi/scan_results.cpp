// SPDX-License-Identifier: BSD-3-Clause
// Results of MPI_Scan and MPI_Exscan: every operator and type, user-defined ones too, counts, communicators, in place.
// Arguments: the large count; "brief" leaves out what depends on the MPI library alone.
// Prints a digest of all results, and how many calls had something to do.
#include "user_problems.hpp"

namespace {

/// Ranks 0 to size-1 of the world in reversed order; MPI_COMM_NULL elsewhere.
MPI_Comm reversed(int size) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm communicator;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, -rank, &communicator);
    if (communicator != MPI_COMM_NULL) MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    return communicator;
}

struct Operators {
    MPI_Op compose;
    MPI_Op compose_large;
    MPI_Op add_modulo;
};

const Problem& named(const std::vector<Problem>& problems, const std::string& name) {
    for (const Problem& problem : problems) {
        if (problem.name == name) return problem;
    }
    std::abort();
}

void check_size(Checker& checker, MPI_Comm communicator, const std::vector<Problem>& predefined,
                const std::vector<Layout>& types, const Operators& operators, std::size_t large_count) {
    const Problem& sum = named(predefined, "MPI_LONG MPI_SUM");
    const Problem modular = modular_sum(operators.add_modulo);
    const Problem maps = composition(types[0], operators.compose);
    current_layout = types.data();
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
        checker.run(sum, communicator, count);
        checker.run(maps, communicator, count);
    }
    checker.run(modular, communicator, 7);
    checker.run(sum, communicator, large_count);
    for (const Layout& layout : types) {
        current_layout = &layout;
        checker.run(composition(layout, operators.compose), communicator, 3);
        checker.run(composition(layout, operators.compose_large), communicator, 20);
    }
}

/// Rounding depends on the order of operations, so that order must not change from call to call.
void check_repetition(Checker& checker, MPI_Comm communicator) {
    constexpr int count = 501;
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    std::vector<double> input(count);
    for (int index = 0; index < count; ++index) {
        input[index] = 1.0 / static_cast<double>(1 + noise(rank, index) % 1000003) - 0.3;
    }
    std::vector<double> first;
    for (int repetition = 0; repetition < 5; ++repetition) {
        std::vector<double> results(2 * count);
        MPI_Scan(input.data(), results.data(), count, MPI_DOUBLE, MPI_SUM, communicator);
        MPI_Exscan(input.data(), results.data() + count, count, MPI_DOUBLE, MPI_SUM, communicator);
        if (repetition == 0) first = results;
        if (std::memcmp(first.data(), results.data(), results.size() * sizeof(double)) != 0) {
            checker.fail("repetition " + std::to_string(repetition) + " differs in the last bits");
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::size_t large_count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20000;
    const bool brief = argc > 2 && std::string(argv[2]) == "brief";

    // Only while the library is asked what it supports.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const std::vector<Problem> predefined = predefined_problems();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);

    std::vector<Layout> types = layouts();
    Operators operators{};
    MPI_Op_create(compose_function, 0, &operators.compose);
    MPI_Op_create(add_modulo_function, 1, &operators.add_modulo);
#if MPI_VERSION >= 4
    MPI_Op_create_c(compose_large_function, 0, &operators.compose_large);
#else
    MPI_Op_create(compose_function, 0, &operators.compose_large);
#endif

    Checker checker;
    for (int ranks = 1; ranks <= size; ++ranks) {
        const MPI_Comm communicator = reversed(ranks);
        if (communicator == MPI_COMM_NULL) continue;
        check_size(checker, communicator, predefined, types, operators, large_count);
        if (ranks == 5 && !brief) {
            for (const Problem& problem : predefined) checker.run(problem, communicator, 13);
        }
        check_repetition(checker, communicator);
        MPI_Comm free_me = communicator;
        MPI_Comm_free(&free_me);
    }
    if (calls_with_another_type > 0) checker.fail("user function called with another datatype");

    MPI_Op_free(&operators.compose);
    MPI_Op_free(&operators.compose_large);
    MPI_Op_free(&operators.add_modulo);
    for (Layout& layout : types) MPI_Type_free(&layout.type);

    unsigned long digest = checker.digest * static_cast<unsigned long>(2 * rank + 1);
    unsigned long combined = 0;
    MPI_Reduce(&digest, &combined, 1, MPI_UNSIGNED_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
    long counters[3] = {checker.failures, checker.scans, checker.exscans};
    long totals[3] = {};
    MPI_Reduce(counters, totals, 3, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("problems %zu\ndigest %016lx\nscans %ld\nexscans %ld\nfailures %ld\n", predefined.size(), combined,
                    totals[1], totals[2], totals[0]);
    }
    MPI_Finalize();
    return checker.failures == 0 ? 0 : 1;
}
