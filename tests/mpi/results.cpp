// SPDX-License-Identifier: BSD-3-Clause
// Results of one collective: every operator and type, user-defined ones too, counts, roots, communicators, in place.
// Arguments: allreduce, bcast, exscan, reduce or scan; then those of Material.
// Prints a digest of all results, and how many calls had something to do, by what an algorithm may refuse.
#include <cmath>

#include "bcast_checks.hpp"
#include "material.hpp"
#include "reduction_checks.hpp"

namespace {

void check_reductions(ReductionChecker& checker, MPI_Comm communicator, const Material& material) {
    const Problem& sum = material.named("MPI_LONG MPI_SUM");
    const Operators& operators = material.operators;
    const Problem modular = modular_sum(operators.add_modulo);
    const Problem maps = composition(material.types[0], operators.compose);
    current_layout = material.types.data();
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
        checker.run(sum, communicator, count);
        checker.run(maps, communicator, count);
    }
    checker.run_with_every_root(sum, communicator, 5);
    checker.run_with_every_root(maps, communicator, 7);
    checker.run(modular, communicator, 7);
    checker.run(sum, communicator, material.large_count);
    for (const Layout& layout : material.types) {
        if (checker.tame && interlocks(layout.type)) continue;
        current_layout = &layout;
        checker.run(composition(layout, operators.compose), communicator, 3);
        checker.run(composition(layout, operators.compose_large), communicator, 20);
        // With operators that commute, MPICH's own allreduce writes beside elements that do not start at their address.
        if (starts_at_its_address(layout.type)) {
            checker.run(addition(layout, operators.add_words), communicator, 20);
        }
    }
    if (material.is_full_for(size_of(communicator))) {
        for (const Problem& problem : material.predefined) checker.run(problem, communicator, 13);
    }
}

/// Rounding depends on the order of operations, which should not change from call to call: MPI advises so, and Rondo
/// keeps to it. False if it does.
bool repeats(const ReductionChecker& checker, MPI_Comm communicator) {
    constexpr int count = 501;
    const int rank = rank_in(communicator);
    std::vector<double> input(count);
    for (int index = 0; index < count; ++index) {
        input[index] = 1.0 / static_cast<double>(1 + noise(rank, index) % 1000003) - 0.3;
    }
    std::vector<double> first;
    bool same = true;
    for (int repetition = 0; repetition < 5; ++repetition) {
        std::vector<double> results(count);
        if (checker.collective == Collective::reduce) {
            MPI_Reduce(input.data(), results.data(), count, MPI_DOUBLE, MPI_SUM, 0, communicator);
        } else {
            checker.function()(input.data(), results.data(), count, MPI_DOUBLE, MPI_SUM, communicator);
        }
        if (repetition == 0) first = results;
        if (std::memcmp(first.data(), results.data(), results.size() * sizeof(double)) != 0) same = false;
    }
    return same;
}

/// MPI advises that all ranks get the same result of an allreduce, to the last bit, whatever the order in which it was
/// computed. Here nearly every order gives another one.
void check_rounding(ReductionChecker& checker, MPI_Comm communicator, const Material& material) {
    const int rank = rank_in(communicator);
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{501}, material.large_count}) {
        for (const bool in_place : {false, true}) {
            std::vector<double> input(count);
            for (std::size_t index = 0; index < count; ++index) {
                const std::uint64_t random = noise(static_cast<std::uint64_t>(rank), index, 11);
                const double value = std::ldexp(static_cast<double>(random % 1000003), static_cast<int>(random % 60));
                input[index] = random >> 63 != 0 ? value : -value;
            }
            std::vector<double> result = in_place ? input : std::vector<double>(count);
            const void* send = in_place ? MPI_IN_PLACE : input.data();
            MPI_Allreduce(send, result.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, communicator);
            checker.count_call(size_of(communicator), count * sizeof(double), 0);
            std::vector<double> first = result;
            MPI_Bcast(first.data(), static_cast<int>(count), MPI_DOUBLE, 0, communicator);
            if (std::memcmp(first.data(), result.data(), count * sizeof(double)) != 0) {
                checker.fail("the sum of " + std::to_string(count) + " doubles differs between ranks 0 and " +
                             std::to_string(rank) + " of " + std::to_string(size_of(communicator)));
            }
        }
    }
}

/// Predefined types, each once; those without an operator besides.
void check_predefined_types(BcastChecker& checker, MPI_Comm communicator, const Material& material) {
    MPI_Datatype last = MPI_DATATYPE_NULL;
    for (const Problem& problem : material.predefined) {
        if (problem.type != last) checker.run(problem, communicator, 13);
        last = problem.type;
    }
    Problem letters = material.named("MPI_SIGNED_CHAR MPI_MAX");
    for (const MPI_Datatype type : {MPI_CHAR, MPI_PACKED, MPI_BYTE}) {
        letters.type = type;
        checker.run(letters, communicator, 13);
    }
}

void check_broadcasts(BcastChecker& checker, MPI_Comm communicator, const Material& material) {
    const Problem& numbers = material.named("MPI_LONG MPI_SUM");
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}, material.large_count}) {
        checker.run(numbers, communicator, count);
    }
    std::vector<Layout> layouts = layouts_to_mix(material.types);
    for (int root = 0; root < size_of(communicator); ++root) {
        checker.run_mixed(layouts, communicator, 42, root);
        checker.run_absolute(communicator, root);
    }
    for (const std::size_t words : {std::size_t{0}, std::size_t{2}, 2 * BcastChecker::most_interlocked,
                                    std::size_t{600}, 6 * (material.large_count / 10)}) {
        checker.run_mixed(layouts, communicator, words, checker.next_root(size_of(communicator)));
    }
    for (std::size_t index = material.types.size(); index < layouts.size(); ++index) {
        MPI_Type_free(&layouts[index].type);
    }
    layouts = layouts_with_fortran_kind(material.types);
    if (!layouts.empty()) {
        checker.run_mixed(layouts, communicator, 42, 0);
        MPI_Type_free(&layouts.back().type);
    }
    if (material.is_full_for(size_of(communicator))) check_predefined_types(checker, communicator, material);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string subject = argc > 1 ? argv[1] : "scan";
    int status = 0;
    {
        const Material material({argv + std::min(argc, 2), argv + argc});
        if (subject == "bcast") {
            BcastChecker checker;
            check_sizes(checker, material, check_broadcasts);
            status = print_results(checker, material);
        } else {
            ReductionChecker checker(collective_named(subject));
            checker.tame = material.tame;
            check_sizes(checker, material, check_reductions);
            check_sizes(checker, material, [](auto& same, MPI_Comm communicator, const Material&) {
                if (!repeats(same, communicator)) ++same.unrepeated;
            });
            if (subject == "allreduce") check_sizes(checker, material, check_rounding);
            if (calls_with_another_type > 0) checker.fail("user function called with another datatype");
            status = print_results(checker, material);
        }
    }
    MPI_Finalize();
    return status;
}
