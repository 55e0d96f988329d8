# SPDX-License-Identifier: BSD-3-Clause
"""Traces of runs in virtual time, in the JSON of Chrome's trace events, which Perfetto opens."""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rondo.drawing.trace import Costs, Problem
from rondo.machine.machine import Machine

MICROSECONDS = 1e6
MOST_MESSAGES = 1_000_000
KINDS = ("receives", "sends", "local")

Event = dict[str, Any]


@dataclass(frozen=True)
class Slice:
    """What a rank does for a while."""

    rank: int
    kind: str
    """One of KINDS."""
    name: str
    start: float
    end: float
    words: dict[str, Any]
    message: int | None = None
    """Its number."""

    def events(self, track: int) -> Iterator[Event]:
        """The slice, and its end of the arrow of a message."""
        where = {"pid": self.rank, "tid": track, "ts": self.start * MICROSECONDS}
        yield {
            **where, "ph": "X", "name": self.name, "cat": self.kind, "dur": (self.end - self.start) * MICROSECONDS,
            "args": self.words,
        }  # fmt: skip
        if self.message is not None:
            end = {"ph": "s"} if self.kind == "sends" else {"ph": "f", "bp": "e"}
            yield {**where, **end, "name": "message", "cat": "message", "id": self.message}


def _costs_of(figures: Machine) -> Costs:
    """In virtual time."""
    return Costs(
        alpha=figures.alpha,
        beta=figures.beta,
        gamma=figures.gamma,
        overhead=figures.overhead,
        alpha_inside=figures.alpha_inside,
        beta_inside=figures.beta_inside,
        overhead_inside=figures.overhead_inside,
        lanes=figures.lanes,
        eager=figures.eager,
        rendezvous=figures.rendezvous if figures.rendezvous is not None else 2 * figures.alpha,
    )


def written(problem: Problem, figures: Machine) -> str:
    """The trace of an overlapped run: a process for each rank, with slices for messages, combines and copies.

    An arrow (a flow) leads from each send to its receive. A slice of a message is from its first to its last byte, on
    the side where it stands.
    """
    problem = dataclasses.replace(problem, costs=_costs_of(figures))
    answer = problem.run(MOST_MESSAGES)
    slices = [
        *(each for number, message in enumerate(answer["messages"]) for each in _ends(number, message, problem)),
        *(_local(local, problem.element_bytes) for local in answer["locals"]),
    ]
    head = {"collective": problem.collective, "choice": answer["choice"], "seconds": answer["time"]}
    events = [*_names(problem.processes), *_on_tracks(slices)]
    return json.dumps({"displayTimeUnit": "ns", "otherData": head, "traceEvents": events}) + "\n"


def _names(processes: int) -> Iterator[Event]:
    for rank in range(processes):
        yield _said(rank, 0, "process_name", name=f"rank {rank}")
        yield _said(rank, 0, "process_sort_index", sort_index=rank)


def _said(rank: int, track: int, what: str, **words: Any) -> Event:
    return {"ph": "M", "pid": rank, "tid": track, "name": what, "args": words}


def _on_tracks(slices: Iterable[Slice]) -> Iterator[Event]:
    """Slices of one track must not overlap: a rank has as many tracks of a kind as there are slices at a time."""
    ends: dict[tuple[int, str], list[float]] = defaultdict(list)
    for each in sorted(slices, key=lambda one: (one.start, one.end)):
        busy = ends[each.rank, each.kind]
        free = next((number for number, end in enumerate(busy) if end <= each.start), len(busy))
        track = len(KINDS) * free + KINDS.index(each.kind)
        if free == len(busy):
            busy.append(each.end)
            yield _said(each.rank, track, "thread_name", name=each.kind)
        busy[free] = each.end
        yield from each.events(track)


def _ends(number: int, message: Event, problem: Problem) -> Iterator[Slice]:
    """A message on both sides."""
    sender, receiver, start, end = (message[key] for key in ("from", "to", "start", "end"))
    size = message["source"][2] * problem.element_bytes
    on_wire = min(size * _beta(problem, sender, receiver), end - start)
    for rank, peer, kind, name, first, source, step in (
        (sender, receiver, "sends", "send to", start, "source", "step_from"),
        (receiver, sender, "receives", "receive from", end - on_wire, "target", "step_to"),
    ):
        words = {"bytes": size, "block": _text(message[source]), "step": message[step]}
        yield Slice(rank, kind, f"{name} {peer}", first, first + on_wire, words, number)


def _beta(problem: Problem, rank: int, other: int) -> float:
    costs = problem.costs
    assert costs is not None
    is_inside = problem.are_together(rank, other) and costs.beta_inside is not None
    return costs.beta_inside if is_inside else costs.beta  # type: ignore[return-value]


def _local(local: Event, element_bytes: int) -> Slice:
    words = {"bytes": local["into"][2] * element_bytes, "step": local["step"]}
    words |= {key: _text(local[key]) for key in ("left", "right", "into") if key in local}
    return Slice(local["rank"], "local", local["kind"], local["start"], local["end"], words)


def _text(block: Sequence[Any]) -> str:
    buffer, first, count = block
    return f"{buffer}[{first}, {first + count})"
