// SPDX-License-Identifier: BSD-3-Clause
// What the programs that check results have in common: what they check with, on which communicators, what they print.
#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "checker.hpp"
#include "user_problems.hpp"

/// Ranks 0 to size-1 of the world in reversed order; MPI_COMM_NULL elsewhere.
inline MPI_Comm reversed(int size) {
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
    MPI_Op add_words;
};

/// What all communicators are checked with.
struct Material {
    std::vector<Problem> predefined;
    std::vector<Layout> types;
    Operators operators{};
    std::size_t large_count;
    bool brief;
    bool tame;

    /// From a program's arguments: the large count; then "brief" leaves out what depends on the MPI library alone,
    /// "tame" what some libraries do not survive.
    Material(const std::vector<std::string>& arguments) : large_count(20000) {
        if (!arguments.empty()) large_count = std::stoul(arguments[0]);
        const auto says = [&](const char* word) {
            return std::find(arguments.begin(), arguments.end(), word) != arguments.end();
        };
        brief = says("brief");
        tame = says("tame");
        // Only while the library is asked what it supports.
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        predefined = predefined_problems();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        types = layouts();
        MPI_Op_create(compose_function, 0, &operators.compose);
        MPI_Op_create(add_modulo_function, 1, &operators.add_modulo);
        MPI_Op_create(add_words_function, 1, &operators.add_words);
#if MPI_VERSION >= 4
        MPI_Op_create_c(compose_large_function, 0, &operators.compose_large);
#else
        MPI_Op_create(compose_function, 0, &operators.compose_large);
#endif
    }
    Material(const Material&) = delete;
    Material& operator=(const Material&) = delete;
    ~Material() {
        MPI_Op_free(&operators.compose);
        MPI_Op_free(&operators.compose_large);
        MPI_Op_free(&operators.add_modulo);
        MPI_Op_free(&operators.add_words);
        for (Layout& layout : types) MPI_Type_free(&layout.type);
    }

    /// Whether `predefined` is tried with so many ranks: with a few, and with those of four nodes of four.
    [[nodiscard]] bool is_full_for(int ranks) const { return !brief && (ranks == 5 || ranks == 16); }

    [[nodiscard]] const Problem& named(const std::string& name) const {
        for (const Problem& problem : predefined) {
            if (problem.name == name) return problem;
        }
        std::abort();
    }
};

/// The layouts, and the same words described by what needs no packing.
inline std::vector<Layout> layouts_to_mix(const std::vector<Layout>& types) {
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

/// Two words as such, and as a Fortran kind, which is predefined and has no name; nothing if the library knows no
/// Fortran. The last type is to be freed.
inline std::vector<Layout> layouts_with_fortran_kind(const std::vector<Layout>& types) {
    MPI_Errhandler handler;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype kind = MPI_DATATYPE_NULL;
    int bytes = 0;
    if (MPI_Type_create_f90_integer(18, &kind) == MPI_SUCCESS) MPI_Type_size(kind, &bytes);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    const auto word = static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
    if (bytes != word) return {};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, kind, &pair);
    MPI_Type_commit(&pair);
    return {types[0], {"contiguous of a Fortran kind", pair, {{0, word}}, 0}};
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

/// What all ranks have, on rank 0: by messages, so that no call of a collective is counted.
template <class Number>
std::vector<Number> gathered(Number mine, MPI_Datatype type) {
    std::vector<Number> all(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
    const int rank = rank_in(MPI_COMM_WORLD);
    MPI_Request sent;
    MPI_Isend(&mine, 1, type, 0, 0, MPI_COMM_WORLD, &sent);
    for (std::size_t other = 0; rank == 0 && other < all.size(); ++other) {
        MPI_Recv(&all[other], 1, type, static_cast<int>(other), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    return all;
}

inline int print_results(const Checker& checker, const Material& material) {
    const int rank = rank_in(MPI_COMM_WORLD);
    const auto digests = gathered(checker.digest * static_cast<unsigned long>(2 * rank + 1), MPI_UNSIGNED_LONG);
    const auto combined = std::accumulate(digests.begin(), digests.end(), 0UL, std::bit_xor<>());
    const auto print_total = [rank](const std::string& name, long mine) {
        const std::vector<long> all = gathered(mine, MPI_LONG);
        if (rank == 0) std::printf("%s %ld\n", name.c_str(), std::accumulate(all.begin(), all.end(), 0L));
    };
    if (rank == 0) std::printf("problems %zu\ndigest %016lx\n", material.predefined.size(), combined);
    print_total("failures", checker.failures);
    print_total("unrepeated", checker.unrepeated);
    std::vector<std::string> kinds = {""};
    for (const auto& [one, other] :
         {std::pair("commutative", "ordered"), std::pair("_long", "_short"), std::pair("_inner", "_outer"),
          std::pair("_power", "_other"), std::pair("_even", "_uneven")}) {
        std::vector<std::string> longer;
        for (const std::string& kind : kinds) longer.insert(longer.end(), {kind + one, kind + other});
        kinds = longer;
    }
    for (const std::string& kind : kinds) {
        const auto found = checker.calls.find(kind);
        print_total(kind, found == checker.calls.end() ? 0 : found->second);
    }
    return checker.failures == 0 ? 0 : 1;
}
