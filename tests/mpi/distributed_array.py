# SPDX-License-Identifier: BSD-3-Clause
"""Each rank asks for the distribution of an array, with figures of its own: all have to agree."""

from __future__ import annotations

import sys
from pathlib import Path

from mpi4py import MPI
from rondo.errors import Error

import rondo

world = MPI.COMM_WORLD
figures = Path(sys.argv[1]) / f"{world.Get_rank()}.machine"
figures.write_text(f"alpha = {1e-3 * (1 + world.Get_rank())}\nbeta = 0\n")

found = rondo.distribution(
    100_000, world, "tent", algorithm="chain", machine=figures, first_pass=1e-6, second_pass=1e-6
)
everyone = world.allgather(found)
assert everyone == [found] * world.Get_size(), everyone
assert sum(found.counts) == 100_000
alone = rondo.distribution(
    100_000, world.Get_size(), "tent", algorithm="chain", machine=Path(sys.argv[1]) / "0.machine", first_pass=1e-6,
    second_pass=1e-6,
)  # fmt: skip
assert found == alone

for bad, complaint in (("stairs", "distribution 'stairs'"), (None, "how=None")):
    try:
        rondo.distribution(100_000, world, bad if world.Get_rank() == 0 else "even")
    except Error as error:
        assert complaint in str(error)
    else:
        raise AssertionError("nobody heard of what is wrong on rank 0")
try:
    rondo.distribution(100_000, world, machine=7 if world.Get_rank() == 0 else None)
except TypeError:
    pass
else:
    raise AssertionError("nobody heard of what is no path")
if world.Get_rank() == 0:
    print("agreed:", *found.counts)
