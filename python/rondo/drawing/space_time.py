# SPDX-License-Identifier: BSD-3-Clause
"""Space-time diagrams: a line per rank, time to the right, an arrow per message, a mark per combine or copy."""

from __future__ import annotations

import collections
import math
from dataclasses import dataclass
from typing import Any

from rondo import optional
from rondo.drawing import canvas
from rondo.drawing.canvas import Sheet
from rondo.drawing.trace import ROUNDS, Local, Message, Trace, ranges_text
from rondo.errors import Error
from rondo.reports import style

MOST_RANKS = 64
MOST_MESSAGES = 1500
MARK = 0.13  # inches that a mark takes
MOST_MARKS = 6  # that stand side by side; more of them overlap
GAP = 0.05  # between rounds
EDGE = 0.15  # inches above the first and below the last rank
ARROW = 0.42  # inches of time that a message should take
LEFT = 0.5  # inches for the numbers of the ranks
LABEL = 0.3  # inches of arrow that a label needs
LETTERS = 0.1  # inches that they are high
ASIDE = 0.2  # of the distance of two ranks: how far from their middle a label may stand
PASSES = 4  # in which labels make room for one another
BESIDE_NODES = 0.66  # instead of LEFT, where ranks are on nodes
NODE_GAP = 0.12  # inches between nodes
HEAD = 0.09  # inches of an arrow inside a node without dashes
Point = tuple[float, float]


def draw(trace: Trace) -> Sheet:
    """The picture; Error if it would not be legible."""
    _check_size(trace)
    picture = _Picture(trace)
    picture.draw_ranks()
    for number, message in enumerate(trace.events.messages):
        picture.draw_message(message, f"message-{number}")
    picture.draw_labels()
    for number, local in enumerate(trace.events.locals):
        picture.draw_local(local, f"{local.kind}-{number}")
    picture.sheet.legend(_legend(trace))
    return picture.sheet


def _check_size(trace: Trace) -> None:
    ranks, messages = trace.problem.processes, len(trace.events.messages)
    if ranks > MOST_RANKS:
        raise Error(f"{ranks} ranks: a space-time diagram is legible up to {MOST_RANKS}; take fewer processes")
    if messages > MOST_MESSAGES:
        raise Error(
            f"{messages} messages: a space-time diagram is legible up to {MOST_MESSAGES}; take fewer processes, a "
            "shorter vector or longer segments"
        )


def _row(ranks: int) -> float:
    return min(max(8.0 / ranks, 0.2), 0.42)


def _left(trace: Trace) -> float:
    return BESIDE_NODES if trace.problem.nodes else LEFT


class _Rounds:
    """Rounds of equal length, and before each of them room for the marks of what happens there at no cost of time."""

    def __init__(self, trace: Trace) -> None:
        self.row = _row(trace.problem.processes)
        self.rounds = round(trace.events.time)
        self.places = _places(trace.events.locals)
        most = collections.Counter[int]()
        for (_, moment), locals_ in self.places.items():
            most[moment] = max(most[moment], len(locals_))
        self.widths = {moment: MARK * min(number, MOST_MARKS) for moment, number in most.items()}
        marks = sum(self.widths.values()) + GAP * (self.rounds + 1)
        room = canvas.width_of(canvas.title_of(trace)) - _left(trace) - marks
        self.round_width = min(max(room / max(self.rounds, 1), 0.6 if self.rounds <= 16 else 0.5), 0.85)
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

    def draw_axis(self, sheet: Sheet, height: float) -> None:
        for number, start in enumerate(self.starts[:-1]):
            band = optional.module("matplotlib.patches").Rectangle(
                (start, 0), self.round_width, height, facecolor="black", alpha=0.045, linewidth=0, zorder=0
            )
            sheet.axes.add_patch(band)
            sheet.text(start + self.round_width / 2, height + 0.1, str(number + 1))
        if self.rounds:
            sheet.text((self.starts[0] + self.starts[-1]) / 2, height + 0.25, "round")


def _places(locals_: tuple[Local, ...]) -> dict[tuple[int, int], list[Local]]:
    """By rank and moment."""
    places: dict[tuple[int, int], list[Local]] = collections.defaultdict(list)
    for local in locals_:
        places[local.rank, round(local.end)].append(local)
    return places


class _Seconds:
    """A scale of time."""

    def __init__(self, trace: Trace) -> None:
        self.row = _row(trace.problem.processes)
        self.time = trace.events.time
        self.problem = trace.problem
        messages = trace.events.messages
        # Those inside nodes are short, and need no length to be told apart.
        drawn = [each for each in messages if not self.problem.is_inside(each)] or messages
        shortest = min((message.end - message.start for message in drawn), default=self.time)
        room = canvas.width_of(canvas.title_of(trace)) - _left(trace)
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


