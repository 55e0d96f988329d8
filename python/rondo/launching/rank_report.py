# SPDX-License-Identifier: BSD-3-Clause
"""What one rank says about its calls."""

from __future__ import annotations

import msgspec

from rondo.forms import BLOCKING

BY_GUARD = (
    "while Rondo's choice is in doubt",
    "Rondo's choice is no faster here",
    "the machine is too busy to compare",
    "ranks do not come together to compare",
)
"""Reasons why the guard has left calls to the library, as rondo/guard/guard.hpp has them."""
BY_RULES = ("no rule", "chosen")
"""Reasons why the rules, or the user, have: nothing else kept Rondo from serving these calls."""


class RankClass(msgspec.Struct):
    """Calls of one class of size."""

    up_to: int | None
    """Bytes that a call of this class may have; None: no limit."""
    calls: int
    bytes: int
    """In all calls together."""
    smallest: int
    """Bytes of the smallest call."""
    largest: int
    """Bytes of the largest call."""
    seconds: float
    """In all calls together."""


class RankEntry(msgspec.Struct):
    """Calls of one collective that were treated alike."""

    collective: str
    algorithm: str
    """"native": the MPI library's own."""
    reason: str
    """Why native; empty otherwise."""
    classes: list[RankClass]
    """Those with calls, from the smallest."""
    line: int = 0
    """Of the rules, that says so; 0: none does."""
    learned: str = ""
    """Why `rondo run --learn` has chosen it: "tried", or "best" of what was tried; empty: it has not.

    Then the line is one of those that stood above the rules of the user in that run."""
    form: str = BLOCKING
    """Or "nonblocking" or "persistent"."""


class Traffic(msgspec.Struct):
    """What was sent."""

    messages: int
    bytes: int


class Trial(msgspec.Struct):
    """Who carried out some calls faster, by a few of each: Rondo's choice or the library."""

    collective: str
    bytes: int
    """Of the vector in the first call; it holds for those of about that length."""
    processes: int
    nodes: int
    """0: nobody knows."""
    choice: str
    rondo: float
    """Seconds of the fastest call by Rondo's choice; 0, as the library's: they could not be compared."""
    library: float
    """The same of the library's."""
    effective: bool
    """False: bits of results depend on it, so that it takes effect in the next run."""
    day: str
    """Of the earlier run that it is from; empty: it was fought in this one."""
    calls: int = 0
    """Of each that were compared; 0: nobody knows."""
    rounding: bool = False
    """The last bits of results depend on who carries the call out."""
    in_row: bool = False
    """The calls came in a row, and may have overlapped."""


class RankReport(msgspec.Struct):
    """The file that one rank leaves."""

    rank: int
    size: int
    host: str
    library: str
    """Of MPI, with its version."""
    abi: str
    ended: bool
    """False: killed, aborted, or without MPI_Finalize."""
    entries: list[RankEntry]
    shared_memory: Traffic | None = None
    """To ranks of the node, by Rondo. None: the rank shares none, or could not write its report."""
    trials: list[Trial] = []
    """That were fought by the guard, or looked up; of rank 0 of the world, new ones as well."""
