// SPDX-License-Identifier: BSD-3-Clause
// User-defined operators, most of them not commutative, on datatypes with every oddity that MPI allows.
#pragma once

#include <array>

#include "predefined_problems.hpp"

/// A map x -> a x + b modulo 2^64. Composition is associative and not commutative.
struct Affine {
    std::uint64_t a;
    std::uint64_t b;
};

/// left first: the map of the lower rank is applied before the map of the higher one.
inline Affine compose(Affine left, Affine right) { return {left.a * right.a, right.a * left.b + right.b}; }

/// Where the maps lie in one element of a datatype, in the order of its signature; the extent is what MPI says.
struct Layout {
    std::string name;
    MPI_Datatype type;
    std::vector<std::array<std::ptrdiff_t, 2>> maps;  ///< offsets of a and b
    std::ptrdiff_t extent;
};

/// What user functions are being called for. MPI tells them the datatype; that it is this one is part of the test.
inline const Layout* current_layout = nullptr;
inline long calls_with_another_type = 0;

/// Commutes.
inline Affine add(Affine left, Affine right) { return {left.a + right.a, left.b + right.b}; }

template <class Combine>
void combine_elements(const void* left, void* right, std::ptrdiff_t count, MPI_Datatype type, Combine combine) {
    if (type != current_layout->type) ++calls_with_another_type;
    const auto* from = static_cast<const std::byte*>(left);
    auto* to = static_cast<std::byte*>(right);
    for (std::ptrdiff_t index = 0; index < count; ++index) {
        for (const auto& [a, b] : current_layout->maps) {
            const std::ptrdiff_t base = index * current_layout->extent;
            const auto map = [&](const std::byte* element) {
                return Affine{load<std::uint64_t>(element + base + a), load<std::uint64_t>(element + base + b)};
            };
            const Affine result = combine(map(from), map(to));
            store(to + base + a, result.a);
            store(to + base + b, result.b);
        }
    }
}

inline void add_words_function(void* left, void* right, int* count, MPI_Datatype* type) {
    combine_elements(left, right, *count, *type, add);
}

inline void compose_function(void* left, void* right, int* count, MPI_Datatype* type) {
    combine_elements(left, right, *count, *type, compose);
}

#if MPI_VERSION >= 4
inline void compose_large_function(void* left, void* right, MPI_Count* count, MPI_Datatype* type) {
    combine_elements(left, right, *count, *type, compose);
}
#endif

inline constexpr long modulus = 1000003;

inline void add_modulo_function(void* left, void* right, int* count, MPI_Datatype* /*type*/) {
    const auto* from = static_cast<const long*>(left);
    auto* to = static_cast<long*>(right);
    for (int index = 0; index < *count; ++index) to[index] = (from[index] + to[index]) % modulus;
}

inline Problem modular_sum(MPI_Op op) {
    return {
        "user-defined sum modulo 1000003",
        MPI_LONG,
        op,
        [](int rank, std::size_t index, std::byte* element) {
            store(element, static_cast<long>(noise(rank, index) % modulus));
        },
        [](const std::byte* left, std::byte* right) { store(right, (load<long>(left) + load<long>(right)) % modulus); },
        values_of<long>};
}

/// Pairs of words, combined.
inline Problem pairwise(const std::string& name, const Layout& layout, MPI_Op op, Affine (*combine)(Affine, Affine)) {
    return {name + layout.name,
            layout.type,
            op,
            [&layout](int rank, std::size_t index, std::byte* element) {
                for (const auto& [a, b] : layout.maps) {
                    store(element + a, noise(rank, index, 2) | 1U);
                    store(element + b, noise(rank, index, 3 + static_cast<std::uint64_t>(a)));
                }
            },
            [&layout, combine](const std::byte* left, std::byte* right) {
                for (const auto& [a, b] : layout.maps) {
                    const auto map = [a = a, b = b](const std::byte* element) {
                        return Affine{load<std::uint64_t>(element + a), load<std::uint64_t>(element + b)};
                    };
                    const Affine result = combine(map(left), map(right));
                    store(right + a, result.a);
                    store(right + b, result.b);
                }
            },
            [&layout](const std::byte* element) {
                std::vector<double> values;
                for (const auto& [a, b] : layout.maps) {
                    for (const auto offset : {a, b}) {
                        for (const double half : values_of<std::uint64_t>(element + offset)) values.push_back(half);
                    }
                }
                return values;
            }};
}

inline Problem composition(const Layout& layout, MPI_Op op) {
    return pairwise("composition of maps, ", layout, op, compose);
}

inline Problem addition(const Layout& layout, MPI_Op op) { return pairwise("addition, ", layout, op, add); }

/// Committed datatypes; whoever asks frees them.
inline std::vector<Layout> layouts() {
    const auto word = static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
    MPI_Datatype contiguous;
    MPI_Type_contiguous(2, MPI_UINT64_T, &contiguous);

    // a b . . . a b . . . a b
    MPI_Datatype strided;
    MPI_Type_vector(3, 2, 5, MPI_UINT64_T, &strided);

    // a, a gap, b, then nothing until the end of the extent.
    MPI_Datatype gapped;
    std::array<int, 2> lengths = {1, 1};
    std::array<MPI_Aint, 2> places = {0, 2 * word};
    std::array<MPI_Datatype, 2> parts = {MPI_UINT64_T, MPI_UINT64_T};
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &gapped);

    // Data above the origin, b before a.
    MPI_Datatype displaced;
    places = {5 * word, 3 * word};
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &displaced);

    // No gap, but b before a: not the order of the signature.
    MPI_Datatype reversed;
    places = {word, 0};
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &reversed);

    // Data below the origin.
    MPI_Datatype below;
    places = {-2 * word, 0};
    MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &below);

    MPI_Datatype spread;
    MPI_Type_create_resized(contiguous, -word, 5 * word, &spread);

    // Up to 32 elements interlock: the extent is smaller than what an element spans.
    MPI_Datatype interlocked;
    MPI_Datatype distant;
    MPI_Type_vector(2, 1, 32, MPI_UINT64_T, &distant);
    MPI_Type_create_resized(distant, 0, word, &interlocked);
    MPI_Type_free(&distant);

    std::vector<Layout> all = {
        {"contiguous", contiguous, {{0, word}}, 0},
        {"strided vector", strided, {{0, word}, {5 * word, 6 * word}, {10 * word, 11 * word}}, 0},
        {"struct with a gap", gapped, {{0, 2 * word}}, 0},
        {"struct above its origin", displaced, {{5 * word, 3 * word}}, 0},
        {"struct in reversed order", reversed, {{word, 0}}, 0},
        {"struct below its origin", below, {{-2 * word, 0}}, 0},
        {"resized", spread, {{0, word}}, 0},
        {"interlocked", interlocked, {{0, 32 * word}}, 0},
    };
    for (Layout& layout : all) {
        MPI_Type_commit(&layout.type);
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        MPI_Type_get_extent(layout.type, &lower, &extent);
        layout.extent = extent;
    }
    return all;
}
