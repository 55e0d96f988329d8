// SPDX-License-Identifier: BSD-3-Clause
// The works that algorithms cite, once.
#pragma once

#include <string_view>

namespace rondo {

struct Reference {
    std::string_view key;
    std::string_view text;
};

inline constexpr Reference bibliography[] = {
    {"hillis1986data", "W. D. Hillis, G. L. Steele Jr.: Data parallel algorithms. CACM 29(12), 1986."},
    {"rondo2026cyclic", "The Rondo authors: Cyclic doubling. docs/explanation/cyclic-doubling.md, 2026."},
    {"sanders2006parallel",
     "P. Sanders, J. L. Traeff: Parallel prefix (scan) algorithms for MPI. EuroPVM/MPI, LNCS 4192, 2006."},
    {"sanders2009two",
     "P. Sanders, J. Speck, J. L. Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan. "
     "Parallel Computing 35(12), 2009."},
    {"traff2025exscan",
     "J. L. Traeff: Communication round and computation efficient exclusive prefix-sums algorithms (for MPI_Exscan). "
     "2025."},
};

/// The reference of a citation key; nullptr for an unknown key.
constexpr const Reference* find_reference(std::string_view key) {
    for (const Reference& reference : bibliography) {
        if (reference.key == key) return &reference;
    }
    return nullptr;
}

}  // namespace rondo
