# SPDX-License-Identifier: BSD-3-Clause
"""Who is still in the race: what the repetitions of a cell decide, and who has to be measured again.

A candidate drops out when it is significantly slower than the fastest, or when it is certain that it is not 5% faster
than native. A cell is decided when nobody is left whose place in the rules more repetitions could change.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from rondo.bench import statistics
from rondo.bench.results import NATIVE, VALID, Configuration
from rondo.bench.statistics import Ratio, Standing
from rondo.tune.cells import Cell

FIRST_REPETITIONS = statistics.LEAST_FOR_INTERVAL
NEXT_REPETITIONS = (8, 12, 16)
"""Of the passes after the first."""
LAST_REPETITIONS = (32, 64)
"""Of those when there is time for all candidates."""
FURTHER_REPETITIONS = 64
"""Of the passes after these: what is open still, and once more what was decided."""
MOST_REPETITIONS = 512
"""Of a candidate of which it is open whether it is the best."""
ENOUGH_REPETITIONS = 96
"""Of candidates among which it is decided: the first ones may have misled, all of them from one launch."""
GAIN = 1 - statistics.SMALLEST_DIFFERENCE
"""Of native's time: a rule takes less, for certain."""
ALIKE = 1.03
"""Candidates within this ratio of the best are as good as it."""
NEAR = 1.25
"""Candidates within this ratio may be the best in another launch."""


class Place(enum.Enum):
    """Of a candidate, beside native."""

    FASTER = "faster"
    """By 5% at least, for certain: it may stand in a rule."""
    OPEN = "open"
    """More repetitions may decide."""
    OUT = "out"
    """It is certain that it is not 5% faster; or others are faster than it."""


@dataclass(frozen=True)
class Figure:
    """What was measured of a candidate of a cell."""

    choice: str
    median: float
    """Seconds."""
    ratio: Ratio
    """To native."""
    place: Place
    slower: bool
    """Than the fastest one of all, significantly."""
    attempts: int
    """Repetitions, valid or not."""

    @property
    def text(self) -> str:
        """Median, ratio to native and how often: what justifies a rule."""
        from rondo.reports.style import time_text  # noqa: PLC0415

        return f"{time_text(self.median)} = {self.ratio.value:.2f} (n {self.ratio.count})"


