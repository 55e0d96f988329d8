# SPDX-License-Identifier: BSD-3-Clause
"""The plans of all ranks for one call, as the core makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from rondo import _core
from rondo.drawing.trace import Problem
from rondo.errors import Error
from rondo.machine.machine import Machine


class Block(msgspec.Struct, frozen=True, array_like=True):
    """Elements of a buffer, one after the other."""

    buffer: Literal["input", "output", "scratch"]
    first: int
    count: int


class Row(msgspec.Struct, frozen=True, array_like=True):
    """How a copy goes on behind its first block."""

    number: int
    """Of blocks, with the first one."""
    from_distance: int
    """From the beginning of each to that of the next, in elements."""
    into_distance: int


class Action(msgspec.Struct, frozen=True):
    """One thing that a rank does."""

    step: int
    """Of the schedule, from which it comes."""
    kind: Literal["receive", "send", "combine", "copy"]
    block: Block
    """What is received, sent or copied; the left operand of a combine."""
    after: tuple[int, ...]
    """The actions of this rank that must have completed before it starts."""
    behind: int | None = None
    """The message in the same direction with the same peer that must have started before."""
    peer: int | None = None
    inside: bool = False
    """Whether the peer is on the same node, as far as the algorithm asks for nodes."""
    combined_by: int | None = None
    """The combine that alone needs what a receive brings, if there is such a one."""
    right: Block | None = None
    """The right operand of a combine."""
    into: Block | None = None
    """Where a combine or a copy leaves its result."""
    row: Row | None = None

    def blocks(self) -> Iterator[Block]:
        """All that it touches, but of a row the first ones alone."""
        yield from (each for each in (self.block, self.right, self.into) if each is not None)


class RankPlan(msgspec.Struct, frozen=True):
    """What one rank does."""

    rank: int
    in_place: bool
    input: Block
    """Where its contribution stands."""
    output: Block
    """Where the result goes."""
    scratch: int
    """Elements of scratch memory."""
    actions: tuple[Action, ...]


class Plans(msgspec.Struct, frozen=True):
    """The core's answer."""

    choice: str
    """The algorithm with every setting."""
    count: int
    """Elements of the whole vector."""
    element_bytes: int
    ranks: tuple[RankPlan, ...]


def of(problem: Problem, figures: Machine) -> Plans:
    """Of all ranks, on a machine with these figures; Error for what is impossible."""
    try:
        answer = _core.plans(
            problem.collective,
            problem.choice,
            problem.processes,
            problem.count,
            figures.text(),
            element_bytes=problem.element_bytes,
            root=problem.root,
            commutative=problem.commutative,
            in_place=problem.in_place,
            nodes=",".join(map(str, problem.nodes)),
        )
    except ValueError as error:
        raise Error(str(error)) from None
    return msgspec.convert(answer, Plans)


def as_json(problem: Problem, plans: Plans) -> str:
    """All that plans have, and the call: docs/how-to/travel.md says what the words mean."""
    head = {
        "format": "rondo plans",
        "version": 1,
        "collective": problem.collective,
        "choice": plans.choice,
        "processes": problem.processes,
        "count": plans.count,
        "element_bytes": plans.element_bytes,
        "root": problem.root if problem.has_root else None,
        "commutative": problem.commutative,
        "nodes": problem.nodes or None,
    }
    return msgspec.json.encode(head | {"ranks": plans.ranks}).decode() + "\n"
