# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of NumPy arrays, checked on every rank against those of the whole array. Prints how many were right.

prefix_arrays.py [bad]      bad: what rondo.prefix_sum says to bad arguments instead
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator

import numpy as np
from mpi4py import MPI

import rondo

COMM = MPI.COMM_WORLD
ACCUMULATED = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "band": np.bitwise_and,
    "bxor": np.bitwise_xor,
    "lor": np.logical_or,
}
LENGTHS = {
    "even": lambda rank: 5,
    "none": lambda rank: 0,
    "skewed": lambda rank: rank * rank + rank % 2,
    "one has all": lambda rank: 40 if rank == COMM.size // 2 else 0,
    "long": lambda rank: 30000 + rank,
}


def whole_array(lengths: list[int], shape: tuple[int, ...], dtype: str, axis: int) -> np.ndarray:
    noise = np.random.default_rng(7)
    full = list(shape)
    full.insert(axis, sum(lengths))
    return noise.integers(0, 2 if dtype == "?" else 100, full).astype(dtype)


def expected(whole: np.ndarray, op: str, axis: int, exclusive: bool) -> np.ndarray:
    sums = ACCUMULATED[op].accumulate(whole, axis=axis, dtype=whole.dtype)
    if not exclusive:
        return sums
    moved = np.moveaxis(sums, axis, 0)
    shifted = np.empty_like(moved)
    if len(moved) > 0:
        lowest = np.iinfo(whole.dtype).min if whole.dtype.kind in "iu" else -np.inf
        highest = np.iinfo(whole.dtype).max if whole.dtype.kind in "iu" else np.inf
        shifted[0] = {"sum": 0, "prod": 1, "max": lowest, "min": highest, "bxor": 0, "lor": False}.get(op, 0)
        if op == "band":
            shifted[0] = ~np.zeros((), whole.dtype)
        shifted[1:] = moved[:-1]
    return np.moveaxis(shifted, 0, axis)


def layouts(part: np.ndarray) -> Iterator[np.ndarray]:
    """The same numbers, elsewhere in memory."""
    yield part.copy()
    yield part.copy(order="F")
    spread = np.zeros([2 * length for length in part.shape], part.dtype)[tuple([slice(None, None, 2)] * part.ndim)]
    spread[...] = part
    yield spread
    yield part[::-1].copy()[::-1]


def problems() -> Iterator[tuple[str, str, tuple[int, ...], int, str]]:
    for dtype in ["i1", "i4", "i8", "u2", "u8", "f4", "f8", "c16"]:
        for op in ("sum",) if dtype == "c16" else ("sum", "max", "prod"):
            yield dtype, op, (), 0, "skewed"
    yield "?", "lor", (), 0, "even"
    yield "i4", "band", (), 0, "even"
    yield "u8", "bxor", (3,), 0, "even"
    yield "f8", "min", (), 0, "one has all"
    for lengths in LENGTHS:
        yield "i8", "sum", (), 0, lengths
        yield "f8", "sum", (3,), 0, lengths
        yield "i4", "sum", (2,), 1, lengths
    yield "i8", "sum", (2, 3), 1, "skewed"
    yield "i8", "sum", (2, 3), -1, "skewed"
    yield "i8", "sum", (0,), 0, "skewed"


def check_all() -> int:
    right = 0
    for dtype, op, shape, axis, distribution in problems():
        lengths = [LENGTHS[distribution](rank) for rank in range(COMM.size)]
        place = axis % (len(shape) + 1)
        whole = whole_array(lengths, shape, dtype, place)
        first = sum(lengths[: COMM.rank])
        own = tuple([slice(None)] * place + [slice(first, first + lengths[COMM.rank])])
        for exclusive in (False, True):
            wanted = expected(whole, op, place, exclusive)[own]
            for part in layouts(whole[own]):
                kept = part.copy()
                new = rondo.prefix_sum(part, op=op, exclusive=exclusive, axis=axis)
                assert np.array_equal(part, kept), "the input changed"
                out = np.empty_like(new)
                same = rondo.prefix_sum(part, COMM, op=op, exclusive=exclusive, axis=axis, out=out)
                assert same is out
                rondo.prefix_sum(part, COMM, op=op, exclusive=exclusive, axis=axis, out=part)
                for found in (new, out, part):
                    np.testing.assert_array_equal(found, wanted, f"{dtype} {op} {shape} {axis} {distribution}")
                    assert found.dtype == whole.dtype
                    right += 1
        if sum(lengths) > 0:
            sums, total = rondo.prefix_sum(whole[own], op=op, axis=axis, return_total=True)
            np.testing.assert_array_equal(sums, expected(whole, op, place, False)[own])
            np.testing.assert_array_equal(total, np.take(expected(whole, op, place, False), -1, axis=place))
            right += 1
    return right + check_own_operator()


