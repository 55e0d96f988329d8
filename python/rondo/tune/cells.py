# SPDX-License-Identifier: BSD-3-Clause
"""What there is to decide: a cell for each collective and length on so many ranks, and who can win in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rondo import _core
from rondo.bench import plans
from rondo.bench.maps import call_count
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.machine import placement
from rondo.selection import explanation
from rondo.selection.call import Call
from rondo.selection.explanation import Explanation

TYPE = "double"
OPERATOR = "sum"
FEWEST = 3
"""Of Rondo's candidates that are measured at first: the best by prediction,"""
FACTOR = 1.25
"""and those that are predicted to take at most so many times as long as the first,"""
MOST = 6
"""but no more than these. What the default rules choose is always one."""
NATIVE_FACTOR = 2.0
"""Nobody predicts what native takes: for the time that a measurement needs, so many times the best."""
STEP = 4
"""Between two lengths of a range."""


@dataclass(frozen=True)
class Shape:
    """Where the ranks of a communicator are."""

    ranks_on: tuple[int, ...]
    """Of each node."""
    shared_memory: bool = False
    """Rondo's messages inside nodes go through memory that their ranks share."""
    domains: int = 1
    """Of the only node, to which the ranks are bound."""

    def __str__(self) -> str:
        """As rondo._core reads it: 4x8, or 4,4,3; of one node with domains, domains:2x8."""
        return placement.text(self.ranks_in, are_domains=self.domains > 1)

    @property
    def ranks_in(self) -> tuple[int, ...]:
        """Each node, or each domain of the only one, which are taken to be as even as can be."""
        if self.domains == 1:
            return self.ranks_on
        each, rest = divmod(self.processes, self.domains)
        return (each + 1,) * rest + (each,) * (self.domains - rest)

    @property
    def processes(self) -> int:
        """Of the communicator."""
        return sum(self.ranks_on)

    @property
    def placement(self) -> str:
        """The condition of a rule that holds on nodes like these, however many ranks there are."""
        if len(self.ranks_on) == 1:
            return "nodes = 1" if self.domains == 1 else f"nodes = 1, domains = {self.domains}"
        if len(set(self.ranks_on)) == 1:
            return f"ranks_per_node = {self.ranks_on[0]}"
        return f"nodes = {len(self.ranks_on)}"

    @property
    def text(self) -> str:
        """For people."""
        nodes = len(self.ranks_on)
        sharing = ", which share memory" if self.shared_memory else ""
        return f"{self.processes} ranks on {'1 node' if nodes == 1 else f'{nodes} nodes'} ({self}){sharing}"


@dataclass(frozen=True)
class Cell:
    """Calls of one collective that are measured together."""

    shape: Shape
    collective: str
    count: int
    """Of the call."""
    default: str
    """What the default rules choose."""
    seconds: dict[str, float]
    """Predicted, of each of Rondo's candidates, by what is written in rules; the best first."""
    others: dict[str, float] = field(default_factory=dict)
    """The same of those that are predicted to lose. A prediction may be wrong: they are measured if there is time."""

    @property
    def bytes(self) -> int:
        """Of the whole vector."""
        parts = self.shape.processes if self.collective in plans.DIVIDED else 1
        return self.count * parts * plans.TYPES[TYPE]

    @property
    def text(self) -> str:
        """For people."""
        size = f" of {_core.quantity_text(self.bytes)}" if self.bytes else ""
        return f"{self.collective}{size} on {self.shape}"

    @property
    def native_seconds(self) -> float:
        """What native takes, as a guess."""
        return NATIVE_FACTOR * min(self.seconds.values(), default=0.0)

    def with_choices(self, choices: Iterable[str]) -> Cell:
        """With these candidates as well."""
        same = dict.fromkeys(written(self.collective, each) for each in choices)
        new = [each for each in same if each != NATIVE and each not in self.seconds]
        more = {each: self.others.get(each, self.native_seconds) for each in new}
        others = {choice: seconds for choice, seconds in self.others.items() if choice not in more}
        return dataclasses.replace(self, seconds={**self.seconds, **more}, others=others)

    def predicted(self, choice: str) -> float:
        """Seconds of a candidate or of native."""
        return self.native_seconds if choice == NATIVE else self.seconds[choice]


@dataclass(frozen=True)
class Circumstances:
    """By what predictions are made."""

    library: str
    """What MPI_Get_library_version says."""
    figures: Path | None
    """The machine file."""
    rules: Path | None
    """The default ones; None: none."""


