// SPDX-License-Identifier: BSD-3-Clause
// Results of one collective whose vector has a part for each rank, as results.cpp of the others: counts, displacements,
// types, operators, communicators, in place. Arguments: allgather or reduce_scatter (with and without counts),
// alltoall, alltoallv, gather, gatherv, scatter or scatterv, then those of Material.
#include "allgather_checks.hpp"
#include "alltoall_checks.hpp"
#include "material.hpp"
#include "reduce_scatter_checks.hpp"
#include "rooted_checks.hpp"

namespace {

void check_reductions(ReduceScatterChecker& checker, MPI_Comm communicator, const Material& material) {
    const Problem& sum = material.named("MPI_LONG MPI_SUM");
    const Operators& operators = material.operators;
    const Problem maps = composition(material.types[0], operators.compose);
    const auto ranks = static_cast<std::size_t>(size_of(communicator));
    current_layout = material.types.data();
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100}}) {
        checker.run(sum, communicator, count);
        checker.run(maps, communicator, count);
    }
    checker.run(sum, communicator, Division(ranks, 0));
    checker.run(sum, communicator, Division(ranks, material.large_count / ranks));
    checker.run(modular_sum(operators.add_modulo), communicator, 7);
    Division uneven(ranks, 2);
    uneven[ranks / 2] = 5;
    for (const Layout& layout : material.types) {
        if (checker.tame && (interlocks(layout.type) || !starts_at_its_address(layout.type))) continue;
        current_layout = &layout;
        for (const Division& division : {Division(ranks, 2), uneven}) {
            checker.run(composition(layout, operators.compose), communicator, division);
            checker.run(composition(layout, operators.compose_large), communicator, division);
            checker.run(addition(layout, operators.add_words), communicator, division);
        }
    }
    if (material.is_full_for(size_of(communicator))) {
        for (const Problem& problem : material.predefined) checker.run(problem, communicator, uneven);
    }
}

/// Predefined types, each once.
template <class AnyChecker>
void move_predefined_types(AnyChecker& checker, MPI_Comm communicator, const Material& material,
                           const Division& division) {
    MPI_Datatype last = MPI_DATATYPE_NULL;
    for (const Problem& problem : material.predefined) {
        if (problem.type != last) checker.run(problem, communicator, division);
        last = problem.type;
    }
    Problem letters = material.named("MPI_SIGNED_CHAR MPI_MAX");
    for (const MPI_Datatype type : {MPI_CHAR, MPI_PACKED, MPI_BYTE}) {
        letters.type = type;
        checker.run(letters, communicator, division);
    }
}

/// Words that each rank describes by a type of its own.
template <class AnyChecker>
void move_mixed_types(AnyChecker& checker, MPI_Comm communicator, const Material& material) {
    const auto ranks = static_cast<std::size_t>(size_of(communicator));
    std::vector<Layout> layouts = layouts_to_mix(material.types);
    // Six words fill an element of every layout. The first part is the longest, then the last; some are empty.
    Division words(ranks, 6);
    words[0] = 42;
    checker.run_mixed(layouts, communicator, words);
    words[0] = 0;
    words[ranks - 1] = 12;
    checker.run_mixed(layouts, communicator, words);
    checker.run_mixed(layouts, communicator, Division(ranks, 2));
    checker.run_mixed(layouts, communicator, Division(ranks, 6));
    for (std::size_t index = material.types.size(); index < layouts.size(); ++index) {
        MPI_Type_free(&layouts[index].type);
    }
    layouts = layouts_with_fortran_kind(material.types);
    if (!layouts.empty()) {
        checker.run_mixed(layouts, communicator, Division(ranks, 6));
        MPI_Type_free(&layouts.back().type);
    }
}

void check_gathers(AllgatherChecker& checker, MPI_Comm communicator, const Material& material) {
    const Problem& numbers = material.named("MPI_LONG MPI_SUM");
    const auto ranks = static_cast<std::size_t>(size_of(communicator));
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        for (const Division& division : divisions(size_of(communicator), count)) {
            checker.run(numbers, communicator, division);
        }
    }
    checker.run(numbers, communicator, Division(ranks, material.large_count / ranks));
    checker.run_absolute(communicator);
