# SPDX-License-Identifier: BSD-3-Clause
"""Each rank asks for the distribution of an array, with figures of its own: all have to agree."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
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

# The array moves to where that wants it, and is the same.
rank, ranks = world.Get_rank(), world.Get_size()
for dtype, shape, axis in (("f8", (), 0), ("i2", (3,), 1), ("c16", (2, 2), -1), ("M8[s]", (), 0), ("f8", (0,), 0)):
    size = 1000 * int(np.prod(shape, dtype=int))
    whole = np.moveaxis(np.arange(size).astype("i8").astype(dtype).reshape(1000, *shape), 0, axis)
    for counts in ([1000 // ranks + (1000 % ranks if r == 0 else 0) for r in range(ranks)], [0] * (ranks - 1) + [1000]):
        ends = np.cumsum(counts)
        part = np.take(whole, range(ends[rank] - counts[rank], ends[rank]), axis=axis)
        to = rondo.distribution(
            1000, world, "tent", algorithm="chain", machine=figures, first_pass=1e-5, second_pass=1e-5
        )
        moved = rondo.redistribute(part, to, world, axis=axis)
        first = to.offsets[rank]
        wanted = np.take(whole, range(first, first + to.counts[rank]), axis=axis)
        assert moved.dtype == wanted.dtype
        np.testing.assert_array_equal(moved, wanted)
        np.testing.assert_array_equal(rondo.redistribute(moved, counts, axis=axis), part)
own = np.arange(5.0)
for call, complaint in (
    (lambda: rondo.redistribute(own, [5] * (ranks + 1)), f"rank 0: {ranks + 1} counts, the least of them 5"),
    (lambda: rondo.redistribute(own, [4] * ranks), f"the counts add up to {4 * ranks}; {5 * ranks} were expected"),
    (lambda: rondo.redistribute(own, [5] * ranks, axis=1 if rank == 1 else 0), "rank 1: axis 1 is out of range"),
    (lambda: rondo.redistribute(own if rank else own.astype("f4"), [5] * ranks), "ranks differ in dtype"),
    (lambda: rondo.redistribute([None] if rank == 2 else own, [5] * ranks), "rank 2: the array's dtype is object"),
    (lambda: rondo.redistribute(own, 7), "rank 0: 'int' object is not iterable"),
):
    try:
        call()
    except (TypeError, ValueError) as error:
        assert str(error).startswith(complaint), error
    else:
        raise AssertionError(complaint)
if world.Get_rank() == 0:
    print("agreed:", *found.counts)
