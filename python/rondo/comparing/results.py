# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison has measured, every run of it, and what that says. A file holds one."""

from __future__ import annotations

import statistics as plain_statistics
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from rondo import whole_file
from rondo.bench import statistics
from rondo.bench.results import NATIVE
from rondo.bench.statistics import Change
from rondo.errors import Error
from rondo.launching.run_report import Report, warnings
from rondo.reports import style

FORMAT = 1
SMALLEST_DIFFERENCE = 0.02
"""Relative; less is not called a difference, however certain it is. Whole programs gain less than single calls."""
OUTLYING = 10.0
"""Of a time: so many times as far from the median as half of the times are, scaled to standard deviations."""
NOTICEABLE = 0.1
"""Relative: what is nearer to the median is no outlier, however alike the others are."""
SAID = "rondo: "
"""How lines begin that Rondo writes."""
WALL, COLLECTIVES = "wall time", "in collectives"


class Counted(msgspec.Struct):
    """A run of which the ranks left reports. Seconds are means over all ranks."""

    seconds: float
    """In collectives that Rondo knows, waiting for other ranks included."""
    of_each: dict[str, float]
    """The same, by collective."""
    calls: dict[str, dict[str, int]]
    """By collective and by what carried them out; of the rank with the most."""
    left: dict[str, dict[str, int]] = {}
    """Of these, the library's: by collective and by the reason. None in files of old."""


class Runs(msgspec.Struct):
    """What a rival's runs have given, in their order. Warm-ups are not among them."""

    name: str
    command: str
    is_under_rondo: bool
    seconds: list[float] = []
    """From the start of the launcher to its end."""
    exit_codes: list[int] = []
    """Of the same runs."""
    counted: list[Counted] = []
    """Other runs than those above, for counting takes time."""
    cautions: list[str] = []
    """What is missing from the reports, each once."""
    said: dict[str, int] = {}
    """Lines that Rondo has written in runs, warm-ups as well, and in how many."""

    def of(self, figure: str) -> list[float]:
        """Times by the name of a figure."""
        return self.seconds if figure == WALL else [each.seconds for each in self.counted]

    def take_report(self, report: Report) -> None:
        """Takes in what ranks have left."""
        self.cautions += [each for each in warnings(report) if each not in self.cautions]
        if not report.ranks:
            return
        of_each: dict[str, float] = {}
        for rank in report.ranks:
            for entry in rank.entries:
                seconds = sum(each.seconds for each in entry.classes)
                of_each[entry.collective] = of_each.get(entry.collective, 0.0) + seconds / len(report.ranks)
        calls: dict[str, dict[str, int]] = {}
        left: dict[str, dict[str, int]] = {}
        for each in report.entries:
            by_algorithm = calls.setdefault(each.collective, {})
            by_algorithm[each.algorithm] = by_algorithm.get(each.algorithm, 0) + each.calls
            if each.algorithm == NATIVE:
                by_reason = left.setdefault(each.collective, {})
                by_reason[each.reason] = by_reason.get(each.reason, 0) + each.calls
        self.counted.append(Counted(sum(of_each.values()), of_each, calls, left))

    def take_errors(self, lines: Iterable[str]) -> None:
        """Takes in what a run has written on standard error."""
        for line in {each[len(SAID) :].rstrip() for each in lines if each.startswith(SAID)}:
            self.said[line] = self.said.get(line, 0) + 1

    def outliers(self) -> list[float]:
        """Wall times that are far from the others, by the median of absolute deviations."""
        if len(self.seconds) < 3:
            return []
        middle = plain_statistics.median(self.seconds)
        spread = plain_statistics.median(abs(each - middle) for each in self.seconds) / 0.6745
        far = max(OUTLYING * spread, NOTICEABLE * middle)
        return [each for each in self.seconds if abs(each - middle) > far]


class Verdict(msgspec.Struct):
    """What the runs say of a rival, beside the first one."""

    figure: str
    """WALL or COLLECTIVES."""
    rival: str
    reference: str
    change: Change
    ratio: float
    """Of its median to that of the reference."""
    low: float
    """End of the 95% interval of the ratio."""
    high: float
    """The interval's other end."""
    p_value: float


class Difference(msgspec.Struct):
    """Between what two rivals have written."""

    file: str
    """As it was named; "-": standard output."""
    reference: str
    rival: str
    line: int
    byte: int
    kept: tuple[str, str]


class Results(msgspec.Struct):
    """A comparison."""

    date: str
    """ISO 8601, UTC."""
    command: str
    """That repeats it."""
    rondo: str
    """Version."""
    library: str
    """Of MPI, with its version; empty if no rank said."""
    ranks: int
    """0 if no rank said."""
    cluster: str
    """The emulated one, as its shape; empty: none."""
    asked: int
    """Runs of each rival."""
    rivals: list[Runs]
    """The others are compared with the first."""
    same: list[str] = []
    """What was compared, as it was named."""
    compared: int = 0
    """Runs whose output was compared."""
    differences: list[Difference] = []
    verdicts: list[Verdict] = []
    complete: bool = True
    """False if it was interrupted: what is there is valid, but there is less of it than was asked for."""
    format: int = FORMAT


def judged(rivals: Sequence[Runs]) -> Iterator[Verdict]:
    """What the runs say, figure by figure, of those for which the reference has times."""
    reference, *others = rivals
    for figure in (WALL, COLLECTIVES):
        times = {each.name: each.of(figure) for each in others}
        # Of a program that calls none, there is nothing to say.
        times = {name: each for name, each in times.items() if not each or any(each)}
        if not reference.of(figure) or not any(reference.of(figure)):
            continue
        for name, found in statistics.differences(reference.of(figure), times, SMALLEST_DIFFERENCE).items():
            ratio = found.ratio
            yield Verdict(figure, name, reference.name, found.change, ratio.value, ratio.low, ratio.high, found.p_value)


def text(verdict: Verdict, rivals: int) -> str:
    """A verdict in words; `rivals` is how many there are in all."""
    match verdict.change:
        case Change.FASTER:
            return f"{style.digits(1 / verdict.ratio)} times as fast"
        case Change.SLOWER:
            return f"takes {style.digits(verdict.ratio)} times as long"
        case Change.NONE:
            return "no difference shown"
        case Change.UNDECIDED:
            return f"undecided: it takes {statistics.least_repetitions(rivals)} runs of each"


def read(path: Path) -> Results:
    """The comparison in a file; Error if it is none."""
    try:
        members = msgspec.json.decode(path.read_bytes())
        if isinstance(members, dict) and members.get("format", FORMAT) != FORMAT:
            raise Error(
                f"{path} has format {members['format']} of comparisons; this version of Rondo reads format {FORMAT}"
            )
        for each in members["verdicts"]:  # JSON knows no NaN
            for name in ("ratio", "low", "high", "p_value"):
                each[name] = float("nan") if each[name] is None else each[name]
        return msgspec.convert(members, Results)
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    except (msgspec.MsgspecError, KeyError, TypeError) as error:
        raise Error(f"{path} holds no comparison of rondo compare: {error}") from None


def write(results: Results, path: Path) -> None:
    """Writes a JSON object, for people and programs."""
    whole_file.write(path, msgspec.json.format(msgspec.json.encode(results), indent=2) + b"\n")