@dataclass(eq=False)
class _Label:
    text: str
    colour: str
    places: list[Point]
    """Where it may stand, the most wanted first."""
    can_be_missed: bool = False
    place: Point = (0.0, 0.0)

    @property
    def half(self) -> float:
        """Of its width."""
        return 0.03 + 0.024 * len(self.text)

    def inches(self) -> range:
        """From the left, whole ones."""
        return range(int(self.place[0] - self.half), int(self.place[0] + self.half) + 1)


class _Labels:
    """Finds places for labels: on their arrows, between two lines of ranks, and not on one another."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.labels: list[_Label] = []
        self.taken: dict[int, list[_Label]] = collections.defaultdict(list)  # by inch from the left
        self.meetings = {(each.receiver, each.sender, each.start) for each in trace.events.messages}

    def text(self, message: Message) -> str:
        if self.trace.blocks > 1:
            return ranges_text(self.trace.blocks_of(message))
        return message.inputs if self.trace.inputs_differ else ""

    def add(self, message: Message, start: Point, end: Point, colour: str) -> None:
        text = self.text(message)
        if not text or math.dist(start, end) < LABEL:
            return
        (x, y), (to_x, to_y) = start, end
        places = [(x + part * (to_x - x), y + part * (to_y - y)) for part in self._parts(message)]
        # Inside a node, many messages may come at nearly the same time.
        can_be_missed = self.trace.problem.timing != ROUNDS and self._is_on_a_node(message)
        label = _Label(text, colour, places, can_be_missed)
        self._put(label)
        self.labels.append(label)

    def settle(self) -> list[_Label]:
        """The labels. Those that cover others move once more, now that all are known; or go, if they can be missed."""
        for _ in range(PASSES):
            crowded = [each for each in self.labels if self._covered(each, each.place) > 0]
            for each in crowded:
                for inch in each.inches():
                    self.taken[inch].remove(each)
                self._put(each)
        for each in [each for each in self.labels if each.can_be_missed and self._covered(each, each.place) > 0]:
            self.labels.remove(each)
            for inch in each.inches():
                self.taken[inch].remove(each)
        return self.labels

    def _is_on_a_node(self, message: Message) -> bool:
        return bool(self.trace.problem.nodes) and self.trace.problem.is_inside(message)

    def _put(self, label: _Label) -> None:
        label.place = min(label.places, key=lambda place: self._covered(label, place))
        for inch in label.inches():
            self.taken[inch].append(label)

    def _parts(self, message: Message) -> list[float]:
        """Of the way, the most wanted first."""
        distance = abs(message.sender - message.receiver)
        if distance == 1:
            # Two that exchange something meet in the middle.
            meets = (message.sender, message.receiver, message.start) in self.meetings
            return [0.27, 0.73] if meets else [0.5, 0.27, 0.73]
        middles = sorted((row + 0.5 for row in range(distance)), key=lambda row: (abs(row - distance / 2), row))
        return [(row + aside) / distance for aside in (0, -ASIDE, ASIDE) for row in middles]

    def _covered(self, label: _Label, place: Point) -> float:
        """How much of other labels there, in square inches."""
        x, y = place
        near = {each for inch in range(int(x - label.half), int(x + label.half) + 1) for each in self.taken[inch]}
        near.discard(label)
        return sum(
            max(0.0, label.half + each.half - abs(x - each.place[0])) * max(0.0, LETTERS - abs(y - each.place[1]))
            for each in near
        )


class _Picture:
    """A sheet, and how places in the trace become places on it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.labels = _Labels(trace)
        self.scale = _Rounds(trace) if trace.problem.timing == ROUNDS else _Seconds(trace)
        problem = trace.problem
        gaps = [NODE_GAP * node if problem.nodes else 0.0 for node in problem.node_of]
        self.rows = [EDGE + self.scale.row * rank + gap for rank, gap in enumerate(gaps)]
        height = self.rows[-1] + EDGE
        bottom = 0.34 + canvas.LEGEND
        self.sheet = Sheet(canvas.title_of(trace), self.scale.width, height, left=_left(trace), bottom=bottom)
        self.scale.draw_axis(self.sheet, height)

    def draw_ranks(self) -> None:
        problem = self.trace.problem
        self._draw_nodes()
        for rank, y in enumerate(self.rows):
            self.sheet.line([0, self.scale.width], [y, y], zorder=1)
            is_root = problem.has_root and rank == problem.root
            self.sheet.text(-0.07, y, str(rank), ha="right", fontweight="bold" if is_root else "normal")
        middle = (self.rows[0] + self.rows[-1]) / 2
        if problem.nodes:
            self.sheet.text(-0.54, middle, "node, rank", rotation=90)
        else:
            self.sheet.text(-0.36, middle, "rank", rotation=90)

    def _draw_nodes(self) -> None:
        """A common ground for the ranks of each node, and its number."""
        around = min(self.scale.row / 2, EDGE)
        for node, ranks in enumerate(self.trace.problem.nodes):
            first = sum(self.trace.problem.nodes[:node])
            top, end = self.rows[first] - around, self.rows[first + ranks - 1] + around
            self.sheet.ground(-0.42, top, self.scale.width + 0.42, end - top, f"node-{node}")
            self.sheet.text(-0.34, (top + end) / 2, str(node), color=canvas.FAINT, fontweight="bold")

    def draw_message(self, message: Message, name: str) -> None:
        x, end = self.scale.ends(message)
        start, target = (x, self.rows[message.sender]), (end, self.rows[message.receiver])
        colour = canvas.colour_of_block(self.trace.blocks_of(message)[0])
        if isinstance(self.scale, _Seconds):
            self._draw_wire(message, start, target, colour)
        # In seconds an arrow ends where the mark of a combine may stand.
        gap = 2.8 if isinstance(self.scale, _Seconds) else 0
        if self.trace.problem.nodes and self.trace.problem.is_inside(message):
            self.sheet.line(*zip(start, target, strict=True), color=colour, zorder=4, **canvas.INSIDE)
            part = min(HEAD / max(math.dist(start, target), HEAD), 1.0)
            head = (target[0] + part * (start[0] - target[0]), target[1] + part * (start[1] - target[1]))
            self.sheet.arrow(head, target, name, color=colour, zorder=4, shrinkB=gap, linewidth=0.7)
        else:
            self.sheet.arrow(start, target, name, color=colour, zorder=4, shrinkB=gap)
        self.sheet.line([start[0]], [start[1]], color=colour, marker="o", markersize=2, zorder=4)
        self.labels.add(message, start, target, colour)

    def draw_labels(self) -> None:
        for each in self.labels.settle():
            self.sheet.label(*each.place, each.text, each.colour)

    def _draw_wire(self, message: Message, start: Point, end: Point, colour: str) -> None:
        """The time from the first to the last byte at both ends."""
        width = self.scale.on_wire(message)
        shade = 0.16 if abs(message.sender - message.receiver) == 1 else 0.08  # long ones cover each other
        corners = (start, (start[0] + width, start[1]), end, (end[0] - width, end[1]))
        patches = optional.module("matplotlib.patches")
        self.sheet.axes.add_patch(patches.Polygon(corners, facecolor=colour, alpha=shade, linewidth=0, zorder=2))

    def draw_local(self, local: Local, name: str) -> None:
        x, y = self.scale.place(local), self.rows[local.rank]
        if isinstance(self.scale, _Seconds) and local.end > local.start:
            self.sheet.line(
                [self.scale.x(local.start), x], [y, y], color=canvas.INK, linewidth=2, solid_capstyle="butt", zorder=4
            )
        # Some marks are two on one another.
        for number, (marker, options) in enumerate(MARKS[local.kind]):
            self.sheet.line([x], [y], marker=marker, gid=None if number else name, **options)


