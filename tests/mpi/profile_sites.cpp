// SPDX-License-Identifier: BSD-3-Clause
// Collectives called from a member function, a template and a lambda.
#include <mpi.h>

namespace solver {

class Grid {
  public:
    void synchronize() const { MPI_Barrier(MPI_COMM_WORLD); }
};

template <class Value>
void share(Value& value, MPI_Datatype type) {
    MPI_Bcast(&value, 1, type, 0, MPI_COMM_WORLD);
}

}  // namespace solver

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double value = 1, sum = 0;
    solver::Grid().synchronize();
    solver::share(value, MPI_DOUBLE);
    const auto add = [&] { MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); };
    add();
    MPI_Finalize();
    return 0;
}
