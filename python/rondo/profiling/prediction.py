# SPDX-License-Identifier: BSD-3-Clause
"""What the calls of a profile would take with Rondo: line by line, as an interval, and what to do.

Two questions have two answers. The rules that `rondo run` has for this machine and library choose an algorithm for
each line: that is what `rondo run` gains as it is. The best of all algorithms is what `rondo tune` could find.

Where `rondo tune` has measured such calls, its ratio to the library's own counts. Elsewhere it is virtual time, with
the errors that docs/benchmarks/tables/predictions.md found. Nobody predicts what native takes: it is what the profile
has measured, from the moment when the last rank had come (`moving`).
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rondo import _core
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.launching import installation
from rondo.machine import machine
from rondo.profiling import bounds, calls, crowding, summary
from rondo.profiling.profile import Communicator, Line, Profile
from rondo.selection import explanation, rules_file
from rondo.selection.call import Call
from rondo.selection.candidates import Candidate
from rondo.selection.explanation import Explanation
from rondo.tune import rules_text, tuned_files

VISIBLE = 0.0005
"""Of the run: less is not worth a word."""
FEWEST_SAMPLES = 3
"""Of a line: the first call of a kind makes connections, under Rondo as well."""
CALLS_OF_A_DUEL = 4
"""That the library may carry out in a first run, until the guard has seen who is faster: of a kind, here of a line."""
START_LATENCIES = 60
"""What Rondo's own start takes: ranks agree on what they were told (docs/benchmarks/tables/profiles.md)."""
MOST_LINES = 60
"""That are predicted: those that move the longest."""
MOST_MESSAGES = 1 << 16
"""Of an algorithm that is timed for a line. There are many to time, and somebody is waiting."""
SECONDS = 30.0
"""After so many, no further line is predicted. Thousands of ranks take that long, hundreds do not."""
ERRORS = ((4 << 10, 0.69, 1.42), (64 << 10, 0.81, 1.34), (1 << 20, 0.60, 1.26), (math.inf, 0.55, 1.10))
"""Of virtual time: up to so many bytes, predicted over measured, 5% and 95% (docs/benchmarks/tables/predictions.md)."""
ERROR_OF_TUNED = 0.1
"""Of a ratio that `rondo tune` measured, relative: other days, and calls that do not follow each other at once."""
MISFIT = 0.8
"""Who moves data in less than so many times the least possible time has begun before the last rank came, as the root of
a broadcast may; or the machine's figures are wrong. Nothing follows for algorithms that begin with all ranks."""
NO_ALGORITHM = "Rondo has no algorithm for it"
NOT_BLOCKING = "how long nonblocking calls move data is not known"
ONE_RANK = "a communicator of one rank"
ON_ONE_NODE = "on one node; there, virtual time has not been compared with measurements"
BY_SHARED_MEMORY = "on one node; the rules choose by whether ranks share memory there, which nobody knows"
TOO_SLOW = "other messages were under way, or the machine's figures are wrong: it takes too long"
TOO_FAST = "data were under way before the last rank came, or the machine's figures are wrong: it takes too little"
PREDICTED, TUNED = "predicted", "measured by rondo tune"


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


@dataclass(frozen=True)
class Estimate:
    """What a call would take, in seconds."""

    choice: str
    seconds: Range
    basis: str
    """PREDICTED or TUNED."""


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


def circumstances(
    profile: Profile, environment: Mapping[str, str], rules: str | None = None, machine_file: Path | None = None
) -> Circumstances:
    """What `rondo run` would go by where the profile was made; or other rules or another machine, if they are named.

    Error for files that cannot be read.
    """
    path = rules_file.find(rules) if rules is not None else _rules_for(profile, environment)
    text = rules_file.read(path) if path is not None else ""
    figures = profile.machine
    if machine_file is not None:
        figures = machine.read(machine.of_name(str(machine_file))).text()
    return Circumstances(
        rules=path,
        text=text,
        machine=figures or machine.standard().text(),
        is_standard=not figures,
        is_tuned=tuned_files.head_of(text) is not None,
    )


