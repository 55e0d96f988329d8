# SPDX-License-Identifier: BSD-3-Clause
"""What repetitions say: summaries with intervals, ratios, and which of several algorithms is really the fastest.

The method is the one of Hunold and Carpen-Amarie, Reproducible MPI Benchmarking Is Still Not as Easy as You Think,
IEEE TPDS 27(12), 2016: medians, rank-sum tests, no assumption about the shape of the distribution. Everything is
deterministic: the bootstrap's random numbers have a fixed seed.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rondo import optional
from rondo.bench.results import NATIVE, VALID, Configuration, Repetition

CONFIDENCE = 0.95
SIGNIFICANCE = 0.05
SMALLEST_DIFFERENCE = 0.05
"""Relative; less is not called a difference, however certain it is."""
LEAST_FOR_INTERVAL = 6
"""Valid repetitions: with fewer, not even their whole range holds the median with 95% (1 - 2 / 2^n)."""
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

    @property
    def certain(self) -> bool:
        """Are there values enough for the interval to be one of 95%? What is drawn says so if not."""
        return self.count >= LEAST_FOR_INTERVAL


@dataclass(frozen=True)
class Ratio:
    """Of two medians, with its 95% bootstrap interval; NaN as in Summary."""

    value: float
    low: float
    high: float
    count: int
    """Of values, of the one of the two that has fewer."""

    @property
    def certain(self) -> bool:
        """As of a Summary."""
        return self.count >= LEAST_FOR_INTERVAL


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
    enough: bool
    """Has it, and has the fastest, so many valid repetitions that any difference could be told from chance?"""

    @property
    def takes_part(self) -> bool:
        """Can it win? Not with a wrong result, and not without a valid repetition."""
        return self.summary.count > 0 and self.configuration.wrong() == 0


class Change(enum.Enum):
    """What has become of times, beside those of a reference."""

    FASTER = "faster"
    SLOWER = "slower"
    NONE = "no difference"
    UNDECIDED = "undecided"
    """There are so few values that no times whatever could have decided."""


@dataclass(frozen=True)
class Difference:
    """Of times from those of a reference."""

    ratio: Ratio
    """Of the medians, the reference's below."""
    p_value: float
    """That there is no difference, by Holm for all that are compared with the reference."""
    change: Change


class Verdict(enum.Enum):
    """What a comparison says. Whatever names a winner asks for this first."""

    WON = "won"
    """By the one that is faster than all others, or by the native one if no other is proven faster."""
    TIED = "tied"
    """Some of Rondo's cannot be told apart, and all are faster than the native one."""
    UNDECIDED = "undecided"
    """Of some candidate there are so few valid repetitions that no times whatever could have decided."""
    ALONE = "alone"
    """There is one candidate, or one without a wrong result."""
    NOTHING = "nothing valid"


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
    def verdict(self) -> Verdict:
        """Is there a winner? The one place that decides it, for all tables, words and figures."""
        right = [each for each in self.standings if each.configuration.wrong() == 0]
        if not self.best:
            return Verdict.NOTHING
        if len(right) == 1:
            return Verdict.ALONE
        if not all(each.enough for each in right):
            return Verdict.UNDECIDED
        return Verdict.WON if len(self.best) == 1 or self.native in self.best else Verdict.TIED

    @property
    def winner(self) -> Standing | None:
        """The only one of the best; of several, the native one. None if the verdict is another than that one won."""
        if self.verdict is not Verdict.WON:
            return None
        return self.best[0] if len(self.best) == 1 else self.native

    @property
    def needed(self) -> int:
        """Valid repetitions of each candidate with which a winner can be named at all."""
        return least_repetitions(sum(each.configuration.wrong() == 0 for each in self.standings))


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
        return Ratio(math.nan, math.nan, math.nan, 0)
    generator = _generator()
    above, below = (numpy.sort(numpy.asarray(each, dtype=float)) for each in (seconds, reference))
    ratios = _bootstrap_medians(above, generator) / _bootstrap_medians(below, generator)
    fewer = min(len(above), len(below))
    return Ratio(float(numpy.median(above) / numpy.median(below)), *_interval(ratios, fewer), fewer)


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


def least_p_value(first: int, second: int) -> float:
    """The smallest p-value of a two-sided rank-sum test that so many values can have: one order of all of them."""
    return min(1.0, 2 / math.comb(first + second, first))


def least_repetitions(candidates: int) -> int:
    """How many of each it takes to tell the fastest of so many candidates from the others, if they are far apart."""
    number = 1
    while max(candidates - 1, 1) * least_p_value(number, number) >= SIGNIFICANCE:
        number += 1
    return number


