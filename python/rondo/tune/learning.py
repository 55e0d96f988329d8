# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run --learn`: more choices than that of the rules, one after the other, each in a run of its own.

A run tries one choice for each kind of calls, by rules beside those of the user, and the guard compares it with the
library. What all choices took, relative to the library, is kept with the guard's verdicts. When a kind has no choice
left to try, the best one stays. Which calls the rules leave to the library, the guard does not say: the ranks' reports
do, and that is kept beside the verdicts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from rondo import _core
from rondo.bench import plans
from rondo.bench.maps import call_count
from rondo.bench.results import NATIVE
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.launching import run_report
from rondo.launching.instructed import Instructed
from rondo.launching.rank_report import BY_RULES, RankEntry
from rondo.launching.run_report import Report
from rondo.machine import machine
from rondo.reports.style import counted
from rondo.selection import learned, learned_rules, rules_file
from rondo.selection.learned import Verdict
from rondo.tune import cells, seen_calls
from rondo.tune.cells import Shape
from rondo.tune.seen_calls import Calls, Seen

MOST_TRIED = 4
"""Choices for a kind of calls, the one of the rules among them: the first by prediction."""


@dataclass(frozen=True)
class Course:
    """What is known of one kind of calls, and what is next."""

    condition: str
    """Which calls, as rules say it."""
    best: str
    """Of what was tried, the library included."""
    untried: list[str]
    """The best first, by prediction."""

    @property
    def rule(self) -> str:
        """For the next run."""
        return f"{self.condition} -> {self.untried[0] if self.untried else self.best}"


class Lesson:
    """A run that tries something."""

    def __init__(self, known: Callable[[], tuple[Path, cells.Circumstances]]) -> None:
        """`known`: where the guard's verdicts are, and by what predictions are made, with the rules of the user.

        It is asked again after the run, which may have measured the machine.
        """
        self._known = known
        self.rules = ""
        """For people."""
        self._origins: list[str | int] = []
        """Of each line of the rules: why it was added, or its number in the user's own file."""

    @property
    def _verdicts(self) -> Path:
        return self._known()[0]

    @property
    def _where(self) -> cells.Circumstances:
        return self._known()[1]

    def courses(self, report: Report | None = None) -> list[Course]:
        """Of all kinds of calls that there are verdicts about; with the report of a run, of those that it had."""
        verdicts = learned.read(self._verdicts).verdicts if self._verdicts.exists() else ()
        kinds = learned_rules.kinds([each for each in verdicts if each.collective in plans.COLLECTIVES])
        return [
            _course(condition, known, self._where) for condition, known in kinds.items()
            if report is None or any(_occurs(each, report) for each in known)
        ]  # fmt: skip

    def text_of_rules(self) -> str:
        """For the run: the rules of the user, with what is tried or is the best.

        What was compared stands above them. What nobody has tried yet stands where they leave it to the library, so
        that what they choose for other calls of these lengths stays.
        """
        seen = seen_calls.read(self._verdicts)
        first_tries = list(_first_tries(seen.calls, Shape(tuple(seen.ranks_on), seen.shared_memory), self._where))
        own = rules_file.read(self._where.rules) if self._where.rules is not None else ""
        lines = [("tried" if each.untried else "best", each.rule) for each in self.courses()]
        for number, line in enumerate(own.removesuffix("\n").split("\n") if own else [], 1):
            lines += [("tried", each) for each in _left_by(line, first_tries)]
            lines.append((number, line))
        lines += [("tried", each.rule("")) for each in first_tries]
        self._origins = [origin for origin, _ in lines]
        name = rules_file.shown(self._where.rules) if self._where.rules is not None else rules_file.NO_RULES
        added = sum(isinstance(each, str) for each in self._origins)
        self.rules = f"{name}, and {counted(added, 'line')} of what is tried" if added else name
        return "".join(f"{line}\n" for _, line in lines)

    def end(self, report: Report) -> str:
        """Remembers which calls the rules left to the library; how far it is, for people. Error if that is lost."""

        def with_these(seen: Seen) -> Seen:
            calls = seen_calls.merged([*seen.calls, *_left_by_rules(report)])
            return Seen(_ranks_on(report) or seen.ranks_on, calls, report.shared_memory is not None)

        seen_calls.change(self._verdicts, with_these)
        return self.progress(report)

    def credited(self, report: Report) -> Report:
        """The report of the run, with what was chosen by learning, and with lines of the user's own rules."""
        ranks = [
            msgspec.structs.replace(rank, entries=[self._credited(each) for each in rank.entries])
            for rank in report.ranks
        ]
        return run_report.merged(ranks, report.unreadable)

    def _credited(self, entry: RankEntry) -> RankEntry:
        if entry.line == 0:
            return entry
        origin = self._origins[entry.line - 1]
        if isinstance(origin, str):
            return msgspec.structs.replace(entry, learned=origin)
        return msgspec.structs.replace(entry, line=origin)

    def progress(self, report: Report | None = None) -> str:
        """How far it is, for people; with the report of a run, for its program: others have calls of their own."""
        courses = self.courses(report)
        open_ones = [each for each in courses if each.untried]
        settled = f"{counted(len(courses) - len(open_ones), 'kind')} of calls settled"
        if not open_ones:
            return f"{settled}; nothing is left to try" if courses else "no kind of calls was compared yet"
        runs = max(len(each.untried) for each in open_ones)
        return f"{settled}, {len(open_ones)} with choices left to try, in {counted(runs, 'run')} like this one"


