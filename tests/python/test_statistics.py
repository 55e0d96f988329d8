# SPDX-License-Identifier: BSD-3-Clause
"""Intervals, corrections and winners, on cases whose answers are known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
import pytest
from rondo.bench import statistics, verdicts
from rondo.bench.results import Configuration, Repetition
from rondo.bench.statistics import Verdict


def candidate(
    algorithm: str, times: Sequence[float], *, skew: float = 0.0, late: int = 0, wrong: int = 0, count: int = 1
) -> Configuration:
    states = ["late"] * late + ["valid"] * (len(times) - late)
    made = [
        Repetition(float(seconds), float(seconds), float(seconds), skew, state, int(place < wrong))
        for place, (seconds, state) in enumerate(zip(times, states, strict=True))
    ]
    return Configuration("exscan", algorithm, "", "barrier", count, 8 * count, "long", "bxor", 0.0, made)


def spread(middle: float, number: int = 20) -> list[float]:
    """Times within 1% of the middle one, none twice."""
    return [middle * (0.99 + 0.02 * (place + 0.5) / number) for place in range(number)]


def labels(standings: Sequence[statistics.Standing]) -> list[str]:
    return [each.configuration.label for each in standings]


def winner(*group: Configuration, clock_error: float = 0.0) -> str | None:
    found = statistics.compare(group, clock_error).winner
    return found.configuration.label if found else None


def test_a_summary_says_what_the_times_say():
    found = statistics.summary([3.0, 1.0, 2.0, 10.0, 4.0, 6.0, 5.0])
    assert (found.count, found.minimum, found.median, found.p50, found.maximum) == (7, 1.0, 4.0, 4.0, 10.0)
    assert found.mean == pytest.approx(31 / 7)
    assert found.p99 == pytest.approx(10 - 0.06 * 4)
    assert 1.0 <= found.low < 4.0 < found.high <= 10.0


def test_the_same_times_in_any_order_give_the_same_summary():
    assert statistics.summary([1.0, 2.0, 3.0, 4.0]) == statistics.summary([3.0, 1.0, 4.0, 2.0])


def test_no_time_and_a_single_one_have_no_interval():
    nothing = statistics.summary([])
    assert nothing.count == 0
    assert math.isnan(nothing.median)
    single = statistics.summary([2.0])
    assert (single.count, single.minimum, single.median, single.p99, single.maximum) == (1, 2.0, 2.0, 2.0, 2.0)
    assert math.isnan(single.low)
    assert math.isnan(single.high)


def test_two_times_have_their_range_as_interval():
    found = statistics.summary([1.0, 3.0])
    assert (found.median, found.low, found.high) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize("number", [5, 6, 21, 40])
def test_medians_of_resamples_are_distributed_as_if_every_element_had_been_drawn(number):
    generator = numpy.random.default_rng(3)
    values = numpy.sort(generator.lognormal(size=number))
    drawn = numpy.median(generator.choice(values, (20000, number)), axis=1)
    quick = statistics._bootstrap_medians(values, generator)
    for share in (2.5, 25, 50, 75, 97.5):
        inside = numpy.mean(quick <= numpy.percentile(drawn, share))
        assert inside == pytest.approx(numpy.mean(drawn <= numpy.percentile(drawn, share)), abs=0.02)


def test_intervals_of_the_median_hold_what_they_promise():
    generator = numpy.random.default_rng(4)
    summaries = [statistics.summary(generator.lognormal(size=25)) for _ in range(400)]
    held = sum(each.low <= 1.0 <= each.high for each in summaries) / len(summaries)
    assert 0.92 <= held <= 0.98


def test_a_ratio_has_an_interval_around_it():
    found = statistics.ratio(spread(2.0), spread(4.0))
    assert found.value == pytest.approx(0.5)
    assert 0.49 < found.low < 0.5 < found.high < 0.51
    assert math.isnan(statistics.ratio([], [1.0]).value)
    assert math.isnan(statistics.ratio([1.0], [1.0, 2.0]).low)


def test_holm_by_hand():
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert statistics.holm([]) == []


def test_the_clearly_fastest_wins():
    found = statistics.compare(
        [candidate("native", spread(3.0)), candidate("a", spread(2.0)), candidate("b", spread(1.0))]
    )
    assert labels(found.standings) == ["b", "a", "native"]
    assert labels(found.best) == ["b"]
    assert found.winner is found.fastest
    assert found.standings[0].p_value == 1.0
    assert max(each.p_value for each in found.standings[1:]) < 1e-6
    assert found.standings[0].ratio is not None
    assert found.standings[0].ratio.value == pytest.approx(1 / 3)


def test_what_cannot_be_told_apart_has_no_winner():
    generator = numpy.random.default_rng(5)
    first, second = (candidate(name, generator.lognormal(sigma=0.5, size=20)) for name in "ab")
    found = statistics.compare([first, second, candidate("native", spread(9.0))])
    assert set(labels(found.best)) == {"a", "b"}
    assert found.winner is None


def test_native_wins_among_those_that_cannot_be_told_apart():
    assert (
        winner(candidate("a", spread(1.0)), candidate("native", spread(1.001)), candidate("b", spread(1.002)))
        == "native"
    )


@pytest.mark.parametrize(("factor", "expected"), [(1.04, "native"), (1.06, "a")])
def test_a_difference_of_less_than_5_percent_is_none_however_certain(factor, expected):
    found = statistics.compare([candidate("native", spread(factor)), candidate("a", spread(1.0))])
    assert found.standings[1].p_value < 1e-6
    assert found.winner is not None
    assert found.winner.configuration.label == expected


@pytest.mark.parametrize(
    ("skew", "clock_error", "expected"), [(0.1, 0.0, "a"), (0.3, 0.0, "native"), (0.0, 0.3, "native")]
)
def test_a_difference_below_the_skew_or_the_error_of_clocks_is_none(skew, clock_error, expected):
    group = [candidate("native", spread(1.2), skew=skew), candidate("a", spread(1.0))]
    assert winner(*group, clock_error=clock_error) == expected


@pytest.mark.parametrize("number", [1, 2, 3])
def test_three_repetitions_are_too_few_to_name_anybody(number):
    found = statistics.compare([candidate("native", spread(2.0, number)), candidate("a", spread(0.75, number))])
    assert (found.verdict, found.winner, found.needed) == (Verdict.UNDECIDED, None, 4)
    assert verdicts.text(found) == f"undecided: n = {number} each, and it takes 4 of each"


@pytest.mark.parametrize(("times", "expected"), [([1.0] * 4, "a"), ([1.96] * 4, "native")])
def test_four_repetitions_of_two_can_decide(times, expected):
    found = statistics.compare_times({"native": [1.99, 2.0, 2.01, 2.02], "a": times})
    assert (found.verdict, verdicts.text(found)) == (Verdict.WON, expected)


def test_equal_times_prove_no_more_than_others():
    """What SciPy says of ties is an approximation: p = 0.047 of three against three; no order has less than 0.1."""
    found = statistics.compare_times({"native": [2.0] * 3, "a": [1.0] * 3})
    assert found.standings[1].p_value == pytest.approx(0.1)
    assert found.verdict is Verdict.UNDECIDED


def test_nobody_wins_while_too_little_is_known_of_one():
    fast, native, unknown = spread(1.0), spread(2.0), spread(1.5, 1)
    found = statistics.compare_times({"native": native, "a": fast, "b": unknown})
    assert found.verdict is Verdict.UNDECIDED
    assert verdicts.text(found) == "undecided: n = 1 (b), 20 (a, native), and it takes 5 of each"
    never = candidate("b", [1.5, 1.5], late=2)
    assert winner(candidate("a", fast), candidate("native", native), never) is None


def test_a_wrong_one_does_not_keep_the_others_from_winning():
    wrong = candidate("b", [0.5], wrong=1)
    assert winner(candidate("a", spread(1.0)), candidate("native", spread(2.0)), wrong) == "a"


def test_a_single_candidate_wins_over_nobody():
    found = statistics.compare([candidate("native", spread(1.0))])
    assert (found.verdict, found.winner, verdicts.text(found)) == (Verdict.ALONE, None, "native (there is no other)")


@pytest.mark.parametrize(("candidates", "number"), [(1, 4), (2, 4), (3, 5), (7, 5), (8, 6), (20, 6), (30, 7)])
def test_how_many_repetitions_it_takes(candidates, number):
    assert statistics.least_repetitions(candidates) == number
    for each, expected in ((number, True), (number - 1, False)):
        times = {f"c{place}": spread(1.0 + place, each) for place in range(max(candidates, 2))}
        assert (statistics.compare_times(times).verdict is Verdict.WON) is expected


def test_the_more_candidates_the_more_it_takes():
    # 4 against 4, all apart: p = 2 / C(8, 4) = 0.029, which is below 0.05 alone, and not with a second candidate.
    native, fast = candidate("native", spread(2.0, 4)), candidate("a", spread(1.0, 4))
    assert winner(native, fast) == "a"
    assert winner(native, fast, candidate("b", spread(3.0, 4))) is None


def test_wrong_results_cannot_win():
    found = statistics.compare([candidate("a", spread(1.0), wrong=1), candidate("native", spread(2.0))])
    assert labels(found.best) == ["native"]
    assert labels(found.standings) == ["native", "a"]
    assert math.isnan(found.standings[1].p_value)


def test_only_valid_repetitions_count_and_without_any_there_is_no_winner():
    late = candidate("a", [0.1, 0.1, *spread(3.0)], late=2)
    assert winner(late, candidate("native", spread(2.0))) == "native"
    found = statistics.compare([candidate("a", spread(1.0), late=20)])
    assert (found.fastest, found.winner, found.best) == (None, None, ())


def test_groups_are_alike_in_all_but_the_algorithm():
    first = [candidate(name, [1.0], count=count) for count in (1, 2) for name in ("native", "a")]
    second = candidate("native", [1.0], count=2)
    second.start = "clock"
    assert statistics.groups([*first, second]) == [first[:2], first[2:], [second]]
