# SPDX-License-Identifier: BSD-3-Clause
"""The resampling step of a particle filter: how many copies each particle gets, and where the copies go.

Particles lie on all ranks, as many as each has. A particle gets copies in proportion to its weight (systematic
resampling). That takes two prefix sums over all ranks: of the weights, and of the numbers of copies. Here they are
written twice: by hand with NumPy and MPI_Exscan, and by rondo.prefix_sum. Both give the same, on any number of ranks.

    mpiexec -n 4 python resampling.py [PARTICLES]
"""

import sys

import numpy
from mpi4py import MPI

import rondo

world = MPI.COMM_WORLD
MOST = 4_000_000


def prefix_sum_by_hand(own: numpy.ndarray) -> tuple[numpy.ndarray, int]:
    """The prefix sums, and the sum of all."""
    sums = numpy.cumsum(own)
    mine = numpy.array([sums[-1] if sums.size > 0 else 0])
    before = numpy.zeros_like(mine)
    world.Exscan(mine, before)
    sums += before
    total = before + mine
    world.Bcast(total, root=world.size - 1)
    return sums, int(total[0])


def prefix_sum(own: numpy.ndarray) -> tuple[numpy.ndarray, int]:
    """The same."""
    sums, total = rondo.prefix_sum(own, return_total=True)
    return sums, int(total)


def resample(weights: numpy.ndarray, particles: int, offset: float, summed=prefix_sum) -> tuple:
    """How many copies each particle of this rank gets, and the place of its first one among all copies."""
    ends, total = summed(weights)
    first = int(offset * total)
    # Of `particles` marks at equal distances, those that lie in the stretch of a particle.
    copies = (particles * ends + first) // total - (particles * (ends - weights) + first) // total
    after, made = summed(copies)
    assert made == particles
    return copies, after - copies


def main() -> None:
    """Resamples once in both ways, and prints what has become of the particles."""
    particles = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    if particles > MOST:
        sys.exit(f"{particles} particles: their products with sums of weights need more than 64 bits; at most {MOST}")
    # Some ranks have more than others.
    shares = numpy.arange(1, world.size + 1)
    ends = particles * numpy.cumsum(shares) // shares.sum()
    begin, end = (ends[world.rank - 1] if world.rank > 0 else 0), ends[world.rank]
    weights = numpy.random.default_rng(1).integers(1, 1 << 20, particles)[begin:end] ** 2 >> 20

    copies, places = resample(weights, particles, 0.3)
    for ours, by_hand in zip((copies, places), resample(weights, particles, 0.3, prefix_sum_by_hand), strict=True):
        assert numpy.array_equal(ours, by_hand)

    survivors = world.reduce(int(numpy.count_nonzero(copies)))
    checksum = world.reduce(int((copies * places).sum()))
    if world.rank == 0:
        print(f"{survivors} of {particles} particles survive, checksum {checksum}")


main()
