# SPDX-License-Identifier: BSD-3-Clause
"""A collective call, as users describe it and as rules and predictions look at it."""

from __future__ import annotations

from dataclasses import dataclass

from rondo.machine import placement


@dataclass(frozen=True)
class Call:
    """Facts of a call that all ranks share."""

    collective: str
    ranks_on: tuple[int, ...]
    """Ranks of each node; of each domain of one, if they are domains."""
    elements: int
    """Elements of the whole vector."""
    element_bytes: int
    commutative: bool
    root: int
    library: str
    """What MPI_Get_library_version says."""
    shared_memory: bool
    oversubscribed: bool = False
    """Some node, or the machine of all nodes, has fewer processors than ranks."""
    rounds: bool | None = None
    """Whether the last bits of the result depend on who carries the call out; None: nobody knows."""
    network: str = ""
    """Whose links messages share in predictions, as rondo._core reads it; empty: none."""
    placement: str = "block"
    """How the nodes lie in it."""
    are_domains: bool = False
    """All ranks are on one node, bound to its domains."""

    @property
    def processes(self) -> int:
        """Ranks of the communicator."""
        return sum(self.ranks_on)

    @property
    def nodes(self) -> str:
        """The nodes, as rondo._core reads them."""
        return placement.text(self.ranks_on, are_domains=self.are_domains)

    @property
    def ranks_on_nodes(self) -> tuple[int, ...]:
        """Of each node, whether it has domains or not."""
        return (self.processes,) if self.are_domains else self.ranks_on
