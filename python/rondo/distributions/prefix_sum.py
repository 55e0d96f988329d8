# SPDX-License-Identifier: BSD-3-Clause
"""A prefix sum of a distributed array in virtual time: who computes, waits and sends when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rondo import _core
from rondo.errors import Error
from rondo.machine.machine import Machine

CHAIN, PIPELINE = "chain", "linear_pipeline"
FEW = 3
"""So many algorithms are looked at closely, of all that there are."""


@dataclass(frozen=True)
class Times:
    """Of one rank, in seconds from the start."""

    ready: float
    """The first pass is over: the rank comes to the exclusive scan."""
    prefix: float
    """Its part in that is over: it has its prefix."""
    end: float
    """The second pass is over."""
    due_to: int
    """The rank because of whose first pass the prefix came no earlier."""


@dataclass(frozen=True)
class Timeline:
    """A prefix sum of an array that lies so."""

    counts: tuple[int, ...]
    """Elements of each rank."""
    times: tuple[Times, ...]

    @property
    def seconds(self) -> float:
        """Until the last element is done. Ranks without elements do not count."""
        return max((time.end for time, count in zip(self.times, self.counts, strict=True) if count), default=0.0)

    @property
    def active(self) -> int:
        """Ranks with elements."""
        return sum(count > 0 for count in self.counts)


@dataclass(frozen=True)
class PrefixSum:
    """What is computed, on how many ranks, and what that costs."""

    ranks: int
    machine: Machine
    first_pass: float
    """Seconds per element."""
    second_pass: float
    element_bytes: int = 8
    nodes: str = ""
    """Where the ranks are, as 4x8; empty: each on its own node."""

    @property
    def both(self) -> float:
        """Seconds per element."""
        return self.first_pass + self.second_pass

    @property
    def hop(self) -> float:
        """Seconds that one rank more adds to a chain."""
        return float(_core.hop_of_chain(self.machine.text(), self.element_bytes))

    @property
    def step(self) -> float:
        """Elements of the first pass that fit into that: the ladder's step."""
        return self.hop / self.first_pass if self.first_pass > 0 else 0.0

    def computing(self, elements: int) -> float:
        """Seconds that both passes take if all ranks share them evenly, and nobody waits."""
        return self.both * elements / self.ranks

    def timeline(self, algorithm: str, counts: Sequence[int]) -> Timeline:
        """What happens; Error if the algorithm cannot do it."""
        try:
            found = _core.prefix_times(
                name_of(algorithm), list(counts), self.first_pass, self.second_pass, self.machine.text(),
                element_bytes=self.element_bytes, nodes=self.nodes,
            )  # fmt: skip
        except ValueError as error:
            raise Error(str(error)) from None
        return Timeline(tuple(counts), tuple(Times(*each) for each in found))

    def best(self, algorithm: str, elements: int) -> list[int]:
        """The counts with which it ends earliest; Error if the algorithm cannot do it."""
        try:
            found = _core.best_counts(
                name_of(algorithm), elements, self.ranks, self.first_pass, self.second_pass, self.machine.text(),
                element_bytes=self.element_bytes, nodes=self.nodes,
            )  # fmt: skip
        except ValueError as error:
            raise Error(str(error)) from None
        counts: list[int] = found["counts"]
        return counts

    def algorithms(self, elements: int) -> list[str]:
        """All that can do it, with the quickest on even counts first."""
        even = _core.even(elements, self.ranks)
        seconds = {}
        for each in _core.algorithms("exscan"):
            try:
                seconds[each["name"]] = self.timeline(each["name"], even).seconds
            except Error:
                continue  # it needs more of the call, or sends too many messages
        return sorted(seconds, key=lambda name: (seconds[name], name))


def name_of(algorithm: str) -> str:
    """As the exclusive scan is called: a chain is the pipeline of one segment."""
    return PIPELINE if algorithm == CHAIN else algorithm
