# SPDX-License-Identifier: BSD-3-Clause
"""Where a moment of virtual time stands in the picture: in rounds of equal length, or on a scale of seconds."""

from __future__ import annotations

import collections
from typing import Protocol

from rondo import optional
from rondo.drawing import canvas
from rondo.drawing.canvas import Sheet
from rondo.drawing.trace import ROUNDS, Local, Message, Trace
from rondo.reports import style

MARK = 0.13  # inches that a mark takes
MOST_MARKS = 6  # that stand side by side; more of them overlap
GAP = 0.05  # between rounds
ARROW = 0.42  # inches of time that a message should take


class TimeScale(Protocol):
    """Everything is in inches from the left, unless said otherwise."""

    width: float
    """Of all that happens."""
    arrow_gap: float
    """Points that arrows leave free at their ends."""

    def ends(self, message: Message) -> tuple[float, float]:
        """Of its arrow: where it is sent, and where it has arrived."""

    def on_wire(self, message: Message) -> float:
        """How far it is from its first to its last byte."""

    def begin(self, local: Local) -> float:
        """Where a combine or a copy begins."""

    def place(self, local: Local) -> float:
        """Where it is done, and its mark stands."""

    def draw_axis(self, sheet: Sheet, height: float) -> None:
        """Behind and below a drawing so high."""


def scale_of(trace: Trace, room: float) -> TimeScale:
    """How time runs to the right where there is so much room, in inches; more is taken if it does not suffice."""
    return _Rounds(trace, room) if trace.problem.timing == ROUNDS else _Seconds(trace, room)


class _Rounds:
    """Rounds of equal length, and before each of them room for the marks of what happens there at no cost of time."""

    arrow_gap = 0.0

    def __init__(self, trace: Trace, room: float) -> None:
        self.rounds = round(trace.events.time)
        self.places = _places(trace.events.locals)
        most = collections.Counter[int]()
        for (_, moment), locals_ in self.places.items():
            most[moment] = max(most[moment], len(locals_))
        self.widths = {moment: MARK * min(number, MOST_MARKS) for moment, number in most.items()}
        marks = sum(self.widths.values()) + GAP * (self.rounds + 1)
        self.round_width = min(max((room - marks) / max(self.rounds, 1), 0.6 if self.rounds <= 16 else 0.5), 0.85)
        self.starts, x = [], 0.0
        for moment in range(self.rounds + 1):
            x += self.widths.get(moment, 0) + GAP
            self.starts.append(x)
            x += self.round_width if moment < self.rounds else 0.02
        self.width = x

    def ends(self, message: Message) -> tuple[float, float]:
        start = self.starts[round(message.start)]
        return start + 0.04, start + self.round_width - 0.05

    def place(self, local: Local) -> float:
        moment = round(local.end)
        others = self.places[local.rank, moment]
        begin = self.starts[moment - 1] + self.round_width + GAP / 2 if moment else GAP / 2
        distance = min(MARK, self.widths[moment] / len(others))
        return begin + distance * (next(i for i, each in enumerate(others) if each is local) + 0.5)

    def begin(self, local: Local) -> float:
        return self.place(local)

    def on_wire(self, message: Message) -> float:
        return 0.0

    def draw_axis(self, sheet: Sheet, height: float) -> None:
        for number, start in enumerate(self.starts[:-1]):
            band = optional.module("matplotlib.patches").Rectangle(
                (start, 0), self.round_width, height, facecolor="black", alpha=0.045, linewidth=0, zorder=0
            )
            sheet.axes.add_patch(band)
            sheet.text(start + self.round_width / 2, height + 0.1, str(number + 1))
        if self.rounds:
            sheet.text((self.starts[0] + self.starts[-1]) / 2, height + 0.25, "round")


class _Seconds:
    """A scale of time."""

    arrow_gap = 2.8  # the mark of a combine may stand there

    def __init__(self, trace: Trace, room: float) -> None:
        self.time = trace.events.time
        self.problem = trace.problem
        messages = trace.events.messages
        # Those inside nodes are short, and need no length to be told apart.
        drawn = [each for each in messages if not self.problem.is_inside(each)] or messages
        shortest = min((message.end - message.start for message in drawn), default=self.time)
        self.width = min(max(ARROW * self.time / shortest if shortest else 0.0, 4.0, room), 18.0)
        self.per_second = (self.width - 0.15) / self.time if self.time else 0.0

    def x(self, time: float) -> float:
        return 0.05 + time * self.per_second

    def ends(self, message: Message) -> tuple[float, float]:
        return self.x(message.start), self.x(message.end)

    def on_wire(self, message: Message) -> float:
        costs = self.problem.costs
        if costs is None:
            return 0.0
        inside = self.problem.is_inside(message) and costs.beta_inside is not None
        beta = costs.beta_inside if inside and costs.beta_inside is not None else costs.beta
        return beta * self.problem.element_bytes * message.count * self.per_second

    def place(self, local: Local) -> float:
        return self.x(local.end)

    def begin(self, local: Local) -> float:
        return self.x(local.start)

    def draw_axis(self, sheet: Sheet, height: float) -> None:
        locator = optional.module("matplotlib.ticker").MaxNLocator(
            max(3, min(12, round(self.width))), steps=[1, 2, 5, 10]
        )
        size, unit = style.unit_of(self.time) if self.time else (1.0, "s")
        for tick in locator.tick_values(0, self.time / size):
            if 0 <= tick <= self.time / size:
                sheet.line([self.x(tick * size)] * 2, [0, height], color=canvas.PALE, zorder=0)
                sheet.text(self.x(tick * size), height + 0.1, style.digits(tick, 4))
        sheet.text(self.x(self.time / 2), height + 0.25, f"time ({unit})")


def _places(locals_: tuple[Local, ...]) -> dict[tuple[int, int], list[Local]]:
    """By rank and moment."""
    places: dict[tuple[int, int], list[Local]] = collections.defaultdict(list)
    for local in locals_:
        places[local.rank, round(local.end)].append(local)
    return places
