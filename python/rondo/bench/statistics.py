# SPDX-License-Identifier: BSD-3-Clause
"""What repetitions say: summaries with intervals, ratios, and which of several algorithms is really the fastest.

The method is the one of Hunold and Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not as Easy as You Think,
IEEE TPDS 27(12), 2016: medians, rank-sum tests, no assumption about the shape of the distribution. Everything is
deterministic: the bootstrap's random numbers have a fixed seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rondo import optional
from rondo.bench.results import NATIVE, VALID, Configuration

CONFIDENCE = 0.95
SIGNIFICANCE = 0.05
SMALLEST_DIFFERENCE = 0.05
"""Relative; less is not called a difference, however certain it is."""
RESAMPLES = 10000
SEED = 20160901


@dataclass(frozen=True)
class Summary:
    """Of times in seconds. NaN is what cannot be known: all of no values, the interval of fewer than two."""

    count: int
    minimum: float
    mean: float
    median: float
    maximum: float
    p50: float
    """The median, under the name that goes with p99."""
    p99: float
    low: float
    """End of the 95% bootstrap interval of the median. Fewer than six values cannot give 95%: with them, the interval
    is at most their range."""
    high: float
    """The interval's other end."""


@dataclass(frozen=True)
class Ratio:
    """Of two medians, with its 95% bootstrap interval; NaN as in Summary."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Standing:
    """One candidate among those that did the same."""

    configuration: Configuration
    summary: Summary
    ratio: Ratio | None
    """Of its median to that of the native one; None without a native one that counts."""
    p_value: float
    """That it is no slower than the fastest, by Holm; 1 for the fastest, NaN if it does not take part."""
    slower: bool
    """Than the fastest, by more than could be chance, skew or a trifle. Also if it does not take part."""

    @property
    def takes_part(self) -> bool:
        """Can it win? Not with a wrong result, and not without a valid repetition."""
        return self.summary.count > 0 and self.configuration.wrong() == 0


@dataclass(frozen=True)
class Comparison:
    """Candidates that did the same, by rising medians; those that do not take part come last."""

    standings: tuple[Standing, ...]

    @property
    def fastest(self) -> Standing | None:
        """Of the smallest median; None if no candidate takes part."""
        return next((each for each in self.standings if each.takes_part), None)

    @property
    def native(self) -> Standing | None:
        """The MPI library's own."""
        return next((each for each in self.standings if each.configuration.algorithm == NATIVE), None)

    @property
    def best(self) -> tuple[Standing, ...]:
        """The fastest, and all that cannot be told apart from it."""
        return tuple(each for each in self.standings if each.takes_part and not each.slower)

    @property
    def winner(self) -> Standing | None:
        """The only one of the best; of several, the native one. None if there is no reason to prefer one of them."""
        if len(self.best) == 1:
            return self.best[0]
        return next((each for each in self.best if each.configuration.algorithm == NATIVE), None)


def summary(seconds: Sequence[float]) -> Summary:
    """What these times say; they may come in any order."""
    numpy = optional.module("numpy")
    if not len(seconds):
        return Summary(0, *[math.nan] * 8)
    ordered = numpy.sort(numpy.asarray(seconds, dtype=float))
    middle = float(numpy.median(ordered))
    low, high = _interval(_bootstrap_medians(ordered, _generator()), len(ordered))
    return Summary(
        count=len(ordered),
        minimum=float(ordered[0]),
        mean=float(ordered.mean()),
        median=middle,
        maximum=float(ordered[-1]),
        p50=middle,
        p99=float(numpy.percentile(ordered, 99)),
        low=low,
        high=high,
    )


