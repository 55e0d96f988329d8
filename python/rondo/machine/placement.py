# SPDX-License-Identifier: BSD-3-Clause
"""Nodes as users write them: 4x8 is four of eight ranks, 4,4,3 three that differ."""

from __future__ import annotations

from rondo import _core
from rondo.errors import Error

VARIABLE = "RONDO_NODES"


def checked(nodes: str) -> str:
    """The text; Error if it describes no nodes."""
    ranks_on(nodes)
    return nodes


def ranks_on(nodes: str) -> tuple[int, ...]:
    """Of each node; Error if the text describes none."""
    try:
        return tuple(_core.ranks_on_nodes(nodes))
    except ValueError as error:
        raise Error(f"--nodes: {error}") from None
