# SPDX-License-Identifier: BSD-3-Clause
"""The rules that follow from what was measured, as few lines as possible, each with its figures.

A line covers a rectangle of cells: neighbouring lengths, on one number of processes or on all from one measured number
to another. In every cell of it the choice is one of those that are accepted there. So a rule speaks of what lies
between two measurements that agree, and of nothing beyond them.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rondo import _core
from rondo.bench import plans
from rondo.bench.results import NATIVE
from rondo.selection import inspection
from rondo.tune.cells import has_operation
from rondo.tune.racing import State
from rondo.tune.tuned_files import FIRST_LINE, Head

WIDTH = 120
ALONE = "ranks_per_node = 1"
"""Then nobody shares memory."""
DEFAULTS_HEADING = "# What was not measured, or could not be decided: the rules that come with Rondo"
DECIDED_ABOVE = "# decided above: "


@dataclass(frozen=True)
class Line:
    """A rule, and the cells that it is for."""

    collective: str
    conditions: tuple[str, ...]
    choice: str
    states: tuple[State, ...]

    @property
    def text(self) -> str:
        """The rule as it stands in the file."""
        return f"{self.collective:<14}  {', '.join(self.conditions)}  -> {self.choice}"

    @property
    def remarks(self) -> list[str]:
        """Its figures, by number of processes."""
        lines = []
        for processes in dict.fromkeys(each.cell.shape.processes for each in self.states):
            figures = [_figures(each, self.choice) for each in self.states if each.cell.shape.processes == processes]
            words = f"{processes} ranks: {', '.join(each for each in figures if each)}"
            lines += textwrap.wrap(words, WIDTH, initial_indent="# ", subsequent_indent="#   ")
        return lines


def lines_of(states: Sequence[State]) -> list[Line]:
    """The rules that follow."""
    found = []
    for collective in dict.fromkeys(each.cell.collective for each in states):
        of_collective = [each for each in states if each.cell.collective == collective]
        kinds = [(each.cell.shape.placement, each.cell.shape.shared_memory) for each in of_collective]
        # The conditions of one node hold on its domains, too: rules for these come first.
        for placement, shared_memory in sorted(dict.fromkeys(kinds), key=lambda kind: "domains" not in kind[0]):
            some = [each for each, kind in zip(of_collective, kinds, strict=True) if kind == (placement, shared_memory)]
            memory = (f"shared_memory = {'yes' if shared_memory else 'no'}",) if placement != ALONE else ()
            found += [
                Line(collective, (conditions[0], placement, *memory, *conditions[1:]), choice, of_line)
                for conditions, choice, of_line in _Grid(collective, some).rectangles()
            ]
    return found


def file_text(head: Head, remarks: Sequence[str], lines: Sequence[Line], default_text: str) -> str:
    """A whole file: what was measured, and below it the default rules for all the rest."""
    parts = [f"{FIRST_LINE}\n{head.text}" + "".join(f"# {each}".rstrip() + "\n" for each in remarks)]
    for collective in dict.fromkeys(each.collective for each in lines):
        of_collective = [each for each in lines if each.collective == collective]
        parts.append("\n".join("\n".join([*each.remarks, each.text]) for each in of_collective) + "\n")
    above = "\n".join(parts)
    start = above.count("\n") + 2
    text = f"{above}\n{DEFAULTS_HEADING}\n\n{_without_introduction(default_text)}"
    return _without_what_never_decides(text, start)


def tuned_lines(text: str) -> str:
    """The text of a file without the default rules below."""
    return text.partition(DEFAULTS_HEADING)[0]


def _figures(state: State, choice: str) -> str:
    size = f"{_core.quantity_text(state.cell.bytes)}B " if state.cell.bytes else ""
    shown = choice if choice != NATIVE else state.cell.default
    figure = state.figures.get(shown)
    if figure is None:  # native, which the default rules choose as well
        return f"{size}native" if size else ""
    return f"{size}{shown + ' ' if choice == NATIVE else ''}{figure.text}"


def _without_introduction(text: str) -> str:
    """The default rules without the comment that opens the file."""
    first, blank, rest = text.partition("\n\n")
    return rest if blank and all(line.startswith("#") for line in first.splitlines()) else text


def _without_what_never_decides(text: str, start: int) -> str:
    """Default rules all whose calls are decided above become comments; `start` is the first line that may."""
    lines = text.splitlines()
    for each in inspection.remarks(text, "rules"):
        if each.kind == "unreachable" and each.line > start:
            lines[each.line - 1] = f"{DECIDED_ABOVE}{lines[each.line - 1]}"
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Measured:
    """A figure in the remarks of a rule, read again."""

    processes: int
    bytes: int
    """Of the whole vector; 0 where there are no data."""
    choice: str
    """Empty: that of the rule."""
    ratio: float
    """Of its time to that of the library's own."""
    count: int
    """Repetitions."""


RANKS = re.compile(r"(\d+) ranks: (.*)")
FIGURE = re.compile(r"(?:(\S+)B )?(?:(\S+) )?[\d.]+ (?:s|ms|µs) = ([\d.]+) \(n (\d+)\)")


def measured(text: str, line: int) -> list[Measured]:
    """The figures that justify the rule on this line of a file; none if they are not there."""
    remarks: list[str] = []
    for each in reversed(text.splitlines()[: line - 1]):
        if not each.startswith("# "):
            break
        remarks.insert(0, each[2:])
    found = []
    for each in re.sub(r"\n +", " ", "\n".join(remarks)).splitlines():
        of_processes = RANKS.fullmatch(each)
        figures = of_processes[2].split(", ") if of_processes else []
        for figure in filter(None, map(FIGURE.fullmatch, figures)):
            size, choice, ratio, count = figure.groups()
            length = int(_core.quantity(size)) if size else 0
            found.append(Measured(int(of_processes[1]), length, choice or "", float(ratio), int(count)))  # type: ignore[index]
    return found


