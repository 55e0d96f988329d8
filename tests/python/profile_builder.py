# SPDX-License-Identifier: BSD-3-Clause
"""Small profiles of known figures, and machines on which a message takes a round time."""

from __future__ import annotations

from collections.abc import Sequence

from rondo.machine.machine import Machine
from rondo.profiling.profile import FINALIZED, Communicator, Line, Profile, Rank, Share, Site

RUN = 10.0
ALPHA, BETA = 1e-3, 1e-7
MACHINE = Machine(alpha=ALPHA, beta=BETA, overhead=0.0, gamma=0.0, eager=1 << 30)
SITES = [Site("step", "/home/me/solver.c", 112, "app", 0x12F0), Site("", "", 0, "libfft.so", 0x99A0)]


def line(
    function: str = "MPI_Bcast",
    *,
    ranks: Sequence[int] = range(8),
    collective: str | None = None,
    bytes: int = 8,  # noqa: A002
    calls: int = 100,
    moving: float = 5e-3,
    waiting: Sequence[float] | float = 0.0,
    sampled: int | None = None,
    communicator: int = 0,
    site: int = 0,
    root: int | None = None,
    element: int = 8,
) -> Line:
    """Calls that all take the same: `moving` and `waiting` are of one call, `waiting` of each rank if they differ."""
    name = function.removeprefix("MPI_").lower() if collective is None else collective
    waits = [waiting] * len(ranks) if isinstance(waiting, float) else list(waiting)
    known = sampled != 0
    shares = [
        Share(
            rank, calls, calls * (moving + each), calls * each if known else None, calls * moving if known else None,
            calls if sampled is None else sampled,
        )
        for rank, each in zip(ranks, waits, strict=True)
    ]  # fmt: skip
    operator = "MPI_SUM" if name in ("allreduce", "reduce", "scan", "exscan", "reduce_scatter") else ""
    if root is None and name in ("bcast", "reduce", "gather", "scatter"):
        root = 0
    return Line(
        function, name, communicator, site, root, operator, True, "MPI_DOUBLE", element, bytes, bytes, bytes * calls,
        calls, shares,
    )  # fmt: skip


def profile(
    *lines: Line,
    nodes: int = 8,
    each: int = 1,
    machine: Machine | None = MACHINE,
    communicators: Sequence[Communicator] = (),
    **changes: object,
) -> Profile:
    """A run of RUN seconds on so many nodes of so many ranks."""
    spent = [0.0] * (nodes * each)
    for one in lines:
        for share in one.shares:
            spent[share.rank] += share.seconds
    facts: dict[str, object] = {
        "rondo": "0.1.0",
        "date": "2026-11-23T09:00:00Z",
        "command": ["mpiexec", "-n", str(nodes * each), "./app"],
        "library": "MPICH Version:      5.0.2",
        "abi": "mpich",
        "hosts": [f"node{number}" for number in range(nodes)],
        "ranks": [Rank(number // each, RUN, seconds + 0.1, FINALIZED) for number, seconds in enumerate(spent)],
        "communicators": [
            Communicator("MPI_COMM_WORLD", "MPI_COMM_WORLD", nodes * each, nodes, each, 1), *communicators
        ],
        "sites": SITES,
        "functions": [],
        "lines": list(lines),
        "machine": machine.text() if machine is not None else "",
    }  # fmt: skip
    return Profile(**{**facts, **changes})  # type: ignore[arg-type]
