# SPDX-License-Identifier: BSD-3-Clause
"""Predicts what the calls of a profile would take with Rondo, line by line.

Two questions have two answers. The rules that `rondo run` has for this machine and library choose an algorithm for
each line: that is what `rondo run` gains as it is. The best of all algorithms is what `rondo tune` could find.

Where the guard has compared the rules' choice with the library in an earlier run, or else `rondo tune` has measured
such calls, the ratio to the library's own time counts. Elsewhere it is virtual time, with the errors that
docs/benchmarks/tables/predictions.md found. Nobody predicts what native takes: it is what the profile
has measured, from the moment when the last rank had come (`moving`).
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from pathlib import Path

from rondo import _core
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.launching import installation
from rondo.machine import machine
from rondo.profiling import bounds, calls, crowding
from rondo.profiling.profile import Communicator, Line, Profile
from rondo.profiling.savings import LEARNED, PREDICTED, TUNED, Circumstances, Estimate, Outlook, Prediction, Range
from rondo.selection import explanation, learned, rules_file
from rondo.selection.call import Call
from rondo.selection.candidates import Candidate
from rondo.selection.explanation import Explanation
from rondo.selection.learned import Verdict
from rondo.tune import rules_text, tuned_files

FEWEST_SAMPLES = 3
"""Of a line: the first call of a kind makes connections, under Rondo as well."""
MOST_LINES = 60
"""That are predicted: those that move the longest."""
MOST_MESSAGES = 1 << 16
"""Of an algorithm that is timed for a line. There are many to time, and somebody is waiting."""
SECONDS = 30.0
"""After so many, no further line is predicted. Thousands of ranks take that long, hundreds do not."""
ERRORS = ((4 << 10, 0.68, 1.42), (64 << 10, 0.79, 1.30), (1 << 20, 0.62, 1.22), (math.inf, 0.55, 1.10))
"""Of virtual time: up to so many bytes, predicted over measured, 5% and 95% (docs/benchmarks/tables/predictions.md)."""
ERROR_OF_TUNED = 0.1
"""Of a ratio that `rondo tune` measured, relative: other days, and calls that do not follow each other at once."""
ERROR_OF_LEARNED = 0.2
"""Of a ratio that the guard found: it compares the fastest of a few calls, in another program or another run."""
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
    figures_text = figures or machine.standard().text()
    return Circumstances(
        rules=path,
        text=text,
        machine=figures_text,
        is_standard=not figures,
        is_tuned=tuned_files.head_of(text) is not None,
        verdicts=_verdicts_for(profile, environment, figures_text),
    )


def _verdicts_for(profile: Profile, environment: Mapping[str, str], machine_text: str) -> tuple[Verdict, ...]:
    """What the guard knows of the machine and the library of a profile."""
    known_in = learned.directory(environment.get(learned.VARIABLE), environment)
    host = profile.hosts[0] if profile.hosts else ""
    return learned.about(known_in, _core.plain_version(profile.library), machine_text, host)


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
    known = _known(call, communicator.nodes, where)
    if known is not None and communicator.nodes == 1:
        estimate = _learned(known, native)
        return Prediction(
            line, native, estimate, estimate, known.reason, judged=estimate is not None, rules_judged=True
        )
    if len(profile.hosts) == 1 and found.runs != _runs_if_ranks_share_memory(call, where):
        return _not_judged(line, BY_SHARED_MEMORY, native)
    tuned = _tuned(found, call, where) if known is None else None  # the guard has the last word, in runs too
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
    if known is not None:
        found = dataclasses.replace(found, runs=known.runs, reason=known.reason)
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
    if known is not None:
        by_rules = _learned(known, native)
    elif not stays:
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


def _known(call: Call, nodes: int, where: Circumstances) -> Explanation | None:
    """What becomes of such calls by what earlier runs have found out of them; None: nothing.

    Rules on a single node choose by whether ranks share memory, and processors, which no profile says. Verdicts do: one
    of them is about the choice of the rules there.
    """
    kind = (call.collective, call.processes)
    if all((each.collective, each.processes) != kind for each in where.verdicts):
        return None
    ways = ((False, False), (True, False), (False, True), (True, True)) if nodes == 1 else ((False, False),)
    for shared, oversubscribed in ways:
        there = dataclasses.replace(call, shared_memory=shared, oversubscribed=oversubscribed)
        found = explanation.by_texts(
            there, where.text, where.rules, where.machine, {}, verdicts=where.verdicts, most_messages=0
        )
        if found.trial is not None:
            return found
    return None


def _learned(found: Explanation, native: float) -> Estimate | None:
    """By a verdict; None: the library has such calls."""
    if found.runs == NATIVE or found.trial is None or found.trial.ratio is None:
        return None
    ratio = Range(1.0, 1 - ERROR_OF_LEARNED, 1 + ERROR_OF_LEARNED) * found.trial.ratio
    return Estimate(found.runs, ratio * native, LEARNED)


def _estimate(candidate: Candidate, found: Explanation, least: float, where: Circumstances) -> Estimate:
    """Of a candidate that has a time."""
    assert candidate.seconds is not None
    below, above = next((low, high) for most, low, high in ERRORS if found.bytes <= most)
    value, low = max(candidate.seconds, least), max(candidate.seconds / above, least)
    # Of a machine that nobody has measured, not even the order of magnitude is certain.
    high = math.inf if where.is_standard else max(candidate.seconds / below, least)
    return Estimate(candidate.choice, Range(value, low, high), PREDICTED)
