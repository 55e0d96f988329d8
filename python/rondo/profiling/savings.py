# SPDX-License-Identifier: BSD-3-Clause
"""What the calls of a profile would take with Rondo, and what the run would save: figures, each as an interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rondo.profiling import bounds, calls, summary
from rondo.profiling.profile import Line, Profile
from rondo.selection.learned import Verdict

VISIBLE = 0.0005
"""Of the run: less is not worth a word."""
CALLS_OF_A_DUEL = 4
"""That the library may carry out in a first run, until the guard has seen who is faster: of a kind, here of a line."""
START_LATENCIES = 60
"""What Rondo's own start takes: ranks agree on what they were told (docs/benchmarks/tables/profiles.md)."""
PREDICTED, TUNED, LEARNED = "predicted", "measured by rondo tune", "found out by the guard"


@dataclass(frozen=True)
class Range:
    """A figure, and what it may be."""

    value: float
    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        """As if all errors were one: that is the widest interval."""
        return Range(self.value + other.value, self.low + other.low, self.high + other.high)

    def __mul__(self, factor: float) -> Range:
        """By a factor that is not negative."""
        return Range(self.value * factor, self.low * factor, self.high * factor)


NOTHING = Range(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Circumstances:
    """By what predictions are made."""

    rules: Path | None
    """Those that `rondo run` takes; None: none."""
    text: str
    """Of the rules."""
    machine: str
    """Text of the machine file."""
    is_standard: bool
    """Nobody has measured the machine: the figures are of some network."""
    is_tuned: bool
    """`rondo tune` has written the rules."""
    verdicts: tuple[Verdict, ...] = ()
    """Of the guard, in earlier runs there with this MPI library."""


@dataclass(frozen=True)
class Estimate:
    """What a call would take, in seconds."""

    choice: str
    seconds: Range
    basis: str
    """PREDICTED, TUNED or LEARNED."""


@dataclass(frozen=True)
class Prediction:
    """Of a line."""

    line: Line
    native: float
    """Seconds that a call moved data for, on the rank with the most; NaN if no call was compared."""
    rules: Estimate | None
    """By the choice of the rules; None: they leave the calls to the library, or nobody knows."""
    best: Estimate | None
    """Of all algorithms, if one is faster than native; None: none is, or nobody knows."""
    reason: str
    """Why there is no estimate, or why the rules leave the calls to the library; empty if there is nothing to say."""
    judged: bool
    """Is it known what the best algorithm would gain?"""
    rules_judged: bool
    """Is it known what the rules would?"""

    def ratio(self, estimate: Estimate | None) -> float:
        """Of what a call would take to what it takes; not above 1, for the guard takes back what does not pay."""
        return min(estimate.seconds.value / self.native, 1.0) if estimate is not None and self.native > 0 else 1.0

    def saved(self, estimate: Estimate | None) -> Range:
        """Seconds of the run. What does not pay, the guard takes back: nothing is lost.

        It is what the critical path no longer moves. At least it is that, or what the mean rank no longer moves, of the
        calls in which the guard compares nothing; at most what the slowest rank no longer moves.
        """
        if estimate is None or self.native <= 0:
            return NOTHING
        takes, critical = estimate.seconds, calls.critical_moving(self.line)
        shorter = Range(*(max(0.0, 1 - each / self.native) for each in (takes.value, takes.high, takes.low)))
        low = min(critical, calls.mean_moving(self.line)) * shorter.low
        low *= max(self.line.calls - CALLS_OF_A_DUEL, 0) / max(self.line.calls, 1)
        return Range(critical * shorter.value, low, max(critical, self.native * self.line.calls) * shorter.high)


@dataclass(frozen=True)
class Outlook:
    """Of a whole profile."""

    profile: Profile
    circumstances: Circumstances
    predictions: tuple[Prediction, ...]
    """Of each line of the profile, in its order."""

    @cached_property
    def times(self) -> summary.Times:
        """Of the mean rank."""
        return summary.mean(self.profile)

    @cached_property
    def by_rules(self) -> Range | None:
        """Seconds of the run that `rondo run` saves, less what its start takes: negative if that is more.

        Calls of which nothing can be said are left out; None if there are no others.
        """
        if self._is_open(self.open_by_rules, [each.rules for each in self.predictions]):
            return None
        whole = sum((each.saved(each.rules) for each in self.predictions), NOTHING)
        return Range(whole.value - self.start, whole.low - self.start, whole.high)

    @cached_property
    def at_best(self) -> Range | None:
        """Seconds of the run that could be saved with the best algorithms, less what the start takes.

        As for `by_rules`, None if nobody knows.
        """
        if self._is_open(self.open_at_best, [each.best for each in self.predictions]):
            return None
        whole = sum((each.saved(each.best) for each in self.predictions), NOTHING)
        return Range(max(whole.value - self.start, 0.0), max(whole.low - self.start, 0.0), whole.high)

    @cached_property
    def collectives(self) -> Range | None:
        """Seconds of the mean rank in collectives with `rondo run`, which starts in MPI_Init, before them.

        What the guard takes back takes as long as now, so that calls of which nothing can be said take no longer. None
        if there are no others.
        """
        if self.by_rules is None:
            return None
        whole = sum((each.saved(each.rules) for each in self.predictions), NOTHING)
        now = self.times.collectives
        return Range(now - whole.value, max(now - whole.high - self.open_by_rules, 0.0), now - whole.low)

    def _is_open(self, seconds: float, estimates: Iterable[Estimate | None]) -> bool:
        """Is there nothing but calls of which nothing can be said, and are they worth a word?"""
        return self.times.share(seconds) >= VISIBLE and not any(estimates)

    @cached_property
    def start(self) -> float:
        """Seconds that Rondo's own start takes."""
        figures = bounds.machine_figures(self.circumstances.machine)
        latency = figures.alpha if len(self.profile.hosts) > 1 else figures.alpha_inside
        return START_LATENCIES * (latency or 0.0)

    @cached_property
    def open_by_rules(self) -> float:
        """Seconds of the mean rank in calls of which nobody knows what they would take with `rondo run`."""
        return sum(self.in_question(each) for each in self.predictions if not each.rules_judged)

    @cached_property
    def open_at_best(self) -> float:
        """The same with the best algorithms."""
        return sum(self.in_question(each) for each in self.predictions if not each.judged)

    def in_question(self, each: Prediction) -> float:
        """Seconds of the mean rank that another algorithm could change: moving, as far as that is known."""
        total = summary.total(self.profile, [each.line])
        return total.moving if total.moving is not None else total.unsplit

    def share(self, seconds: Range) -> Range:
        """Of the run."""
        return seconds * (1 / self.times.run) if self.times.run > 0 else NOTHING
