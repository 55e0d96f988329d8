# SPDX-License-Identifier: BSD-3-Clause
"""particle_filter.c in Python: filters a large particle array, finds by exclusive scans where the survivors go.

An ordinary mpi4py program: nothing in it knows of Rondo. Usage: particle_filter.py OUTPUT [STEPS [PARTICLES_PER_RANK]]
"""

import sys

import numpy
from mpi4py import MPI

CELLS = 1 << 17


def main() -> None:
    """Filters, finds places, writes the survivors of the last step."""
    world = MPI.COMM_WORLD
    output = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    particles = int(sys.argv[3]) if len(sys.argv) > 3 else 200_000
    seconds = 0.0

    def exclusive_scan(own: numpy.ndarray) -> numpy.ndarray:
        nonlocal seconds
        before = numpy.zeros_like(own)
        start = MPI.Wtime()
        world.Exscan(own, before, MPI.SUM)
        seconds += MPI.Wtime() - start
        return before

    for step in range(steps):
        generator = numpy.random.default_rng([step, world.rank])
        share = generator.integers(0, 2**62, particles, dtype=numpy.int64)
        survivors = share[share >> 60 == 0]

        # The short scan: how many survivors have the ranks before this one?
        count = numpy.array([survivors.size], dtype=numpy.int64)
        total = exclusive_scan(count) + count
        world.Bcast(total, root=world.size - 1)

        # The long scan: and how many in every cell?
        in_cell = numpy.bincount(survivors % CELLS, minlength=CELLS).astype(numpy.int64)
        before = exclusive_scan(in_cell)
        totals = before + in_cell
        world.Bcast(totals, root=world.size - 1)
        start_of_cell = numpy.cumsum(totals) - totals

    # Survivors of the last step, sorted by cell: one after the other from where this rank's begin in their cell.
    order = numpy.argsort(survivors % CELLS, kind="stable")
    cells = survivors[order] % CELLS
    rank_in_cell = numpy.arange(cells.size) - numpy.searchsorted(cells, cells)
    places = start_of_cell[cells] + before[cells] + rank_in_cell
    file = MPI.File.Open(world, output, MPI.MODE_WRONLY | MPI.MODE_CREATE)
    filetype = MPI.INT64_T.Create_indexed_block(1, places.tolist()).Commit()
    file.Set_view(0, MPI.INT64_T, filetype)
    file.Write_all(numpy.ascontiguousarray(survivors[order]))
    filetype.Free()
    file.Close()

    slowest = world.reduce(seconds, MPI.MAX)
    if world.rank == 0:
        print(f"{total[0]} survivors, {slowest:.6f} seconds in MPI_Exscan")


main()
