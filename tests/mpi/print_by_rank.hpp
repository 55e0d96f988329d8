// SPDX-License-Identifier: BSD-3-Clause
// Output of several ranks that launchers cannot mix.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <string>

/// Rank 0 prints what each rank says, in rank order. Collective over MPI_COMM_WORLD.
inline void print_by_rank(std::string said) {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    said.resize(8192, '\0');
    const int length = static_cast<int>(said.size());
    std::string texts(said.size() * static_cast<std::size_t>(ranks), '\0');
    MPI_Gather(said.data(), length, MPI_CHAR, texts.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int other = 0; rank == 0 && other < ranks; ++other) std::fputs(texts.data() + other * said.size(), stdout);
}