MARKS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "combine": (
        ("o", {"markersize": 6, "markerfacecolor": "white", "color": canvas.INK, "markeredgewidth": 0.7, "zorder": 5}),
        ("+", {"markersize": 5.4, "color": canvas.INK, "markeredgewidth": 0.7, "zorder": 5}),
    ),
    "copy": (
        (
            "s",
            {"markersize": 3, "markerfacecolor": "white", "color": canvas.FAINT, "markeredgewidth": 0.7, "zorder": 5},
        ),
    ),
}


def _legend(trace: Trace) -> dict[str, Any]:
    lines = optional.module("matplotlib.lines")
    entries: dict[str, Any] = {}
    if trace.events.messages:
        of_what = ", with its block" if trace.blocks > 1 else ", with the ranks whose inputs it combines"
        text = f"message{of_what if trace.blocks > 1 or trace.inputs_differ else ''}"
        colour = canvas.colour_of_block(0)
        inside = [trace.problem.is_inside(message) for message in trace.events.messages]
        between = text.replace("message", "message between nodes", 1) if trace.problem.nodes else text
        if not all(inside):
            entries[between] = lines.Line2D([], [], color=colour, linewidth=0.9, marker=">", markersize=3)
        if any(inside):
            entries["inside a node" if entries else text.replace("message", "message inside a node", 1)] = lines.Line2D(
                [], [], color=colour, **canvas.INSIDE
            )
    kinds = {local.kind for local in trace.events.locals}
    for kind, text in (("combine", "operator applied"), ("copy", "copy")):
        if kind in kinds:
            marks = [lines.Line2D([], [], linestyle="none", marker=mark, **options) for mark, options in MARKS[kind]]
            entries[text] = tuple(marks)
    return entries
