# SPDX-License-Identifier: BSD-3-Clause
"""What an algorithm did in virtual time, as the core writes it down, and in which blocks it cut the vector."""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from dataclasses import dataclass
from typing import Any

import msgspec

from rondo import _core
from rondo.errors import Error

ROUNDS, LOCK_STEP, OVERLAPPED = "rounds", "lockstep", "overlapped"
TIMES = (ROUNDS, LOCK_STEP, OVERLAPPED)
RUN = re.compile(r"V(\d+)(?:\.\.V(\d+))?")


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """Equal elements."""

    first: int
    """Where the first one stands in the vectors of the ranks that it comes from."""
    count: int
    inputs: str
    """Whose inputs it combines: V0..V3."""


class Message(msgspec.Struct, frozen=True):
    """From a rank to another."""

    sender: int = msgspec.field(name="from")
    receiver: int = msgspec.field(name="to")
    start: float
    end: float
    data: tuple[Piece, ...]

    @property
    def count(self) -> int:
        """Elements."""
        return sum(piece.count for piece in self.data)

    @property
    def inputs(self) -> str:
        """Of its first element, the ranks whose inputs that combines, as in 0-3."""
        runs = [match.groups() for match in RUN.finditer(self.data[0].inputs)]
        return ",".join(first if last is None else f"{first}\N{EN DASH}{last}" for first, last in runs)


class Local(msgspec.Struct, frozen=True):
    """A combine or a copy on a rank."""

    rank: int
    kind: str
    start: float
    end: float


class Rank(msgspec.Struct, frozen=True):
    """What one rank did altogether."""

    operations: int


class Events(msgspec.Struct, frozen=True):
    """The core's answer, as far as pictures need it."""

    choice: str
    time: float
    ranks: tuple[Rank, ...]
    messages: tuple[Message, ...]
    locals: tuple[Local, ...]


@dataclass(frozen=True)
class Costs:
    """Seconds."""

    alpha: float
    beta: float
    """Per byte."""
    gamma: float = 0.0
    """Per byte that an operator produces."""
    overhead: float = 0.0
    """Of the processor, per message sent or received."""
    alpha_inside: float | None = None
    """Of messages inside a node; None: as of all."""
    beta_inside: float | None = None
    overhead_inside: float | None = None
    lanes: int = 1
    """Of a node, to others."""
    eager: int | None = None
    """Bytes of the longest message between nodes that does not wait for its receiver; None: of any length."""
    rendezvous: float = 0.0
    """What longer ones take in addition."""


@dataclass(frozen=True)
class Problem:
    """What to draw."""

    collective: str
    choice: str
    processes: int
    count: int
    element_bytes: int = 8
    root: int = 0
    commutative: bool = False
    in_place: bool = False
    timing: str = ROUNDS
    costs: Costs | None = None
    """None: time is the number of rounds."""
    nodes: tuple[int, ...] = ()
    """Ranks on each, one node after the other; none: each rank is on its own."""

    @functools.cached_property
    def node_of(self) -> list[int]:
        """By rank."""
        if not self.nodes:
            return list(range(self.processes))
        return [node for node, ranks in enumerate(self.nodes) for _ in range(ranks)]

    def are_together(self, rank: int, other: int) -> bool:
        """Whether two different ranks are on one node."""
        return self.node_of[rank] == self.node_of[other]

    def is_inside(self, message: Message) -> bool:
        """Whether its ends are on one node."""
        return self.are_together(message.sender, message.receiver)

    @property
    def has_root(self) -> bool:
        """Whether one rank is different from the others."""
        return self._description["has_root"]

    @property
    def reduces(self) -> bool:
        """Whether there is an operator."""
        return self._description["has_operation"]

    @property
    def gathers(self) -> bool:
        """Whether every rank puts in a part of the vector."""
        return self._description["gathers"]

    @property
    def _description(self) -> dict[str, Any]:
        return next(each for each in _core.collectives() if each["name"] == self.collective)

    def run(self, most_messages: int) -> dict[str, Any]:
        """What the core says (rondo._core.trace), with the problem itself; Error for what is impossible."""
        costs = msgspec.to_builtins(self.costs) if self.costs is not None else {}
        try:
            answer: dict[str, Any] = _core.trace(
                self.collective,
                self.choice,
                self.processes,
                self.count,
                element_bytes=self.element_bytes,
                root=self.root,
                commutative=self.commutative,
                in_place=self.in_place,
                nodes=",".join(map(str, self.nodes)),
                mode=OVERLAPPED if self.timing == OVERLAPPED else LOCK_STEP,
                most_messages=most_messages,
                **costs,
            )
        except ValueError as error:
            hint = "; --commutative draws it for one that does" if "does not commute" in str(error) else ""
            raise Error(f"{error}{hint}") from None
        return {**msgspec.to_builtins(self), **answer}


@dataclass(frozen=True)
class Trace:
    """A problem with what happened."""

    problem: Problem
    events: Events

    @functools.cached_property
    def edges_of_blocks(self) -> list[int]:
        """Where blocks begin, and after them where the last one ends: blocks are what no message cuts."""
        pieces = [piece for message in self.events.messages for piece in message.data]
        return sorted({end for piece in pieces for end in (piece.first, piece.first + piece.count)})

    @property
    def blocks(self) -> int:
        """How many there are: where parts are gathered, one for each rank."""
        return self.problem.processes if self.problem.gathers else max(len(self.edges_of_blocks) - 1, 0)

    @functools.cached_property
    def inputs_differ(self) -> bool:
        """Whether messages hold the inputs of different ranks."""
        return len({message.inputs for message in self.events.messages}) > 1

    def blocks_of(self, message: Message) -> list[int]:
        """Numbers of the blocks that a message carries, in order."""
        if self.problem.gathers:
            return sorted({int(match[1]) for piece in message.data for match in RUN.finditer(piece.inputs)})
        edges = self.edges_of_blocks
        ranges = [
            range(bisect.bisect_left(edges, piece.first), bisect.bisect_left(edges, piece.first + piece.count))
            for piece in message.data
        ]
        return sorted(set(itertools.chain.from_iterable(ranges)))

    def first_block_of(self, message: Message) -> int:
        """Of the blocks that a message carries; where they go on from the last one with block 0, where they begin."""
        numbers = self.blocks_of(message)
        if numbers[0] == 0 and numbers[-1] == self.blocks - 1:
            after_gaps = [number for before, number in itertools.pairwise(numbers) if number != before + 1]
            return after_gaps[-1] if after_gaps else 0
        return numbers[0]


def of(problem: Problem, answer: dict[str, Any]) -> Trace:
    """The trace in an answer of `Problem.run`."""
    return Trace(problem, msgspec.convert(answer, Events))


def ranges_text(numbers: list[int]) -> str:
    """Ascending numbers, those that follow each other as ranges: 0-3, 7."""
    texts = []
    for _, group in itertools.groupby(enumerate(numbers), lambda each: each[1] - each[0]):
        run = [number for _, number in group]
        texts.append(str(run[0]) if len(run) == 1 else f"{run[0]}\N{EN DASH}{run[-1]}")
    return ", ".join(texts)
