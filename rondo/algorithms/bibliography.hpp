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
    {"bruck1997efficient",
     "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient algorithms for all-to-all communications in "
     "multiport message-passing systems. IEEE TPDS 8(11), 1997."},
    {"carver_ladder",
     "J. Carver: Parallel prefix optimization: benefits from a laddered data distribution. Project report, course "
     "18.337J/6.338J, MIT."},
    {"chan2007collective",
     "E. Chan, M. Heimlich, A. Purkayastha, R. van de Geijn: Collective communication: theory, practice, and "
     "experience. Concurrency and Computation: Practice and Experience 19(13), 2007."},
    {"desensi2025bine",
     "D. De Sensi, S. Pasqualoni, L. Piarulli, T. Bonato, S. Ba, M. Turisini, J. Domke, T. Hoefler: Bine trees: "
     "enhancing collective operations by optimizing communication locality. SC, 2025."},
    {"hensgen1988two",
     "D. Hensgen, R. Finkel, U. Manber: Two algorithms for barrier synchronization. International Journal of Parallel "
     "Programming 17(1), 1988."},
    {"hillis1986data", "W. D. Hillis, G. L. Steele Jr.: Data parallel algorithms. CACM 29(12), 1986."},
    {"kinkead2025scaling",
     "S. Kinkead, J. Wesley, W. Schonbein, D. DeBonis, M. G. F. Dosanjh, A. Bienz: Scaling all-to-all operations "
     "across "
     "emerging many-core supercomputers. SC Workshops, 2025. arXiv:2601.17606."},
    {"mellorcrummey1991algorithms",
     "J. M. Mellor-Crummey, M. L. Scott: Algorithms for scalable synchronization on shared-memory multiprocessors. ACM "
     "TOCS 9(1), 1991."},
    {"pjesivac2007performance",
     "J. Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations. Cluster Computing 10(2), 2007."},
    {"rabenseifner2004collective",
     "R. Rabenseifner, P. Adamidis: Collective reduction operation on Cray X1 and other platforms. CUG, 2004."},
    {"rabenseifner2004more",
     "R. Rabenseifner, J. L. Traeff: More efficient reduction algorithms for message-passing parallel systems. "
     "EuroPVM/MPI, LNCS 3241, 2004."},
    {"rondo2026cyclic", "The Rondo authors: Cyclic doubling. docs/explanation/cyclic-doubling.md, 2026."},
    {"ruefenacht2017generalisation",
     "M. Ruefenacht, M. Bull, S. Booth: Generalisation of recursive doubling for AllReduce: now with simulation. "
     "Parallel Computing 69, 2017."},
    {"sanders2006parallel",
     "P. Sanders, J. L. Traeff: Parallel prefix (scan) algorithms for MPI. EuroPVM/MPI, LNCS 4192, 2006."},
    {"sanders2009two",
     "P. Sanders, J. Speck, J. L. Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan. "
     "Parallel Computing 35(12), 2009."},
    {"thakur2005optimization",
     "R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication operations in MPICH. "
     "International "
     "Journal of High Performance Computing Applications 19(1), 2005."},
    {"traff2020decomposing",
     "J. L. Traeff, S. Hunold: Decomposing MPI collectives for exploiting multi-lane communication. IEEE CLUSTER, "
     "2020."},
    {"traff2020kported",
     "J. L. Traeff: k-ported vs. k-lane broadcast, scatter, and alltoall algorithms. arXiv:2008.12144, 2020."},
    {"traff2021doubly",
     "J. L. Traeff: A doubly-pipelined, dual-root reduction-to-all algorithm and implementation. arXiv:2109.12626, "
     "2021."},
    {"traff2024nonpipelined",
     "J. L. Traeff: Optimal, non-pipelined reduce-scatter and allreduce algorithms. arXiv:2410.14234, 2024."},
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