def lengths_of(text: str) -> tuple[int, ...]:
    """Rising numbers of bytes, of a text like 8:4Mi (by powers of four) or 8,1Ki,64Ki; Error if it says none."""
    found: set[int] = set()
    for part in text.split(","):
        ends = part.split(":")
        try:
            numbers = [int(_core.quantity(each.strip())) for each in ends]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 2 or min(numbers) < 1 or numbers[0] > numbers[-1]:
            raise Error(
                f"--bytes {text}: cannot read {part!r}; expected lengths as in 8:4Mi (8 32 128 ...) or 8,1Ki,64Ki"
            )
        length = numbers[0]
        while length < numbers[-1]:
            found.add(length)
            length *= STEP
        found.add(numbers[-1])
    return tuple(sorted(found))


def collectives_of(text: str | None) -> tuple[str, ...]:
    """Those of a list with commas, None: all that can be measured; Error for an unknown one."""
    if text is None:
        return tuple(plans.COLLECTIVES)
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",")))
    for each in names:
        if each not in plans.COLLECTIVES:
            if each in plans.OF_LOCAL_LENGTHS:
                raise Error(f"--collectives: no rule may ask for the bytes of {each}: ranks know only their own")
            raise Error(f"--collectives: cannot measure {each!r}; {plans.suggestion(each, plans.COLLECTIVES)}")
    return names


def of_shape(shape: Shape, collectives: Sequence[str], lengths: Sequence[int], where: Circumstances) -> list[Cell]:
    """The cells of a shape, with the candidates that can win."""
    return [
        of_count(shape, collective, count, where)
        for collective in collectives
        for count in counts_of(collective, lengths, shape.processes)
    ]


def counts_of(collective: str, lengths: Sequence[int], processes: int) -> list[int]:
    """Counts of calls for vectors of these bytes; short ones fall together where every rank has a part."""
    if collective in plans.WITHOUT_DATA:
        return [0]
    size = plans.TYPES[TYPE]
    return list(dict.fromkeys(call_count(collective, -(-length // size), processes) for length in lengths))


def has_operation(collective: str) -> bool:
    """Whether it reduces."""
    return plans.COLLECTIVES[collective]


def explained(shape: Shape, collective: str, count: int, rules: Path | None, where: Circumstances) -> Explanation:
    """What becomes of a call under rules, and what all algorithms would take."""
    elements = count * shape.processes if collective in plans.DIVIDED else max(count, 1)
    call = Call(
        collective=collective,
        ranks_on=shape.ranks_in,
        are_domains=shape.domains > 1,
        elements=elements,
        element_bytes=plans.TYPES[TYPE],
        commutative=has_operation(collective),
        root=0,
        library=where.library,
        shared_memory=shape.shared_memory,
    )
    return explanation.explain(call, rules, where.figures, {})


def choice_of(found: Explanation) -> str:
    """What the rules say of a call, as they say it, or what the model does that they leave it to."""
    if found.decided_by is None or found.runs == NATIVE:
        return NATIVE
    if found.proposal is not None:
        return found.proposal
    return found.decided_by.text.partition("->")[2].partition("#")[0].strip()


def of_count(shape: Shape, collective: str, count: int, where: Circumstances) -> Cell:
    """The cell of a call, with the candidates that can win."""
    found = explained(shape, collective, count, where.rules, where)
    default = written(collective, choice_of(found))
    named = [(written(collective, each.asked), each.seconds) for each in found.candidates]
    timed = {choice: seconds for choice, seconds in named if seconds is not None}
    first = dict(_who_can_win(timed, default))
    others = {choice: seconds for choice, seconds in timed.items() if choice not in first}
    return Cell(shape, collective, count, default, first, others)


def _who_can_win(timed: dict[str, float], default: str) -> Iterator[tuple[str, float]]:
    """By prediction; always with what the default rules choose."""
    best = next(iter(timed.values()), 0.0)
    if default not in (NATIVE, *timed):  # it sends more messages than can be timed
        yield default, NATIVE_FACTOR * best
    for place, (choice, seconds) in enumerate(timed.items()):
        if choice == default or place < FEWEST or (place < MOST and seconds <= FACTOR * best):
            yield choice, seconds


def written(collective: str, choice: str) -> str:
    """The one form of all choices that are the same: standard settings stay out, they follow from call and machine."""
    if choice == NATIVE:
        return choice
    algorithm, same = choice.partition(":")[0], _core.check_choice(collective, choice)
    return algorithm if same == _core.check_choice(collective, algorithm) else same
