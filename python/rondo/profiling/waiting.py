# SPDX-License-Identifier: BSD-3-Clause
"""Waiting and moving: what of a call lies before the last rank came on which the rank depends, and what after it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

FROM_ROOT = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
"""A rank needs what the root has, and the root needs nobody."""
FROM_LOWER = {"MPI_Scan", "MPI_Exscan"}
"""A rank needs what the ranks before it have."""


def awaited(function: str, root: int, entries: Mapping[int, float]) -> dict[int, int]:
    """Who came last of those on whom each rank of a call depends, itself among them. `entries`: of all ranks."""
    function = function.removesuffix("_c")
    if function in FROM_ROOT:
        return {rank: root if entries[root] > entry else rank for rank, entry in entries.items()}
    if function in FROM_LOWER:
        order = sorted(entries)
        last = accumulate(order, lambda one, other: other if entries[other] > entries[one] else one)
        return dict(zip(order, last, strict=True))
    # Reductions and gathers to a root, too: the others pass on what late ranks bring, or leave before those come.
    return dict.fromkeys(entries, max(entries, key=lambda rank: entries[rank]))


def complete_at(function: str, root: int, entries: Mapping[int, float]) -> dict[int, float]:
    """When all came on whom each rank of a call depends."""
    return {rank: entries[other] for rank, other in awaited(function, root, entries).items()}


def split(entry: float, exit_: float, complete: float) -> tuple[float, float]:
    """Seconds of waiting and of moving in a call, where all came at `complete`."""
    waiting = min(max(complete - entry, 0.0), exit_ - entry)
    return waiting, exit_ - entry - waiting