def ratio(seconds: Sequence[float], reference: Sequence[float]) -> Ratio:
    """Median of some times over the median of others, which were taken independently."""
    numpy = optional.module("numpy")
    if not len(seconds) or not len(reference):
        return Ratio(math.nan, math.nan, math.nan)
    generator = _generator()
    above, below = (numpy.sort(numpy.asarray(each, dtype=float)) for each in (seconds, reference))
    ratios = _bootstrap_medians(above, generator) / _bootstrap_medians(below, generator)
    interval = _interval(ratios, min(len(above), len(below)))
    return Ratio(float(numpy.median(above) / numpy.median(below)), *interval)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values of tests that are made together, adjusted so that any false alarm among them is as rare as claimed.

    Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6(2), 1979.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda each: p_values[each])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def groups(configurations: Iterable[Configuration]) -> list[list[Configuration]]:
    """Those of one measurement that differ in nothing but the algorithm and its parameters, in the order given."""
    alike: dict[tuple[object, ...], list[Configuration]] = {}
    for each in configurations:
        key = (each.collective, each.start, each.type, each.operator, each.bytes, each.count)
        alike.setdefault(key, []).append(each)
    return list(alike.values())


def compare(group: Sequence[Configuration], clock_error: float = 0.0) -> Comparison:
    """Who is the fastest of one of `groups`, and who cannot be told apart from it.

    Each is tested against the one with the smallest median (Wilcoxon, Mann and Whitney; two-sided). Slower is one whose
    medians differ significantly after Holm's correction, by more than 5%, by more than the ranks' usual skew at the
    start, and by more than what their clocks disagree.
    """
    native: list[float] = next((each.seconds() for each in group if each.algorithm == NATIVE), [])
    entered = [
        Standing(each, summary(each.seconds()), ratio(each.seconds(), native) if native else None, math.nan, True)
        for each in group
    ]
    running = sorted((each for each in entered if each.takes_part), key=lambda each: each.summary.median)
    if not running:
        return Comparison(tuple(entered))
    fastest, others = running[0], running[1:]
    adjusted = holm([_rank_sum(fastest.configuration, each.configuration) for each in others])
    ranked = [_judged(fastest, fastest, 1.0, clock_error)]
    ranked += [_judged(each, fastest, p_value, clock_error) for each, p_value in zip(others, adjusted, strict=True)]
    return Comparison((*ranked, *(each for each in entered if not each.takes_part)))


def _judged(standing: Standing, fastest: Standing, p_value: float, clock_error: float) -> Standing:
    difference = standing.summary.median - fastest.summary.median
    skew = max(_usual_skew(standing.configuration), _usual_skew(fastest.configuration))
    threshold = max(SMALLEST_DIFFERENCE * fastest.summary.median, skew, clock_error)
    slower = p_value < SIGNIFICANCE and difference > threshold
    return Standing(standing.configuration, standing.summary, standing.ratio, p_value, slower)


def _usual_skew(configuration: Configuration) -> float:
    numpy = optional.module("numpy")
    return float(numpy.median([each.skew for each in configuration.repetitions if each.state == VALID]))


def _rank_sum(first: Configuration, second: Configuration) -> float:
    test = optional.module("scipy.stats").mannwhitneyu(first.seconds(), second.seconds(), alternative="two-sided")
    return float(test.pvalue)


def _generator() -> Any:
    return optional.module("numpy").random.default_rng(SEED)


def _bootstrap_medians(ordered: Any, generator: Any) -> Any:
    """Medians of resamples with replacement.

    A median needs only the middle of a resample. Drawing an element is taking the place floor(n * uniform), and order
    statistics of uniform variates follow beta distributions (David and Nagaraja, Order Statistics, 2003, section 2.3),
    so that one or two variates give a median, whatever n is.
    """
    n = len(ordered)
    below = (n - 1) // 2
    lower = generator.beta(below + 1, n - below, RESAMPLES)
    upper = lower if n % 2 else lower + (1 - lower) * generator.beta(1, n - below - 1, RESAMPLES)
    return (ordered[_places(lower, n)] + ordered[_places(upper, n)]) / 2


def _places(uniform: Any, n: int) -> Any:
    return optional.module("numpy").minimum((uniform * n).astype(int), n - 1)


def _interval(resampled: Any, values: int) -> tuple[float, float]:
    if values < 2:
        return math.nan, math.nan
    tail = 50 * (1 - CONFIDENCE)
    low, high = optional.module("numpy").percentile(resampled, [tail, 100 - tail])
    return float(low), float(high)
