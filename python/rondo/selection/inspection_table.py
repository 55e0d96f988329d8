# SPDX-License-Identifier: BSD-3-Clause
"""What rules choose where, for people: ranks downwards and bytes across."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from rondo import screens
from rondo.bench.results import NATIVE
from rondo.selection.inspection import Row, lines_text

NATIVE_SIGN = "·"


def show(collective: str, rows: Sequence[Row], console: Console) -> None:
    """Prints a cell for each range of ranks and bytes, with a letter for what serves it, and what letters mean."""
    choices: dict[str, set[int]] = {}
    for row in rows:
        for region in row.regions:
            choices.setdefault(region.choice, set()).update(region.lines)
    served = [each for each in choices if each != NATIVE]
    letters = {**{each: chr(ord("A") + place) for place, each in enumerate(served)}, NATIVE: NATIVE_SIGN}
    ends = sorted({region.highest for row in rows for region in row.regions if region.highest is not None})
    texts = {region.highest: region.text for row in rows for region in row.regions}
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True, title=collective, title_justify="left")
    table.title_style = "bold"
    table.add_column("ranks", no_wrap=True)
    for end in ends:
        table.add_column(texts[end].removeprefix("bytes "), no_wrap=True)
    table.add_column("longer" if ends else "bytes: any", no_wrap=True)
    for row in rows:
        table.add_row(_ranks_text(row), *(letters[_choice_at(row, end)] for end in [*ends, None]))
    screens.show_grid(table, console)
    for choice in [*served, NATIVE]:
        if choice in choices:
            lines = f" ({lines_text(sorted(choices[choice]))})" if choices[choice] else ""
            console.print(f"{letters[choice]}  {choice}{lines}", soft_wrap=True)
    console.print()


def _choice_at(row: Row, end: int | None) -> str:
    """For vectors of so many bytes; None: the longest."""
    if end is None:
        return row.regions[-1].choice
    return next(each.choice for each in row.regions if each.highest is None or end <= each.highest)


def _ranks_text(row: Row) -> str:
    if row.most is None:
        return f"{row.fewest}.."
    return str(row.fewest) if row.fewest == row.most else f"{row.fewest}..{row.most}"