def nearest_measured(text: str, line: int, processes: int, length: int) -> Measured | None:
    """What was measured of calls most like one that a rule decides: on as many ranks; None if nothing."""
    figures = [each for each in measured(text, line) if each.processes == processes]
    return min(figures, key=lambda each: abs(math.log(max(each.bytes, 1) / max(length, 1))), default=None)


Rectangle = tuple[tuple[str, ...], str, tuple[State, ...]]


class _Grid:
    """The cells of a collective on nodes that are alike: numbers of processes by lengths."""

    def __init__(self, collective: str, states: Sequence[State]) -> None:
        self.collective = collective
        self.processes = sorted({each.cell.shape.processes for each in states})
        self.lengths = sorted({each.cell.bytes for each in states})
        self.cells = [
            [_covering(length, [each for each in states if each.cell.shape.processes == processes])
             for length in self.lengths]
            for processes in self.processes
        ]  # fmt: skip

    def rectangles(self) -> list[Rectangle]:
        """As few as cover all cells that need a rule, by processes and lengths.

        Two that overlap may stand in any order: where they do, both choices are accepted.
        """
        found = sorted(self._cover(), key=lambda each: (each[0][0], each[0][2], each))
        return [(self._conditions(corners), choice, self._states(corners)) for corners, choice in found]

    def _cover(self) -> Iterator[tuple[tuple[int, int, int, int], str]]:
        left = {
            (row, column)
            for row, cells in enumerate(self.cells)
            for column, state in enumerate(cells)
            if state is not None and state.needs_a_rule
        }
        while left:
            best: tuple[tuple[float, ...], tuple[int, int, int, int], str] | None = None
            for corners in self._all_corners():
                covered = left & set(_places(corners))
                for choice in self._accepted(corners) if covered else ():
                    # The fewest cells beside those that need it, and the best choice.
                    merit = (len(covered), -len(list(_places(corners))), -self._badness(corners, choice))
                    if best is None or merit > best[0]:
                        best = merit, corners, choice
            assert best is not None  # a cell alone accepts something
            _, corners, choice = best
            left -= set(_places(corners))
            yield corners, choice

    def _all_corners(self) -> Iterator[tuple[int, int, int, int]]:
        rows, columns = len(self.processes), len(self.lengths)
        for top in range(rows):
            for bottom in range(top, rows):
                for first in range(columns):
                    for last in range(first, columns):
                        yield top, bottom, first, last

    def _accepted(self, corners: tuple[int, int, int, int]) -> list[str]:
        """Choices that all cells accept."""
        states = [self.cells[row][column] for row, column in _places(corners)]
        first = states[0]
        if first is None:
            return []
        return [
            each for each in first.accepted if all(state is not None and each in state.accepted for state in states)
        ]

    def _badness(self, corners: tuple[int, int, int, int], choice: str) -> float:
        """How much longer than the best the choice takes, over all cells."""
        return sum(
            math.log(state.figures[choice].median / state.figures[state.accepted[0]].median)
            for state in self._states(corners)
            if choice in state.figures and state.accepted[0] in state.figures
        )

    def _states(self, corners: tuple[int, int, int, int]) -> tuple[State, ...]:
        found = [self.cells[row][column] for row, column in _places(corners)]
        return tuple({id(each): each for each in found if each is not None}.values())

    def _conditions(self, corners: tuple[int, int, int, int]) -> tuple[str, ...]:
        top, bottom, first, last = corners
        lowest, highest = self.processes[top], self.processes[bottom]
        conditions = [f"processes = {lowest}" if top == bottom else f"processes in {lowest}..{highest}"]
        if self.collective not in plans.WITHOUT_DATA:
            if first > 0:
                conditions.append(
                    f"bytes > {_core.quantity_text(between(self.lengths[first - 1], self.lengths[first]))}"
                )
            elif any(each.cell.count > 1 for each in self._states((top, bottom, first, first))):
                conditions.append(f"bytes >= {_core.quantity_text(self.lengths[first])}")
            end = self.lengths[last]
            if last + 1 < len(self.lengths):
                end = between(end, self.lengths[last + 1])
            conditions.append(f"bytes <= {_core.quantity_text(end)}")
        if has_operation(self.collective):
            conditions.append("commutative = yes")
        return tuple(conditions)


def _places(corners: tuple[int, int, int, int]) -> Iterator[tuple[int, int]]:
    top, bottom, first, last = corners
    for row in range(top, bottom + 1):
        for column in range(first, last + 1):
            yield row, column


def _covering(length: int, states: Sequence[State]) -> State | None:
    """The measured cell whose class a length is in; None for one that is longer or shorter than all of them."""
    ordered = sorted(states, key=lambda each: each.cell.bytes)
    for place, state in enumerate(ordered):
        next_one = ordered[min(place + 1, len(ordered) - 1)]
        if length <= between(state.cell.bytes, next_one.cell.bytes):
            below_all = place == 0 and length < state.cell.bytes and state.cell.count > 1
            return None if below_all else state
    return None


def between(shorter: int, longer: int) -> int:
    """Where one class of lengths ends and the next begins: about the geometric mean, a power of two if one is there."""
    middle = math.isqrt(shorter * longer)
    power = 1 << (max(middle, 1).bit_length() - 1)
    return power if power >= shorter else middle
