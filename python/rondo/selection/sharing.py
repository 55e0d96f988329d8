# SPDX-License-Identifier: BSD-3-Clause
"""Whether ranks of a node will pass Rondo's messages through memory that they share (World::agree decides it)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rondo import _core

VARIABLE = "RONDO_SHARED_MEMORY"
AUTOMATIC = "auto"


def setting(environment: Mapping[str, str]) -> str:
    """What the user has said: "on", "off", or nothing ("auto")."""
    return environment.get(VARIABLE) or AUTOMATIC


def expected(said: str, ranks_on: Sequence[int], processors: int) -> tuple[bool, str]:
    """Whether ranks on these nodes (how many on each) will do so, and what was assumed of the machine, if anything.

    `processors`: that the ranks of a node may use.
    """
    if said != AUTOMATIC:
        return said == "on", ""
    ranks = sum(ranks_on)
    if len(ranks_on) != 1 or not 1 < ranks <= _core.MOST_SHARING_RANKS:
        return False, ""
    if ranks > processors:
        return False, f"ranks send messages of the MPI library: {ranks} do not share memory on {processors} processors"
    return True, f"ranks share memory: there is a processor for each, as on this machine of {processors}"
