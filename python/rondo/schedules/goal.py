# SPDX-License-Identifier: BSD-3-Clause
"""GOAL, the language of schedules that LogGOPSim simulates [hoefler2010loggopsim].

[hoefler2010loggopsim] T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim: simulating large-scale applications in the
LogGOPS model, HPDC 2010.
"""

from __future__ import annotations

from collections.abc import Iterator

from rondo.drawing.trace import Problem
from rondo.schedules.plans import Action, Plans, RankPlan

NANOSECONDS = 1e9


def written(problem: Problem, plans: Plans, gamma: float) -> str:
    """The schedule. gamma: seconds per byte that an operator produces, which become times of `calc`.

    What must have completed is `requires`, the order of messages with one peer `irequires`. GOAL says nothing of data.
    """
    lines = [f"// {problem.collective}/{plans.choice}, {plans.count} elements of {plans.element_bytes} bytes"]
    lines.append(f"num_ranks {len(plans.ranks)}")
    for rank in plans.ranks:
        lines += ["", f"rank {rank.rank} {{", *_lines(rank, plans.element_bytes, gamma), "}"]
    return "\n".join(lines) + "\n"


def _lines(rank: RankPlan, element_bytes: int, gamma: float) -> Iterator[str]:
    for number, action in enumerate(rank.actions):
        yield f"l{number}: {_operation(action, element_bytes, gamma)}"
        yield from (f"l{number} requires l{each}" for each in action.after)
        if action.behind is not None:
            yield f"l{number} irequires l{action.behind}"


def _operation(action: Action, element_bytes: int, gamma: float) -> str:
    size = action.block.count * element_bytes
    if action.peer is None:
        return f"calc {round(gamma * size * NANOSECONDS) if action.kind == 'combine' else 0}"
    # LogGOPSim computes with size - 1, so that a message has at least one byte.
    verb, preposition = ("send", "to") if action.kind == "send" else ("recv", "from")
    return f"{verb} {max(size, 1)}b {preposition} {action.peer} tag 0"
