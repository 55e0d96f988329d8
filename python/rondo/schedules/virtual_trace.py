# SPDX-License-Identifier: BSD-3-Clause
"""Traces of runs in virtual time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from rondo.drawing.trace import Costs, Problem
from rondo.machine.machine import Machine
from rondo.schedules import trace_events
from rondo.schedules.trace_events import Event, Slice

MOST_MESSAGES = 1_000_000


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
    return trace_events.text(slices, range(problem.processes), head)


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
