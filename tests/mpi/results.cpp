// SPDX-License-Identifier: BSD-3-Clause
// Results of one collective: every operator and type, user-defined ones too, counts, roots, communicators, in place.
// Arguments: bcast, exscan, reduce or scan; the large count; "brief" leaves out what depends on the MPI library alone;
// "tame" leaves out what some libraries do not survive.
// Prints a digest of all results, and how many calls had something to do, by what an algorithm may refuse.
#include <set>

#include "bcast_checks.hpp"
#include "reduction_checks.hpp"
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

/// What all communicators are checked with.
struct Material {
    std::vector<Problem> predefined;
    std::vector<Layout> types;
    Operators operators;
    std::size_t large_count;
    bool brief;

    [[nodiscard]] const Problem& named(const std::string& name) const {
        for (const Problem& problem : predefined) {
            if (problem.name == name) return problem;
        }
        std::abort();
    }
};

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
    }
    if (size_of(communicator) == 5 && !material.brief) {
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
            (checker.collective == Collective::scan ? MPI_Scan : MPI_Exscan)(input.data(), results.data(), count,
                                                                             MPI_DOUBLE, MPI_SUM, communicator);
        }
        if (repetition == 0) first = results;
        if (std::memcmp(first.data(), results.data(), results.size() * sizeof(double)) != 0) same = false;
    }
    return same;
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

/// The layouts, and the same words described by what needs no packing.
std::vector<Layout> layouts_to_mix(const std::vector<Layout>& types) {
    const auto word = static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
    std::vector<Layout> all = types;
    MPI_Datatype repeated;
    MPI_Type_contiguous(3, types[0].type, &repeated);
    MPI_Datatype duplicate;
    MPI_Type_dup(types[0].type, &duplicate);
    all.push_back({"contiguous of contiguous", repeated, {{0, word}, {2 * word, 3 * word}, {4 * word, 5 * word}}, 0});
    all.push_back({"duplicate", duplicate, {{0, word}}, 0});
#if MPI_VERSION >= 4
    MPI_Datatype counted_large;
    MPI_Type_contiguous_c(2, MPI_UINT64_T, &counted_large);
    all.push_back({"contiguous by a large count", counted_large, {{0, word}}, 0});
#endif
    for (std::size_t index = types.size(); index < all.size(); ++index) MPI_Type_commit(&all[index].type);
    return all;
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
    if (size_of(communicator) == 5 && !material.brief) check_predefined_types(checker, communicator, material);
}

/// `check` on communicators of every size.
template <class AnyChecker, class Check>
void check_sizes(AnyChecker& checker, const Material& material, const Check& check) {
    for (int ranks = 1; ranks <= size_of(MPI_COMM_WORLD); ++ranks) {
        MPI_Comm communicator = reversed(ranks);
        if (communicator == MPI_COMM_NULL) continue;
        checker.begin_communicator();
        check(checker, communicator, material);
        MPI_Comm_free(&communicator);
    }
}

/// By a collective that is no subject here.
int print_results(const Checker& checker, const Material& material) {
    const int rank = rank_in(MPI_COMM_WORLD);
    unsigned long digest = checker.digest * static_cast<unsigned long>(2 * rank + 1);
    unsigned long combined = 0;
    MPI_Allreduce(&digest, &combined, 1, MPI_UNSIGNED_LONG, MPI_BXOR, MPI_COMM_WORLD);
    const auto print_total = [rank](const std::string& name, long mine) {
        long total = 0;
        MPI_Allreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) std::printf("%s %ld\n", name.c_str(), total);
    };
    if (rank == 0) std::printf("problems %zu\ndigest %016lx\n", material.predefined.size(), combined);
    print_total("failures", checker.failures);
    print_total("unrepeated", checker.unrepeated);
    for (const std::string order : {"commutative", "ordered"}) {
        for (const std::string length : {"_long", "_short"}) {
            for (const std::string root : {"_inner", "_outer"}) {
                const auto found = checker.calls.find(order + length + root);
                print_total(order + length + root, found == checker.calls.end() ? 0 : found->second);
            }
        }
    }
    return checker.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string subject = argc > 1 ? argv[1] : "scan";
    Material material{};
    material.large_count = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 20000;
    const std::set<std::string> modes(argv + std::min(argc, 3), argv + argc);
    material.brief = modes.count("brief") != 0;

    // Only while the library is asked what it supports.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    material.predefined = predefined_problems();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);

    material.types = layouts();
    Operators& operators = material.operators;
    MPI_Op_create(compose_function, 0, &operators.compose);
    MPI_Op_create(add_modulo_function, 1, &operators.add_modulo);
#if MPI_VERSION >= 4
    MPI_Op_create_c(compose_large_function, 0, &operators.compose_large);
#else
    MPI_Op_create(compose_function, 0, &operators.compose_large);
#endif

    int status = 0;
    if (subject == "bcast") {
        BcastChecker checker;
        check_sizes(checker, material, check_broadcasts);
        status = print_results(checker, material);
    } else {
        ReductionChecker checker(subject == "reduce"   ? Collective::reduce
                                 : subject == "exscan" ? Collective::exscan
                                                       : Collective::scan);
        checker.tame = modes.count("tame") != 0;
        check_sizes(checker, material, check_reductions);
        check_sizes(checker, material, [](auto& same, MPI_Comm communicator, const Material&) {
            if (!repeats(same, communicator)) ++same.unrepeated;
        });
        if (calls_with_another_type > 0) checker.fail("user function called with another datatype");
        status = print_results(checker, material);
    }

    MPI_Op_free(&operators.compose);
    MPI_Op_free(&operators.compose_large);
    MPI_Op_free(&operators.add_modulo);
    for (Layout& layout : material.types) MPI_Type_free(&layout.type);
    MPI_Finalize();
    return status;
}
