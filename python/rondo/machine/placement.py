# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks are, as users write it: 4x8 is four nodes of eight ranks, 4,4,3 three that differ, domains:2x8 two
domains of one node."""

from __future__ import annotations

from collections.abc import Sequence

from rondo import _core
from rondo.errors import Error

VARIABLE = "RONDO_NODES"
OF_DOMAINS = "domains:"


def checked(nodes: str) -> str:
    """The text; Error if it describes neither nodes nor domains."""
    ranks_in(nodes)
    return nodes


def are_domains(nodes: str) -> bool:
    """Whether the text is of domains of one node."""
    return nodes.startswith(OF_DOMAINS)


def ranks_on(nodes: str) -> tuple[int, ...]:
    """Of each node; Error if the text describes none, or domains."""
    if are_domains(nodes):
        raise Error(f"--nodes {nodes}: this command takes nodes, as in 4x8, and no domains of a node")
    return ranks_in(nodes)


def text(ranks_on: Sequence[int], *, are_domains: bool = False) -> str:
    """Nodes or domains with so many ranks, as rondo._core reads them."""
    is_even = len(set(ranks_on)) == 1
    numbers = f"{len(ranks_on)}x{ranks_on[0]}" if is_even else ",".join(map(str, ranks_on))
    return f"{OF_DOMAINS}{numbers}" if are_domains else numbers


def ranks_in(nodes: str) -> tuple[int, ...]:
    """Each node, or each domain; Error if the text describes none."""
    try:
        return tuple(_core.ranks_on_nodes(nodes))
    except ValueError as error:
        raise Error(f"--nodes: {error}") from None
