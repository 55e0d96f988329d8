# SPDX-License-Identifier: BSD-3-Clause
"""Waiting and moving: what of a call lies before the last rank came on which the rank depends, and what after it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

FROM_ROOT = {"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}
"""A rank needs what the root has, and the root needs nobody."""
FROM_LOWER = {"MPI_Scan", "MPI_Exscan"}
"""A rank needs what the ranks before it have."""


def complete_at(function: str, root: int, entries: Mapping[int, float]) -> dict[int, float]:
    """When all came on whom each rank of a call depends, itself among them. `entries`: of all ranks."""
    function = function.removesuffix("_c")
    if function in FROM_ROOT:
        return {rank: max(entry, entries[root]) for rank, entry in entries.items()}
    if function in FROM_LOWER:
        order = sorted(entries)
        return dict(zip(order, accumulate((entries[rank] for rank in order), max), strict=True))
    # Reductions and gathers to a root, too: the others pass on what late ranks bring, or leave before those come.
    return dict.fromkeys(entries, max(entries.values()))


def split(entry: float, exit_: float, complete: float) -> tuple[float, float]:
    """Seconds of waiting and of moving in a call, where all came at `complete`."""
    waiting = min(max(complete - entry, 0.0), exit_ - entry)
    return waiting, exit_ - entry - waiting
