// SPDX-License-Identifier: BSD-3-Clause
// Prefix sums of spans. Rank 0 prints what it has checked on all ranks.
#include <rondo_prefix.hpp>

#include <complex>
#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const std::vector<long> ones(3, 1);
    std::vector<long> sums(3);
    long total = 0;
    bool right = rondo::prefix(std::span(ones), std::span(sums)) == MPI_SUCCESS && sums[2] == 3L * rank + 3;
    right = right &&
            rondo::prefix(std::span(ones), std::span(sums), MPI_SUM, rondo::Prefix::exclusive) == MPI_SUCCESS &&
            sums[0] == 3L * rank;
    right = right && rondo::prefix_total(std::span(ones), std::span(sums), total) == MPI_SUCCESS && total == 3L * size;
    // Elements and operators of one C++ type.
    const std::vector<MPI_Fint> few(1, 2);
    std::vector<MPI_Fint> most(1);
    MPI_Fint product = 0;
    MPI_Op maximum = MPI_MAX;
    right = right && rondo::prefix(std::span(few), std::span(most), maximum) == MPI_SUCCESS && most[0] == 2;
    right = right && rondo::prefix_total(std::span(few), std::span(most), product, MPI_PROD) == MPI_SUCCESS &&
            most[0] == 2 << rank && product == 1 << size;
    std::vector<std::complex<double>> turns(1, {0, 1});
    right = right && rondo::prefix(std::span(turns), MPI_PROD) == MPI_SUCCESS;
    right = right && turns[0] == std::vector<std::complex<double>>{{0, 1}, {-1, 0}, {0, -1}, {1, 0}}[rank % 4];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    right = right && rondo::prefix(std::span(ones), std::span(sums).first(2)) != MPI_SUCCESS;

    int mine = right ? 1 : 0, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) std::puts(all != 0 ? "spans right" : "spans wrong");
    MPI_Finalize();
    return 0;
}
