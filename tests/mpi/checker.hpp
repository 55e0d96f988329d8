// SPDX-License-Identifier: BSD-3-Clause
// What the checks of all collectives share: failures, a digest of all results, and how many calls had something to do.
#pragma once

#include <map>

#include "problem.hpp"

class Checker {
  public:
    void fail(const std::string& what) {
        ++failures;
        if (failures <= 10) std::fprintf(stderr, "wrong: %s\n", what.c_str());
    }

    /// Notes a call. Rondo has nothing to do for one rank, or for no element.
    void count_call(int size, std::size_t bytes, int root, bool commutative = true, bool even = true) {
        if (size == 1 || bytes == 0) return;
        const std::string order = commutative ? "commutative" : "ordered";
        const std::string length = bytes < 64 ? "_short" : "_long";
        const std::string place = root > 0 && root < size - 1 ? "_inner" : "_outer";
        const std::string ranks = (size & (size - 1)) == 0 ? "_power" : "_other";
        ++calls[order + length + place + ranks + (even ? "_even" : "_uneven")];
    }

    void record(const std::vector<double>& values) {
        for (double value : values) {
            value += 0.0;  // -0 equals 0
            std::uint64_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            digest = (digest ^ bits) * 1099511628211U;
        }
    }

    /// The next root in turn; all ranks of a communicator count from its beginning.
    int next_root(int size) { return turn++ % size; }
    void begin_communicator() { turn = 0; }

    long failures = 0;
    long unrepeated = 0;  ///< communicators on which the same call gave other bits
    /// By what an algorithm may refuse: operators that do not commute, vectors of less than 64 bytes, roots that are
    /// neither the first rank nor the last, numbers of ranks that are no power of two, parts that are not even.
    std::map<std::string, long> calls;
    std::uint64_t digest = 14695981039346656037U;  ///< FNV-1a over all results
#if MPI_VERSION >= 4
    static constexpr bool has_large_count = true;
#else
    static constexpr bool has_large_count = false;
#endif

  private:
    int turn = 0;
};

inline int rank_in(MPI_Comm communicator) {
    int rank = 0;
    MPI_Comm_rank(communicator, &rank);
    return rank;
}

inline int size_of(MPI_Comm communicator) {
    int size = 0;
    MPI_Comm_size(communicator, &size);
    return size;
}

/// True if an element spans more than the extent, so that elements lie in the gaps of others.
inline bool interlocks(MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Aint true_extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &lower, &true_extent);
    return extent < true_extent;
}

/// False if the data begin elsewhere than at the address that is passed for them.
inline bool starts_at_its_address(MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint true_lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    MPI_Type_get_true_extent(type, &true_lower, &extent);
    return lower == 0 && true_lower == 0;
}

inline std::size_t bytes_of(MPI_Datatype type, std::size_t count) {
    int size = 0;
    MPI_Type_size(type, &size);
    return count * static_cast<std::size_t>(size);
}