def _occurs(verdict: Verdict, report: Report) -> bool:
    """The guard compared such calls in a run, or learning chose for them."""
    compared = any(
        trial.collective == verdict.collective
        and trial.processes == verdict.processes
        and verdict.lowest <= trial.bytes <= verdict.highest
        for trial in report.trials
    )
    return compared or any(
        entry.learned and entry.collective == verdict.collective and each.smallest <= verdict.highest
        and verdict.lowest <= each.largest
        for entry in report.entries for each in entry.classes
    )  # fmt: skip


def _course(condition: str, known: Sequence[Verdict], where: cells.Circumstances) -> Course:
    first, tried = known[0], learned_rules.ratios(known)
    candidates = _candidates(first.collective, first.bytes, _shape_of(first), where)
    room = max(0, MOST_TRIED - len(tried))
    return Course(condition, learned_rules.best(known), [each for each in candidates if each not in tried][:room])


def _shape_of(verdict: Verdict) -> Shape:
    """Of its ranks; where they are is not known of all."""
    if verdict.nodes == 0:
        return Shape((1,) * verdict.processes, verdict.shared_memory)
    full, rest = divmod(verdict.processes, verdict.most_on_node)
    ranks_on = (verdict.most_on_node,) * full + ((rest,) if rest else ())
    return Shape(ranks_on, verdict.shared_memory, verdict.domains)


def _candidates(collective: str, length: int, shape: Shape, where: cells.Circumstances) -> list[str]:
    """For calls of so many bytes: what the rules choose, then the best by prediction; none if they cannot be timed."""
    elements = max(1, -(-length // plans.TYPES[cells.TYPE]))
    count = 0 if collective in plans.WITHOUT_DATA else call_count(collective, elements, shape.processes)
    cell = cells.of_count(shape, collective, count, where)
    served = [] if cell.default == NATIVE else [cell.default]
    found = [_core.check_choice(collective, each) for each in (*served, *cell.seconds)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class FirstTry:
    """Of calls that the guard knows nothing of yet."""

    collective: str
    lengths: str
    """A condition."""
    choice: str

    def rule(self, conditions: str) -> str:
        """For those of them that meet other conditions, too."""
        return f"{self.collective} {f'{conditions}, ' if conditions else ''}{self.lengths} -> {self.choice}"


def _left_by(line: str, tries: Sequence[FirstTry]) -> Iterator[str]:
    """Rules for those of the calls that a line of rules leaves to the library."""
    rule, _, choice = line.partition("#")[0].partition("->")
    if choice.strip() == NATIVE:
        collective, *conditions = rule.strip().split(None, 1)
        for each in tries:
            found = each.rule("".join(conditions))
            if each.collective == collective and not _core.inspect_rules(found)["wrong"]:  # some call can meet them all
                yield found


def _first_tries(calls: Iterable[Calls], shape: Shape, where: cells.Circumstances) -> Iterator[FirstTry]:
    if shape.processes < 2:
        return
    for each in calls:
        middle = math.isqrt(max(1, each.lowest) * max(1, each.highest))
        candidates = _candidates(each.collective, middle, shape, where)
        if candidates:
            yield FirstTry(each.collective, f"bytes in {each.lowest}..{each.highest}", candidates[0])


def _left_by_rules(report: Report) -> Iterator[Calls]:
    for entry in report.entries:
        if entry.algorithm == NATIVE and entry.reason in BY_RULES and entry.collective in plans.COLLECTIVES:
            for each in entry.classes:
                yield Calls(entry.collective, each.smallest, each.largest)


def _ranks_on(report: Report) -> list[int]:
    hosts = [each.host for each in report.ranks]
    return [len(list(group)) for _, group in itertools.groupby(hosts)] if len(hosts) == report.size else []


def begin(told: Instructed, library: str, running: cluster.Cluster | None, directory: Path) -> Lesson:
    """Writes rules for a run into a directory that all ranks see, and tells the run of them.

    `running`: the emulated cluster, None for this machine. Error for rules that cannot be read.
    """
    named, own = told.variables.get(machine.VARIABLE), told.variables.get(rules_file.VARIABLE)
    known_in, host = Path(told.variables[learned.VARIABLE]), cluster.FIRST_NODE if running is not None else ""

    def known() -> tuple[Path, cells.Circumstances]:
        if named is not None:
            figures = Path(named) if named != machine.STANDARD else None
        elif running is not None:
            figures = running.directory / "machine"
        else:
            figures = learned.measured_machine(known_in, library, host)
        text = figures.read_text(encoding="utf-8") if figures is not None else machine.standard().text()
        where = cells.Circumstances(library, figures, Path(own) if own is not None else None)
        return known_in / learned.file_name(library, text, host), where

    lesson = Lesson(known)
    path = directory / "tried.rules"
    try:
        path.write_text(lesson.text_of_rules(), encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
    told.variables[rules_file.VARIABLE] = str(path)
    return lesson
