// SPDX-License-Identifier: BSD-3-Clause
// Data that collectives move without reducing them: elements of one type, or the same words by different types.
#pragma once

#include <functional>

#include "user_problems.hpp"

struct MovedData {
    std::string name;
    MPI_Datatype type;
    std::size_t words_per_element;
    /// The data of a rank, in the elements from `first` on.
    std::function<void(int owner, Buffer& buffer, std::size_t first, std::size_t count)> fill;
    const Problem* values;  ///< to compare with; nullptr: byte by byte

    /// Where elements have equal values, other bits of padding in `expected` are taken over from `buffer`.
    [[nodiscard]] bool holds(Buffer& buffer, Buffer& expected, std::size_t elements) const {
        for (std::size_t index = 0; values != nullptr && index < elements; ++index) {
            if (values->values(buffer.element(index)) != values->values(expected.element(index))) break;
            copy_element(type, expected.element(index), buffer.element(index));
        }
        return buffer.bytes() == expected.bytes();
    }
};

/// The inputs of a problem.
inline MovedData data_of(const Problem& problem) {
    const auto fill = [&problem](int owner, Buffer& buffer, std::size_t first, std::size_t count) {
        for (std::size_t index = 0; index < count; ++index) problem.input(owner, index, buffer.element(first + index));
    };
    return {problem.name, problem.type, 1, fill, problem.compare_values ? &problem : nullptr};
}

/// The same words, whatever the layout.
inline MovedData words_of(const Layout& layout) {
    const auto fill = [&layout](int owner, Buffer& buffer, std::size_t first, std::size_t count) {
        std::uint64_t word = 0;
        for (std::size_t index = 0; index < count; ++index) {
            for (const auto& map : layout.maps) {
                for (const std::ptrdiff_t offset : map) {
                    store(buffer.element(first + index) + offset, noise(static_cast<std::uint64_t>(owner), word++, 9));
                }
            }
        }
    };
    return {layout.name, layout.type, 2 * layout.maps.size(), fill, nullptr};
}

/// Up to so many elements of the interlocked layout have no word in common; three more may lie before them.
inline constexpr std::size_t most_interlocked = 32;

/// True if so many words fill whole elements of the layout.
inline bool fits(const Layout& layout, std::size_t words) {
    return words % (2 * layout.maps.size()) == 0 && (layout.name != "interlocked" || words <= 2 * most_interlocked - 6);
}
