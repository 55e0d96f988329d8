# SPDX-License-Identifier: BSD-3-Clause
"""What calls would take on machines that are not here: candidates over ranks, nodes or bytes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rondo.selection import choices, explanation
from rondo.selection.call import Call
from rondo.selection.candidates import Candidate, in_order

OVER = ("ranks", "nodes", "bytes")
POINTS = 8
"""Of a series, at most."""


@dataclass(frozen=True)
class Point:
    """A call of a series."""

    value: int
    """Ranks, nodes, or bytes of the vector."""
    call: Call
    candidates: tuple[Candidate, ...]
    """Fastest first, then those without a time."""


def series(call: Call, over: str | None, least: int | None) -> list[tuple[int, Call]]:
    """Calls like this one, the largest, each about as many times larger than the one before it.

    `least`: of the smallest; None: a 1024th, but at least two ranks, one node or one element.
    """
    if over is None:
        return [(call.elements * call.element_bytes, call)]
    most = {"ranks": call.processes, "nodes": len(call.ranks_on), "bytes": call.elements * call.element_bytes}[over]
    smallest = {"ranks": 2, "nodes": 1, "bytes": call.element_bytes}[over]
    start = min(max(smallest, least if least is not None else most // 1024), most)
    wanted = (start * (most / start) ** (step / (POINTS - 1)) for step in range(POINTS))
    values = sorted({_power_of_two(each) for each in wanted} | {most})
    return [(each, _shrunk(call, over, each)) for each in values if start <= each <= most]


def _power_of_two(value: float) -> int:
    """The nearest one that is not above."""
    return 1 << max(0, int(value * (1 + 1e-9)).bit_length() - 1)


def _shrunk(call: Call, over: str, value: int) -> Call:
    """With so many ranks, nodes or bytes; the part of each rank stays as long."""
    if over == "bytes":
        return dataclasses.replace(call, elements=max(1, value // call.element_bytes))
    if over == "nodes":
        return _on(call, call.ranks_on[:value])
    nodes, left = [], value
    for each in call.ranks_on:
        if left > 0:
            nodes.append(min(each, left))
            left -= each
    return _on(call, tuple(nodes))


def _on(call: Call, ranks_on: Sequence[int]) -> Call:
    return dataclasses.replace(call, ranks_on=tuple(ranks_on), root=min(call.root, sum(ranks_on) - 1))


def predicted(
    calls: Sequence[tuple[int, Call]],
    machine_text: str,
    *,
    has_parts: bool,
    algorithm: str | None,
    most_messages: int,
    look: Callable[[int, str], None],
    own: Callable[[Call], Candidate] | None = None,
) -> list[Point]:
    """Each call with its candidates, or with that of one algorithm. `look` is told the value and the choice.

    `own`: predicts the library's own collective, which is a candidate then, where there are others.
    """
    largest = max(call.processes for _, call in calls)
    is_from_a_file = algorithm is not None and algorithm.startswith(choices.OF_A_FILE)
    forced = {choices.variable_of(calls[0][1].collective): algorithm} if is_from_a_file else {}
    points = []
    for value, call in calls:
        of_ranks = dataclasses.replace(call, elements=call.elements // largest * call.processes) if has_parts else call
        found = explanation.by_texts(
            of_ranks, "", None, machine_text, forced, most_messages=most_messages, algorithm=algorithm,
            look=lambda choice, _number, _all, value=value: look(value, choice),
        )  # fmt: skip
        candidates = found.candidates
        if own is not None and candidates:
            candidates = in_order([*candidates, own(of_ranks)])
        points.append(Point(value, of_ranks, candidates))
    return points