def check_own_operator() -> int:
    """Maps x -> a x + b, one after the other: they do not commute."""

    def compose(left: MPI.buffer, right: MPI.buffer, _: MPI.Datatype) -> None:
        first, second = (np.frombuffer(each, np.int64).reshape(-1, 2) for each in (left, right))
        second[:] = np.stack([first[:, 0] * second[:, 0], first[:, 1] * second[:, 0] + second[:, 1]], axis=1)

    op = MPI.Op.Create(compose, commute=False)
    lengths = [3 + rank % 3 for rank in range(COMM.size)]
    whole = np.random.default_rng(3).integers(-2, 3, (sum(lengths), 2))
    wanted = whole.copy()
    for i in range(1, len(wanted)):
        (a, b), (c, d) = wanted[i - 1], whole[i]
        wanted[i] = a * c, b * c + d
    first = sum(lengths[: COMM.rank])
    own = slice(first, first + lengths[COMM.rank])
    np.testing.assert_array_equal(rondo.prefix_sum(whole[own], op=op), wanted[own])
    op.Free()
    return 1


def complaint(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def say_complaints() -> None:
    array = np.arange(6.0)
    read_only = np.empty(6)
    read_only.flags.writeable = False
    inter = COMM.Split(COMM.rank % 2).Create_intercomm(0, COMM, 1 - COMM.rank % 2) if COMM.size > 1 else COMM
    freed = COMM.Dup()
    rondo.prefix_sum(array, freed)
    freed.Free()
    calls: dict[str, Callable[[], object]] = {
        "no axis": lambda: rondo.prefix_sum(3.0),
        "axis": lambda: rondo.prefix_sum(array, axis=1),
        "no whole number": lambda: rondo.prefix_sum(array, axis=None),
        "masked": lambda: rondo.prefix_sum(np.ma.masked_less(array, 2)),
        "text": lambda: rondo.prefix_sum(np.array(["a"])),
        "objects": lambda: rondo.prefix_sum(np.array([None])),
        "half": lambda: rondo.prefix_sum(np.arange(3, dtype="f2")),
        "byte order": lambda: rondo.prefix_sum(np.arange(3, dtype=">i4")),
        "truth values": lambda: rondo.prefix_sum(np.array([True])),
        "complex maximum": lambda: rondo.prefix_sum(array + 1j, op="max"),
        "operator": lambda: rondo.prefix_sum(array, op="mean"),
        "null operator": lambda: rondo.prefix_sum(array, op=MPI.OP_NULL),
        "shape": lambda: rondo.prefix_sum(array, out=np.empty(5)),
        "dtype": lambda: rondo.prefix_sum(array, out=np.empty(6, int)),
        "list": lambda: rondo.prefix_sum(array, out=[0.0] * 6),
        "read-only": lambda: rondo.prefix_sum(array, out=read_only),
        "overlap": lambda: rondo.prefix_sum(array[:4], out=array[2:]),
        "no communicator": lambda: rondo.prefix_sum(array, 7),
        "null": lambda: rondo.prefix_sum(array, MPI.COMM_NULL),
        "freed": lambda: rondo.prefix_sum(array, freed),
        "inter": lambda: rondo.prefix_sum(array, inter),
        "undefined": lambda: rondo.prefix_sum(array, op=MPI.BAND),
    }
    said = {name: complaint(call) for name, call in calls.items()}
    try:
        rondo.prefix_sum(np.ones(2, "f8" if COMM.rank == 0 else "i8"))
    except MPI.Exception as error:
        assert "ranks differ in dtype" in str(error.__cause__)
    else:
        assert COMM.rank == 0
    assert np.array_equal(rondo.prefix_sum(np.ones(2)), 2 * COMM.rank + np.array([1.0, 2.0]))
    if COMM.rank == 0:
        for name, text in said.items():
            print(f"{name} | {text}")
    MPI.Finalize()
    assert complaint(lambda: rondo.prefix_sum(array)).startswith("Error: called before MPI.Init() or after")


if __name__ == "__main__":
    if sys.argv[1:] == ["bad"]:
        say_complaints()
    else:
        try:
            right = COMM.allreduce(check_all())
        except BaseException:
            traceback.print_exc()
            COMM.Abort(1)  # the others wait for this rank
        if COMM.rank == 0:
            print(f"{right} right")
