# SPDX-License-Identifier: BSD-3-Clause
"""A collective call, as users describe it and as rules and predictions look at it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """Facts of a call that all ranks share."""

    collective: str
    ranks_on: tuple[int, ...]
    """Ranks of each node."""
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

    @property
    def processes(self) -> int:
        """Ranks of the communicator."""
        return sum(self.ranks_on)

    @property
    def nodes(self) -> str:
        """The nodes, as rondo._core reads them."""
        if len(set(self.ranks_on)) == 1:
            return f"{len(self.ranks_on)}x{self.ranks_on[0]}"
        return ",".join(map(str, self.ranks_on))