def _rules_for(profile: Profile, environment: Mapping[str, str]) -> Path:
    """The tuned rules of the machine and the library of a profile if there are any, else the default ones."""
    host = profile.hosts[0] if profile.hosts else ""
    name = tuned_files.machine_here(profile.cluster) if ":" in profile.cluster else _core.name_of_hosts(host)
    head = tuned_files.Head(name, _core.plain_version(profile.library))
    found = tuned_files.chosen(list(tuned_files.files(environment)), head).path
    return found if found is not None else installation.DEFAULT_RULES


def outlook(profile: Profile, where: Circumstances) -> Outlook:
    """What there is to gain."""
    explained: dict[Call, Explanation | str] = {}
    found: dict[int, Prediction] = {}
    deadline = time.monotonic() + SECONDS
    order = sorted(range(len(profile.lines)), key=lambda each: -calls.mean_moving(profile.lines[each]))
    for place, number in enumerate(order):
        line = profile.lines[number]
        reason = ""
        if place >= MOST_LINES:
            reason = "moves little beside other calls"
        elif time.monotonic() > deadline:
            reason = "predictions for so many ranks take too long"
        if reason:
            native = calls.moving_per_call(line, profile.communicators[line.communicator])
            found[number] = _not_judged(line, reason, native)
        else:
            found[number] = predicted(profile, line, where, explained)
    _like_others(profile, found)
    return Outlook(profile, where, tuple(found[number] for number in range(len(profile.lines))))


def _like_others(profile: Profile, found: dict[int, Prediction]) -> None:
    """Lines that alone say too little are judged by calls elsewhere in the program that are like theirs.

    A call saves as much as one of those; what it takes longer than they do, as the first one of a kind to make
    connections, it takes with Rondo as well.
    """
    known: dict[tuple[object, ...], Prediction] = {}
    for each in found.values():
        kind = calls.kind_of(each.line)
        if each.judged and (kind not in known or each.line.calls > known[kind].line.calls):
            known[kind] = each
    for number, each in found.items():
        other = known.get(calls.kind_of(each.line))
        if each.judged or other is None or math.isnan(each.native):
            continue
        if _why_not(each.line, profile.communicators[each.line.communicator], each.native, fewest=1):
            continue
        more = max(each.native - other.native, 0.0)
        rules, best = (
            estimate and dataclasses.replace(estimate, seconds=estimate.seconds + Range(more, more, more))
            for estimate in (other.rules, other.best)
        )
        if best is not None and best.seconds.value >= each.native:
            best = None
        found[number] = dataclasses.replace(
            each, rules=rules, best=best, reason=other.reason, judged=True, rules_judged=other.rules_judged
        )