#ifndef OPEN_MPI  // whose own allgathers choose an algorithm by what each rank calls the data, and hang
    move_mixed_types(checker, communicator, material);
#endif
    if (!material.is_full_for(size_of(communicator))) return;
    Division division(ranks, 3);
    division[1] = 5;
    move_predefined_types(checker, communicator, material, division);
}

/// To and from a root.
void check_rooted(RootedChecker& checker, MPI_Comm communicator, const Material& material) {
    const Problem& numbers = material.named("MPI_LONG MPI_SUM");
    const auto ranks = static_cast<std::size_t>(size_of(communicator));
    for (const Division& division : divisions(size_of(communicator), 7)) {
        checker.run(numbers, communicator, division);
    }
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
        // From and to every rank.
        for (std::size_t root = 0; root < ranks; ++root) checker.run_equal(numbers, communicator, count);
    }
    checker.run_equal(numbers, communicator, material.large_count / ranks);
    checker.run_absolute(communicator);
    move_mixed_types(checker, communicator, material);
    if (!material.is_full_for(size_of(communicator))) return;
    Division division(ranks, 3);
    move_predefined_types(checker, communicator, material, division);
    division[1] = 5;
    move_predefined_types(checker, communicator, material, division);
}

void check_exchanges(AlltoallChecker& checker, MPI_Comm communicator, const Material& material, bool parts_differ) {
    const Problem& numbers = material.named("MPI_LONG MPI_SUM");
    const int size = size_of(communicator);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{300}}) {
        const auto all = AlltoallChecker::lengths(size, count);
        for (std::size_t i = 0; i < (parts_differ ? all.size() : 1); ++i) checker.run(numbers, communicator, all[i]);
    }
    const std::size_t large = material.large_count / static_cast<std::size_t>(size);
    checker.run(numbers, communicator, AlltoallChecker::lengths(size, large)[0]);
    std::vector<Layout> layouts = layouts_to_mix(material.types);
    // Six words fill an element of every layout.
    checker.run_mixed(layouts, communicator, [](int, int) { return 6; });
    if (parts_differ)
        checker.run_mixed(layouts, communicator, [](int from, int to) { return (from + 2 * to) % 3 * 6; });
    for (std::size_t index = material.types.size(); index < layouts.size(); ++index) {
        MPI_Type_free(&layouts[index].type);
    }
    if (!material.is_full_for(size)) return;
    MPI_Datatype last = MPI_DATATYPE_NULL;
    for (const Problem& problem : material.predefined) {
        if (problem.type != last) checker.run(problem, communicator, [](int, int) { return 3; });
        last = problem.type;
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string subject = argc > 1 ? argv[1] : "allgather";
    int status = 0;
    {
        const Material material({argv + std::min(argc, 2), argv + argc});
        if (subject == "allgather") {
            AllgatherChecker checker;
            checker.tame = material.tame;
            check_sizes(checker, material, check_gathers);
            status = print_results(checker, material);
        } else if (subject == "alltoall" || subject == "alltoallv") {
            const bool parts_differ = subject == "alltoallv";
            AlltoallChecker checker(parts_differ);
            check_sizes(checker, material, [parts_differ](auto& each, MPI_Comm communicator, const Material& with) {
                check_exchanges(each, communicator, with, parts_differ);
            });
            status = print_results(checker, material);
        } else if (subject.starts_with("gather") || subject.starts_with("scatter")) {
            RootedChecker checker;
            checker.scatters = subject.starts_with("scatter");
            checker.parts_differ = subject.ends_with("v");
            check_sizes(checker, material, check_rooted);
            status = print_results(checker, material);
        } else {
            ReduceScatterChecker checker;
            checker.tame = material.tame;
            check_sizes(checker, material, check_reductions);
            if (calls_with_another_type > 0) checker.fail("user function called with another datatype");
            status = print_results(checker, material);
        }
    }
    MPI_Finalize();
    return status;
}
