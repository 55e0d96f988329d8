# SPDX-License-Identifier: BSD-3-Clause
"""What a measurement will do, how far it is, and why it took longer than it was given."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from rondo.bench.launches import Place
from rondo.bench.plans import PATTERNS, TYPES, Plan
from rondo.bench.records import Collector
from rondo.cluster import shapes
from rondo.forms import BLOCKING
from rondo.reports import style
from rondo.saying import EVERY

EXCESS = 1.25
"""More than so many times --seconds are worth a line."""


def announcement(plan: Plan, place: Place) -> Iterable[str]:
    """What will be measured, where, and about how long that takes."""
    parts = [style.counted(len(plan.candidates), "candidate"), style.counted(len(plan.counts), "count")]
    parts += [style.counted(len(plan.forms), "form")] if len(plan.forms) > 1 else []
    parts += ["2 ways to start"] if len(plan.starts) > 1 else []
    shape = shapes.parse(place.cluster_text) if ":" in (place.cluster_text or "") else None
    ranks = place.processes or (shape.ranks if shape is not None else 0)
    first = (
        f"the start of {style.counted(ranks, 'rank')} on an emulated cluster"
        if shape is not None
        else "the start of the ranks"
    )
    yield (
        f"{plan.collective}: {' x '.join(parts)} = {style.counted(plan.configurations, 'configuration')}; "
        f"about {plan.seconds:g} s after {first}"
    )
    least = least_seconds(plan, shape.of_ranks(ranks)) if shape is not None else 0.0
    if least > plan.seconds:
        yield (
            f"this takes {least:.0f} s at least: each configuration is measured once after a warm-up, whatever "
            f"--seconds says; take fewer --counts or algorithms for less"
        )


def least_seconds(plan: Plan, shape: shapes.Shape) -> float:
    """What an emulated network needs for one repetition of everything, and a warm-up: a latency and the vector each."""
    if plan.collective in PATTERNS or shape.nodes < 2:
        return 0.0
    size = TYPES[plan.type]
    one = sum(shape.latency + count * size * shape.seconds_per_byte / shape.lanes for count in plan.counts)
    calls = sum(2 if plan.pieces and each != BLOCKING else 1 for each in plan.forms) * len(plan.starts)
    return one * len(plan.candidates) * calls * (1 + min(plan.warmup, 1))


class Course:
    """How far a measurement is, as its records tell."""

    def __init__(self, plan: Plan, clock: Callable[[], float] = time.monotonic) -> None:
        """Of one that starts now."""
        self.text = f"{plan.collective}: starting the ranks"
        self.completed = 0
        """Configurations."""
        self._plan = plan
        self._clock = clock
        self._began = self._told = clock()
        self._measuring_since: float | None = None
        self._ended: float | None = None

    def look(self, collector: Collector) -> None:
        """Takes in what there is."""
        plan, current = self._plan, collector.current
        if collector.machine is not None and self._measuring_since is None:
            self._measuring_since = self._clock()
            self.text = f"{plan.collective}: {collector.machine.ranks} ranks are there"
        if collector.end is not None:
            self.completed = plan.configurations
            self._ended = self._ended or self._clock()
            self.text = f"{plan.collective}: measured; the ranks are ending"
        elif current is not None:
            done = plan.counts.index(current.count)
            self.completed = done * len(plan.candidates) * plan.ways
            self.text = f"{plan.collective}, count {current.count} ({done + 1} of {len(plan.counts)})"

    def line_due(self) -> str | None:
        """A line every few seconds, for where there is no bar."""
        now = self._clock()
        if now - self._told < EVERY:
            return None
        self._told = now
        return f"{self.text}, {now - self._began:.0f} s"

    def excess(self) -> list[str]:
        """Why it took longer than --seconds, if it did."""
        if self._measuring_since is None or self._ended is None:
            return []
        taken = self._ended - self._measuring_since
        plan = self._plan
        if taken <= max(EXCESS * plan.seconds, plan.seconds + 1):
            return []
        each = style.time_text(taken / plan.configurations)
        return [
            f"this took {math.ceil(taken)} s instead of {plan.seconds:g}: each of the {plan.configurations} "
            f"configurations is measured at least once after a warm-up, which takes {each} here; fewer --counts or "
            f"algorithms, or more --seconds"
        ]
