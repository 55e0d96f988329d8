# SPDX-License-Identifier: BSD-3-Clause
"""Space-time diagrams: a line per rank, time to the right, an arrow per message, a mark per combine or copy."""

from __future__ import annotations

import itertools
import math
from typing import Any

from rondo import optional
from rondo.drawing import canvas, colours
from rondo.drawing.canvas import Point, Sheet
from rondo.drawing.labels import Labels
from rondo.drawing.time_scales import scale_of
from rondo.drawing.trace import Local, Message, Trace
from rondo.errors import Error

MOST_RANKS = 64
MOST_MESSAGES = 1500
MOST_CROSSINGS = 150  # of arrows that begin and end together
EDGE = 0.15  # inches above the first and below the last rank
LEFT = 0.5  # inches for the numbers of the ranks
BESIDE_NODES = 0.66  # instead of LEFT, where ranks are on nodes
NODE_GAP = 0.12  # inches between nodes
HEAD = 0.09  # inches of an arrow inside a node without dashes


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
    crossings = _most_crossings(trace)
    if crossings > MOST_CROSSINGS:
        raise Error(
            f"arrows that begin and end together cross {crossings} times: a space-time diagram is legible up to "
            f"{MOST_CROSSINGS}; take fewer processes"
        )


def _most_crossings(trace: Trace) -> int:
    """Of arrows between the same two moments."""
    together: dict[tuple[float, float], list[Message]] = {}
    for message in trace.events.messages:
        together.setdefault((message.start, message.end), []).append(message)
    pairs = (itertools.combinations(messages, 2) for messages in together.values())
    return max((sum(_cross(*pair) for pair in each) for each in pairs), default=0)


def _cross(one: Message, other: Message) -> bool:
    return (one.sender - other.sender) * (one.receiver - other.receiver) < 0


class _Picture:
    """A sheet, and how places in the trace become places on it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.labels = Labels(trace)
        self.colours = colours.of_blocks(max(trace.blocks, 1))
        problem, title = trace.problem, canvas.title_of(trace)
        left = BESIDE_NODES if problem.nodes else LEFT
        self.scale = scale_of(trace, room=canvas.width_of(title) - left)
        self.row = min(max(8.0 / problem.processes, 0.2), 0.42)
        gaps = [NODE_GAP * node if problem.nodes else 0.0 for node in problem.node_of]
        self.rows = [EDGE + self.row * rank + gap for rank, gap in enumerate(gaps)]
        height = self.rows[-1] + EDGE
        bottom = 0.34 + canvas.LEGEND
        self.sheet = Sheet(title, self.scale.width, height, left=left, bottom=bottom)
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
        around = min(self.row / 2, EDGE)
        for node, ranks in enumerate(self.trace.problem.nodes):
            first = sum(self.trace.problem.nodes[:node])
            top, end = self.rows[first] - around, self.rows[first + ranks - 1] + around
            self.sheet.ground(-0.42, top, self.scale.width + 0.42, end - top, f"node-{node}")
            self.sheet.text(-0.34, (top + end) / 2, str(node), color=canvas.FAINT, fontweight="bold")

    def draw_message(self, message: Message, name: str) -> None:
        x, end = self.scale.ends(message)
        start, target = (x, self.rows[message.sender]), (end, self.rows[message.receiver])
        colour = self.colours[self.trace.first_block_of(message)]
        self._draw_wire(message, start, target, colour)
        if self.trace.problem.nodes and self.trace.problem.is_inside(message):
            self.sheet.line(*zip(start, target, strict=True), color=colour, zorder=4, **canvas.INSIDE)
            part = min(HEAD / max(math.dist(start, target), HEAD), 1.0)
            head = (target[0] + part * (start[0] - target[0]), target[1] + part * (start[1] - target[1]))
            self.sheet.arrow(head, target, name, color=colour, zorder=4, shrinkB=self.scale.arrow_gap, linewidth=0.7)
        else:
            self.sheet.arrow(start, target, name, color=colour, zorder=4, shrinkB=self.scale.arrow_gap)
        self.sheet.line([start[0]], [start[1]], color=colour, marker="o", markersize=2, zorder=4)
        self.labels.add(message, start, target, colour)

    def draw_labels(self) -> None:
        for each in self.labels.settle():
            self.sheet.label(*each.place, each.text, each.colour)

    def _draw_wire(self, message: Message, start: Point, end: Point, colour: str) -> None:
        """The time from the first to the last byte at both ends."""
        width = self.scale.on_wire(message)
        if width == 0:
            return
        shade = 0.16 if abs(message.sender - message.receiver) == 1 else 0.08  # long ones cover each other
        corners = (start, (start[0] + width, start[1]), end, (end[0] - width, end[1]))
        patches = optional.module("matplotlib.patches")
        self.sheet.axes.add_patch(patches.Polygon(corners, facecolor=colour, alpha=shade, linewidth=0, zorder=2))

    def draw_local(self, local: Local, name: str) -> None:
        begin, x, y = self.scale.begin(local), self.scale.place(local), self.rows[local.rank]
        if begin < x:
            self.sheet.line([begin, x], [y, y], color=canvas.INK, linewidth=2, solid_capstyle="butt", zorder=4)
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
        colour = colours.of_blocks(1)[0]
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
