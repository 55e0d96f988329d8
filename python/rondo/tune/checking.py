# SPDX-License-Identifier: BSD-3-Clause
"""Whether the lines of a rules file still hold where they are measured again."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.bench.results import NATIVE
from rondo.selection import rules_file
from rondo.tune import cells, racing, rules_text
from rondo.tune.cells import Cell, Circumstances, Shape
from rondo.tune.racing import Place, State


class Verdict(enum.Enum):
    """On a line."""

    HOLDS = "holds"
    FAILS = "no longer holds"
    UNDECIDED = "undecided"
    UNMEASURED = "not measured"


@dataclass(frozen=True)
class LineOfFile:
    """A rule of a file that decides some of the cells."""

    number: int
    text: str
    choice: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Judged:
    """A line, and what the repetitions say of it."""

    line: LineOfFile
    verdict: Verdict
    reason: str


def lines_that_decide(
    rules: Path, shape: Shape, collectives: Sequence[str], lengths: Sequence[int], where: Circumstances
) -> list[LineOfFile]:
    """Lines that decide calls of these collectives and lengths, each with its cells; not the default rules below them.

    The candidates of a cell are what has to be measured: the choice of the line, or all that can win where the line
    says native.
    """
    last = len(rules_text.tuned_lines(rules_file.read(rules)).removesuffix("\n").split("\n"))
    found: dict[int, LineOfFile] = {}
    for collective in collectives:
        for count in cells.counts_of(collective, lengths, shape.processes):
            explained = cells.explained(shape, collective, count, rules, where)
            decider = explained.decided_by
            if decider is None or not 0 < decider.line <= last:
                continue
            choice = cells.written(collective, cells.choice_of(explained))
            cell = dataclasses.replace(cells.of_count(shape, collective, count, where), others={})
            if choice != NATIVE:
                seconds = {each.choice: each.seconds for each in explained.candidates if each.chosen and each.seconds}
                cell = dataclasses.replace(cell, seconds={choice: next(iter(seconds.values()), cell.native_seconds)})
            before = found.get(decider.line)
            of_line = (*(before.cells if before is not None else ()), cell)
            found[decider.line] = LineOfFile(decider.line, decider.text, choice, of_line)
    return list(found.values())


def judged(line: LineOfFile, states: Sequence[State], wrong: Collection[str] = ()) -> Judged:
    """What the repetitions of a line's cells say. `wrong`: what delivered wrong results, as Kept has it."""
    if f"{line.cells[0].collective} {line.choice}" in wrong:
        return Judged(line, Verdict.FAILS, "WRONG RESULTS")
    certain = [each for each in states if each.certain]
    if not certain:
        return Judged(line, Verdict.UNMEASURED, "there was no time, or it does not serve such calls")
    verdicts = [_verdict(line.choice, each) for each in certain]
    for wanted in (Verdict.FAILS, Verdict.UNDECIDED):
        reasons = [reason for verdict, reason in verdicts if verdict is wanted]
        if reasons:
            return Judged(line, wanted, "; ".join(reasons))
    return Judged(line, Verdict.HOLDS, "; ".join(reason for _, reason in verdicts))


def _verdict(choice: str, state: State) -> tuple[Verdict, str]:
    if choice == NATIVE:
        faster = [each for each in state.figures.values() if each.place is Place.FASTER]
        if faster:
            return Verdict.FAILS, f"{state.cell.text}: {faster[0].choice} {faster[0].text}"
        return Verdict.HOLDS, f"{state.cell.text}: nobody is faster for certain"
    figure = state.figures.get(choice)
    if figure is None:
        return Verdict.FAILS, f"{state.cell.text}: {choice} does not serve it"
    text = f"{state.cell.text}: {figure.text}"
    if figure.ratio.certain and figure.ratio.high < 1:
        return Verdict.HOLDS, text
    if figure.ratio.certain and figure.ratio.low > racing.GAIN:
        return Verdict.FAILS, text
    return Verdict.UNDECIDED, text