def groups(configurations: Iterable[Configuration]) -> list[list[Configuration]]:
    """Those of one measurement that differ in nothing but the algorithm and its parameters, in the order given."""
    alike: dict[tuple[object, ...], list[Configuration]] = {}
    for each in configurations:
        key = (each.collective, each.start, each.type, each.operator, each.parts, each.form, each.bytes, each.count)
        alike.setdefault(key, []).append(each)
    return list(alike.values())


def compare(group: Sequence[Configuration], clock_error: float = 0.0) -> Comparison:
    """Who is the fastest of one of `groups`, and who cannot be told apart from it.

    Each is tested against the one with the smallest median (Wilcoxon, Mann and Whitney; two-sided). Slower is one whose
    medians differ significantly after Holm's correction, by more than 5%, by more than the ranks' usual skew at the
    start, and by more than what their clocks disagree. If some have too few repetitions for any such test, nothing is
    decided.
    """
    native: list[float] = next((each.seconds() for each in group if each.algorithm == NATIVE), [])
    entered = [
        Standing(
            each, summary(each.seconds()), ratio(each.seconds(), native) if native else None, math.nan, True, False
        )
        for each in group
    ]
    running = sorted((each for each in entered if each.takes_part), key=lambda each: each.summary.median)
    if not running:
        return Comparison(tuple(entered))
    fastest, others = running[0], running[1:]
    adjusted, least = _tested(fastest.configuration.seconds(), [each.configuration.seconds() for each in others])
    ranked = [_judged(fastest, fastest, 1.0, True, clock_error)]
    ranked += [
        _judged(each, fastest, p_value, possible < SIGNIFICANCE, clock_error)
        for each, p_value, possible in zip(others, adjusted, least, strict=True)
    ]
    return Comparison((*ranked, *(each for each in entered if not each.takes_part)))


def compare_times(seconds: Mapping[str, Sequence[float]]) -> Comparison:
    """The same of times by name that no benchmark took, of whole programs say: "native" is the native one's name."""
    return compare([
        Configuration(
            "", name, "", "", 0, 0, "", "", 0.0, [Repetition(each, each, each, 0.0, VALID, 0) for each in times]
        )
        for name, times in seconds.items()
    ])  # fmt: skip


def differences(
    reference: Sequence[float], others: Mapping[str, Sequence[float]], smallest: float = SMALLEST_DIFFERENCE
) -> dict[str, Difference]:
    """How times differ from a reference, by name. A difference is significant, and relatively more than `smallest`.

    Where there are no times at all, nothing is decided.
    """
    known = {name: times for name, times in others.items() if len(times) and len(reference)}
    adjusted, least = _tested(reference, list(known.values()))
    found = {name: Difference(ratio([], []), math.nan, Change.UNDECIDED) for name in others}
    for (name, times), p_value, possible in zip(known.items(), adjusted, least, strict=True):
        of_medians = ratio(times, reference)
        if possible >= SIGNIFICANCE:
            change = Change.UNDECIDED
        elif p_value >= SIGNIFICANCE or abs(of_medians.value - 1) <= smallest:
            change = Change.NONE
        else:
            change = Change.FASTER if of_medians.value < 1 else Change.SLOWER
        found[name] = Difference(of_medians, p_value, change)
    return found


def _tested(one: Sequence[float], others: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """P-values of each against the one, by Holm; and the smallest that there can be with so many values."""
    adjusted = holm([_rank_sum(one, each) for each in others])
    # Smaller p-values never make adjusted ones larger, so these are the smallest that there can be.
    return adjusted, holm([least_p_value(len(one), len(each)) for each in others])


def _judged(standing: Standing, fastest: Standing, p_value: float, enough: bool, clock_error: float) -> Standing:
    difference = standing.summary.median - fastest.summary.median
    skew = max(_usual_skew(standing.configuration), _usual_skew(fastest.configuration))
    threshold = max(SMALLEST_DIFFERENCE * fastest.summary.median, skew, clock_error)
    slower = p_value < SIGNIFICANCE and difference > threshold
    return Standing(standing.configuration, standing.summary, standing.ratio, p_value, slower, enough)


def _usual_skew(configuration: Configuration) -> float:
    numpy = optional.module("numpy")
    return float(numpy.median([each.skew for each in configuration.repetitions if each.state == VALID]))


def _rank_sum(first: Sequence[float], second: Sequence[float]) -> float:
    test = optional.module("scipy.stats").mannwhitneyu(first, second, alternative="two-sided")
    # With ties it approximates, and may fall below what so few values can prove.
    return max(float(test.pvalue), least_p_value(len(first), len(second)))


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
