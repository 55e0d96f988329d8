# SPDX-License-Identifier: BSD-3-Clause
"""rondo.redistribute: moves a distributed array to where a distribution wants it."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any

from rondo.distributions.distribution import Distribution
from rondo.prefix_sums import check_communicator, modules, plain, whole_axis

if TYPE_CHECKING:
    import numpy as np
    from mpi4py import MPI

MOST_ROWS = (1 << 31) - 1  # in a message


def redistribute(
    array: Any, to: Distribution | Sequence[int], comm: MPI.Intracomm | None = None, *, axis: int = 0
) -> np.ndarray:
    """This rank's part of a distributed array that shall lie as `to` says: `to.counts[r]` elements on rank r.

    The whole array consists of the arrays of rank 0, rank 1, and so on, one behind the other along `axis`, and stays
    the same. All ranks of `comm` (MPI.COMM_WORLD if there is none) call it, with the same `to`, from
    rondo.distribution, or with a sequence of counts. Returns a new array. `array` may have any dtype but that of Python
    objects. It takes a message for every two ranks of which one has what the other shall have: far longer than what a
    single prefix sum gains. Once, before many of them, it may pay.

    Raises TypeError and ValueError for what is wrong on any rank, on all of them.
    """
    numpy, mpi = modules()
    comm = mpi.COMM_WORLD if comm is None else comm
    check_communicator(comm, mpi)
    rows, counts, wrong = None, [], None
    try:
        rows, counts = _checked(array, to, comm.Get_size(), axis, numpy)
    except (TypeError, ValueError) as error:
        wrong = error
    lengths = _agreed(comm, rows, counts, wrong)
    sent = _overlaps(lengths, counts, comm.Get_rank())
    received = _overlaps(counts, lengths, comm.Get_rank())
    result = numpy.empty((counts[comm.Get_rank()], *rows.shape[1:]), rows.dtype)
    row_bytes = rows.dtype.itemsize * int(numpy.prod(rows.shape[1:], dtype=int))
    if row_bytes > 0:  # on every rank
        row = mpi.BYTE.Create_contiguous(row_bytes).Commit()
        try:
            comm.Alltoallv([_bytes(rows, numpy), sent, row], [_bytes(result, numpy), received, row])
        finally:
            row.Free()
    return numpy.moveaxis(result, 0, axis) if axis != 0 else result


def _checked(array: Any, to: Any, ranks: int, axis: Any, numpy: Any) -> tuple[np.ndarray, list[int]]:
    """Rows one behind the other, and the counts; TypeError or ValueError."""
    array = plain(array, numpy)
    if array.dtype.hasobject:
        raise TypeError(f"the array's dtype is {array.dtype}, of Python objects; numbers were expected")
    axis = whole_axis(axis, array)
    counts = [index(each) for each in (to.counts if isinstance(to, Distribution) else to)]
    if len(counts) != ranks or min(counts) < 0:
        raise ValueError(
            f"{len(counts)} counts, the least of them {min(counts, default=0)}; expected {ranks} of 0 or more"
        )
    return numpy.ascontiguousarray(numpy.moveaxis(array, axis, 0)), counts


def _agreed(comm: MPI.Intracomm, rows: Any, counts: list[int], wrong: Exception | None) -> list[int]:
    """How many rows each rank has. Raises on all ranks what is wrong on one."""
    facts = None
    if wrong is None:
        digest = hashlib.sha256(repr(counts).encode()).hexdigest()
        facts = (rows.shape[0], (rows.shape[1:], rows.dtype.str, digest))
    everyone = comm.allgather((facts, wrong))
    for rank, (_, error) in enumerate(everyone):
        if error is not None:
            raise type(error)(f"rank {rank}: {error}")
    if any(known[1] != everyone[0][0][1] for known, _ in everyone):
        raise ValueError("ranks differ in dtype, in a length that is not along the axis, or in the counts")
    lengths = [known[0] for known, _ in everyone]
    if sum(lengths) != sum(counts):
        raise ValueError(f"the counts add up to {sum(counts)}; {sum(lengths)} were expected, as many as the array has")
    if max(*lengths, *counts) > MOST_ROWS:
        raise ValueError(
            f"a rank has more than {MOST_ROWS} elements along the axis; an array in several parts was expected"
        )
    return lengths


def _overlaps(mine: Sequence[int], theirs: Sequence[int], rank: int) -> tuple[list[int], list[int]]:
    """How many rows of this rank's are each other rank's, and where they begin."""
    first = sum(mine[:rank])
    end = first + mine[rank]
    begins = [min(max(each, first), end) for each in itertools.accumulate(theirs, initial=0)]
    return [after - before for before, after in itertools.pairwise(begins)], [each - first for each in begins[:-1]]


def _bytes(rows: np.ndarray, numpy: Any) -> np.ndarray:
    flat: np.ndarray = rows.reshape(-1).view(numpy.uint8)
    return flat
