# SPDX-License-Identifier: BSD-3-Clause
"""Labels of arrows: they stand on their arrow, between two lines of ranks, and not on one another."""

from __future__ import annotations

import collections
import math
from dataclasses import dataclass

from rondo.drawing.canvas import Point
from rondo.drawing.trace import ROUNDS, Message, Trace, ranges_text

LABEL = 0.3  # inches of arrow that a label needs
LETTERS = 0.1  # inches that they are high
ASIDE = 0.2  # of the distance of two ranks: how far from their middle a label may stand
PASSES = 4  # in which labels make room for one another


@dataclass(eq=False)
class Label:
    """Text, and where it stands: `place`, its centre."""

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


class Labels:
    """Finds places for them: first each arrow is added, then all labels are settled."""

    def __init__(self, trace: Trace) -> None:
        """Of the messages of this trace."""
        self.trace = trace
        self.labels: list[Label] = []
        self.taken: dict[int, list[Label]] = collections.defaultdict(list)  # by inch from the left
        self.meetings = {(each.receiver, each.sender, each.start) for each in trace.events.messages}

    def add(self, message: Message, start: Point, end: Point, colour: str) -> None:
        """Its arrow goes from start to end. It has no label if it is too short, or if there is nothing to say."""
        text = self._text(message)
        if not text or math.dist(start, end) < LABEL:
            return
        (x, y), (to_x, to_y) = start, end
        places = [(x + part * (to_x - x), y + part * (to_y - y)) for part in self._parts(message)]
        # Inside a node, many messages may come at nearly the same time.
        can_be_missed = self.trace.problem.timing != ROUNDS and self._is_on_a_node(message)
        label = Label(text, colour, places, can_be_missed)
        self._put(label)
        self.labels.append(label)

    def settle(self) -> list[Label]:
        """All labels. Those that cover others move once more, now that all are known; or go, if they can be missed."""
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

    def _text(self, message: Message) -> str:
        if self.trace.blocks > 1:
            return ranges_text(self.trace.blocks_of(message))
        return message.inputs if self.trace.inputs_differ else ""

    def _is_on_a_node(self, message: Message) -> bool:
        return bool(self.trace.problem.nodes) and self.trace.problem.is_inside(message)

    def _put(self, label: Label) -> None:
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

    def _covered(self, label: Label, place: Point) -> float:
        """How much of other labels there, in square inches."""
        x, y = place
        near = {each for inch in range(int(x - label.half), int(x + label.half) + 1) for each in self.taken[inch]}
        near.discard(label)
        return sum(
            max(0.0, label.half + each.half - abs(x - each.place[0])) * max(0.0, LETTERS - abs(y - each.place[1]))
            for each in near
        )
