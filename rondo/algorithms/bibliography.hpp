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
    {"barnett1994building",
     "M. Barnett, S. Gupta, D. G. Payne, L. Shuler, R. van de Geijn, J. Watts: Building a high-performance collective "
     "communication library. Supercomputing, 1994."},
    {"hillis1986data", "W. D. Hillis, G. L. Steele Jr.: Data parallel algorithms. CACM 29(12), 1986."},
    {"pjesivac2007performance",
     "J. Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations. Cluster Computing 10(2), 2007."},
    {"rabenseifner2004more",
     "R. Rabenseifner, J. L. Traeff: More efficient reduction algorithms for message-passing parallel systems. "
     "EuroPVM/MPI, LNCS 3241, 2004."},
    {"rondo2026cyclic", "The Rondo authors: Cyclic doubling. docs/explanation/cyclic-doubling.md, 2026."},
    {"sanders2006parallel",
     "P. Sanders, J. L. Traeff: Parallel prefix (scan) algorithms for MPI. EuroPVM/MPI, LNCS 4192, 2006."},
    {"sanders2009two",
     "P. Sanders, J. Speck, J. L. Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan. "
     "Parallel Computing 35(12), 2009."},
    {"traff2024optimal",
     "J. L. Traeff: Optimal broadcast schedules in logarithmic time with applications to broadcast, all-broadcast, "
     "reduction and all-reduction. arXiv:2407.18004, 2024."},
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