def predicted(
    profile: Profile, line: Line, where: Circumstances, explained: dict[Call, Explanation | str]
) -> Prediction:
    """Of one line. What is explained once is kept in `explained`."""
    communicator = profile.communicators[line.communicator]
    native = calls.moving_per_call(line, communicator)
    reason = _why_not(line, communicator, native)
    if reason:
        return _not_judged(line, reason, native)
    call, figures = calls.call_of(profile, line), bounds.machine_figures(where.machine)
    if call not in explained:
        try:
            found = explanation.by_texts(call, where.text, where.rules, where.machine, {}, most_messages=MOST_MESSAGES)
            explained[call] = crowding.retimed(found, call, figures, MOST_MESSAGES) if profile.cluster else found
        except Error as error:
            explained[call] = str(error)
    found = explained[call]
    if isinstance(found, str):
        return _not_judged(line, found, native)
    if len(profile.hosts) == 1 and found.runs != _runs_if_ranks_share_memory(call, where):
        return _not_judged(line, BY_SHARED_MEMORY, native)
    tuned = _tuned(found, call, where)
    if tuned is not None:
        estimate = None
        if tuned.choice or found.choice != NATIVE:
            choice = tuned.choice or found.runs
            ratio = Range(tuned.ratio, tuned.ratio * (1 - ERROR_OF_TUNED), tuned.ratio * (1 + ERROR_OF_TUNED))
            estimate = Estimate(choice, ratio * native, TUNED)
        by_rules = estimate if found.runs != NATIVE else None
        best = estimate if estimate is not None and estimate.seconds.value < native else None
        reason = "" if by_rules else found.reason
        return Prediction(line, native, by_rules, best, reason, judged=True, rules_judged=True)
    stays = found.runs == NATIVE
    if communicator.nodes == 1:
        return _not_judged(line, ON_ONE_NODE, native, rules_judged=stays)
    least = bounds.least_seconds(call, figures)
    if native < MISFIT * least:
        return _not_judged(line, TOO_FAST, native, rules_judged=stays)
    if not where.is_standard and native > bounds.most_seconds(call, figures):
        return _not_judged(line, TOO_SLOW, native, rules_judged=stays)
    estimates = [_estimate(each, found, least, where) for each in found.candidates if each.seconds is not None]
    fastest = min(estimates, key=lambda each: each.seconds.value, default=None)
    by_rules, reason = None, found.reason
    if not stays:
        chosen = next((each for each in found.candidates if each.chosen), None)
        if chosen is None or chosen.seconds is None:
            reason = f"no time for {found.runs}: {chosen.untimed if chosen is not None else 'it is not known'}"
        else:
            by_rules, reason = _estimate(chosen, found, least, where), ""
    best = fastest if fastest is not None and fastest.seconds.value < native else None
    rules_judged = stays or by_rules is not None
    return Prediction(line, native, by_rules, best, reason, judged=bool(estimates), rules_judged=rules_judged)


def _why_not(line: Line, communicator: Communicator, native: float, fewest: int = FEWEST_SAMPLES) -> str:
    """What stands against a prediction; empty if nothing does."""
    sampled = max((each.sampled for each in line.shares), default=0)
    if not line.collective:
        return NO_ALGORITHM
    if not calls.is_blocking(line):
        return NOT_BLOCKING
    if communicator.size == 0:  # the place of all kinds for which there was none
        return "nothing is known of its communicator"
    if communicator.size == 1:
        return ONE_RANK
    if sampled == 0 or math.isnan(native):
        return "no call was compared with the other ranks'"
    if sampled < fewest:
        return f"only {sampled} of its calls {'was' if sampled == 1 else 'were'} compared with the other ranks'"
    return ""


def _runs_if_ranks_share_memory(call: Call, where: Circumstances) -> str:
    """What the rules choose then. Ranks of a single node share memory if each has a processor, which nobody knows."""
    shared = dataclasses.replace(call, shared_memory=True)
    return explanation.by_texts(shared, where.text, where.rules, where.machine, {}, most_messages=0).runs


def _not_judged(line: Line, reason: str, native: float, *, rules_judged: bool = False) -> Prediction:
    """Without an estimate. Some calls stay as they are, whoever chooses, or are no part of what is predicted."""
    stay = reason in (NO_ALGORITHM, NOT_BLOCKING, ONE_RANK)
    return Prediction(line, native, None, None, reason, judged=stay, rules_judged=stay or rules_judged)


def _tuned(found: Explanation, call: Call, where: Circumstances) -> rules_text.Measured | None:
    """What `rondo tune` measured of calls like this one, beside the rule that decides; None if nothing."""
    if not where.is_tuned or found.decided_by is None:
        return None
    return rules_text.nearest_measured(where.text, found.decided_by.line, call.processes, found.bytes)


def _estimate(candidate: Candidate, found: Explanation, least: float, where: Circumstances) -> Estimate:
    """Of a candidate that has a time."""
    assert candidate.seconds is not None
    below, above = next((low, high) for most, low, high in ERRORS if found.bytes <= most)
    value, low = max(candidate.seconds, least), max(candidate.seconds / above, least)
    # Of a machine that nobody has measured, not even the order of magnitude is certain.
    high = math.inf if where.is_standard else max(candidate.seconds / below, least)
    return Estimate(candidate.choice, Range(value, low, high), PREDICTED)
