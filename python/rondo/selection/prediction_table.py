# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of a series of calls for people: a line for each algorithm, a column for each call."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rondo import _core, screens
from rondo.reports.style import NOTHING, time_text
from rondo.selection import explanation_table
from rondo.selection.candidates import Candidate
from rondo.selection.predicting import Point

STANDS_FOR = {"one node": "¹", "equal parts": "²", "few segments": "³"}
WORDS = {
    "one node": "one node was run, which stands for all",
    "equal parts": "the same, as if all parts were as long as the longest",
    "few segments": "some segments were run",
}


def show(points: Sequence[Point], over: str, console: Console) -> None:
    """Prints the table; the fastest of each column is green."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(over, no_wrap=True)
    for point in points:
        table.add_column(_core.quantity_text(point.value), justify="right", no_wrap=True)
    names = dict.fromkeys(each.algorithm for point in reversed(points) for each in point.candidates)
    for name in names:
        table.add_row(name, *(_cell(point, name) for point in points))
    screens.show_grid(table, console)
    used = {each.means for point in points for each in point.candidates}
    notes = [f"{mark} {WORDS[each]}" for each, mark in STANDS_FOR.items() if each in used]
    line = "; ".join([explanation_table.seconds_note(each for point in points for each in point.candidates), *notes])
    console.print(Text(line, style="dim"), soft_wrap=True)


def _cell(point: Point, name: str) -> Text:
    found = [each for each in point.candidates if each.algorithm == name]
    if not found or found[0].seconds is None:
        return Text(NOTHING, style="dim")
    is_fastest = found[0] is _fastest(point)
    return Text(time_text(found[0].seconds) + STANDS_FOR.get(found[0].means or "", ""), "green" if is_fastest else "")


def _fastest(point: Point) -> Candidate | None:
    return next((each for each in point.candidates if each.seconds is not None), None)