@dataclass(frozen=True)
class State:
    """What is known of a cell."""

    cell: Cell
    figures: dict[str, Figure]
    """Of Rondo's candidates that were measured beside native, the fastest first."""
    native: float
    """Median, in seconds; NaN if it was not measured."""
    repetitions: int
    """Valid ones of native."""
    attempts: int
    """Repetitions of native, valid or not."""

    @property
    def measured(self) -> bool:
        """Is there anything to go by?"""
        return bool(self.figures)

    @property
    def certain(self) -> bool:
        """Have native and one of the others been measured often enough to say anything for certain?"""
        return any(each.ratio.certain for each in self.figures.values())

    @property
    def survivors(self) -> tuple[str, ...]:
        """Rondo's candidates that need more repetitions; none if the cell is decided."""
        left = [each for each in self.figures.values() if each.place is not Place.OUT]
        still_open = [each for each in left if each.place is Place.OPEN]
        if not left or min(each.attempts for each in left) >= MOST_REPETITIONS:
            return ()
        if not still_open and left[-1].median <= (1 + statistics.SMALLEST_DIFFERENCE) * left[0].median:
            return ()  # any of them will do
        return tuple(each.choice for each in left)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Of a decided cell, the candidates that may be the best in other launches; none if all had enough.

        All of them together: what others had on another day says little beside those that come late.
        """
        if not self.figures:
            return ()
        best = min(self.native, next(iter(self.figures.values())).median)
        near = [
            each for each in self.figures.values() if each.median <= NEAR * best or each.choice == self.cell.default
        ]
        had_enough = all(attempts >= ENOUGH_REPETITIONS for attempts in (self.attempts, *(e.attempts for e in near)))
        return () if had_enough else tuple(each.choice for each in near)

    @property
    def unmeasured(self) -> tuple[str, ...]:
        """Rondo's candidates of which nothing is known, as the box had no time for them."""
        return tuple(each for each in self.cell.seconds if each not in self.figures)

    @property
    def winners(self) -> tuple[str, ...]:
        """Choices that may stand in a rule: certain to gain, and as good as the best such one; the best first."""
        certain = [each for each in self.figures.values() if each.place is Place.FASTER]
        return tuple(each.choice for each in certain if each.median <= ALIKE * certain[0].median)

    @property
    def native_is_safer(self) -> bool:
        """Nobody is certain to gain, and what the default rules choose takes longer than native."""
        chosen = self.figures.get(self.cell.default)
        return not self.winners and chosen is not None and chosen.ratio.certain and chosen.ratio.value > ALIKE

    @property
    def accepted(self) -> tuple[str, ...]:
        """What a rule for this cell may choose; the best first. None: nothing is known."""
        if not self.certain:
            return ()
        if self.winners:
            return self.winners
        default = NATIVE if self.native_is_safer else self.cell.default
        faster = [each for each in self.figures.values() if each.ratio.certain and each.ratio.high < 1]
        # Faster by less than 5%: no reason for a rule, but none against one of its neighbours, either.
        alike = [each.choice for each in faster if each.median <= ALIKE * faster[0].median and each.choice != default]
        return (*([default] if default in (NATIVE, *self.figures) else []), *alike)

    @property
    def needs_a_rule(self) -> bool:
        """Would the default rules choose something else than what is accepted, or has the choice to be justified?"""
        return self.certain and (bool(self.winners) or self.native_is_safer)


def state_of(cell: Cell, configurations: Mapping[str, Configuration], clock_error: float = 0.0) -> State:
    """What the repetitions of a cell's candidates say; `configurations` by choice."""
    native = configurations.get(NATIVE)
    if native is None or not native.seconds():
        return State(cell, {}, float("nan"), 0, len(native.repetitions) if native is not None else 0)
    compared = statistics.compare([_counted(each) for each in configurations.values()], clock_error)
    figures = {}
    for each in compared.standings:
        if each.configuration.algorithm == NATIVE or not each.takes_part or each.ratio is None:
            continue
        choice = each.configuration.label
        slower, attempts = each.slower and each.enough, len(each.configuration.repetitions)
        figures[choice] = Figure(choice, each.summary.median, each.ratio, _place(each), slower, attempts)
    native_seconds = native.seconds()
    return State(cell, figures, statistics.summary(native_seconds).median, len(native_seconds), len(native.repetitions))


def _counted(configuration: Configuration) -> Configuration:
    """Of Rondo's candidates with few valid repetitions, all count, also the late and the disturbed ones.

    These took longer than they should have, never shorter, so they prove no gain that is not there. Some candidates
    have hardly any others: many messages at once are more than an emulated network carries in time.
    """
    if configuration.algorithm == NATIVE or len(configuration.seconds()) >= FIRST_REPETITIONS:
        return configuration
    repetitions = [msgspec.structs.replace(each, state=VALID) for each in configuration.repetitions]
    return msgspec.structs.replace(configuration, repetitions=repetitions)


def _place(standing: Standing) -> Place:
    assert standing.ratio is not None
    if standing.ratio.certain and standing.ratio.low > GAIN:
        return Place.OUT
    if standing.slower and standing.enough:
        return Place.OUT
    return Place.FASTER if standing.ratio.certain and standing.ratio.high <= GAIN else Place.OPEN


def merged(parts: Sequence[Configuration]) -> Configuration:
    """The repetitions of the same configuration, measured several times."""
    return msgspec.structs.replace(parts[0], repetitions=[each for part in parts for each in part.repetitions])
