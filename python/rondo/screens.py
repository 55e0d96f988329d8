# SPDX-License-Identifier: BSD-3-Clause
"""Tables on a terminal of any width. Nothing is cut: what is too wide becomes rows, or blocks of columns."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Column, Table

UNBOUNDED = 1000  # columns: a table that goes into a file has lines as long as they are
GAP = 3  # columns between two of a table, at most
INDENT = "    "


def console() -> Console:
    """For standard output."""
    from rich.console import Console  # noqa: PLC0415 (most commands do without)

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNBOUNDED
    return Console(width=width, highlight=False, markup=False)


def show(table: Table, where: Console) -> None:
    """Prints a table. Where it is too wide, prose goes to the next line, and columns move together.

    Where it is too wide even so, there is a paragraph for each row.
    """
    if _measured(table, where).maximum > where.width:
        for each in table.columns:
            _keep_whole(each)
    if table.box is not None and _measured(table, where).minimum > where.width:
        table.padding = 0  # the box itself keeps columns apart
    if _measured(table, where).minimum <= where.width:
        where.print(table)
        return
    for line in _paragraphs(table, where.width):
        where.print(line, soft_wrap=True)


def show_grid(table: Table, where: Console) -> None:
    """Prints a table whose first column names the rows; where all others do not fit, in blocks of them."""
    first, *others = table.columns
    room = where.width - _width(first)
    while others:
        block = [others.pop(0)]
        while others and sum(map(_width, [*block, others[0]])) <= room:
            block.append(others.pop(0))
        where.print(_of_columns(table, [first, *block]))


def _measured(table: Table, where: Console) -> Measurement:
    from rich.measure import Measurement  # noqa: PLC0415

    return Measurement.get(where, where.options.update(width=UNBOUNDED), table)


def _keep_whole(column: Column) -> None:
    """Has its cells stay on a line, unless they are prose; its heading is as narrow as they are."""
    cells = [_plain(each).rstrip() for each in column.cells]
    if not column.no_wrap and column.justify != "right" and any(" " in each.strip() for each in cells):
        return
    column.no_wrap = True
    widest = max(map(len, [*cells, *_plain(column.header).split()]), default=1)
    column.header = textwrap.fill(_plain(column.header), widest, break_on_hyphens=False)
    column.min_width = widest


def _width(column: Column) -> int:
    return GAP + max(len(_plain(each)) for each in (column.header, *column.cells))


def _plain(cell: object) -> str:
    return getattr(cell, "plain", cell if isinstance(cell, str) else "")


def _of_columns(table: Table, columns: list[Column]) -> Table:
    """The same table with some of its columns."""
    from rich.table import Table  # noqa: PLC0415

    part = Table(
        box=table.box, pad_edge=table.pad_edge, title=table.title, title_style=table.title_style,
        title_justify=table.title_justify, collapse_padding=table.collapse_padding,
    )  # fmt: skip
    for each in columns:
        part.add_column(each.header, justify=each.justify, no_wrap=True)
    for row in zip(*(each.cells for each in columns), strict=True):
        part.add_row(*row)
    return part


def _paragraphs(table: Table, width: int) -> Iterator[str]:
    """The first cell of each row, and below it the others with their headings."""
    headings = [_plain(each.header) for each in table.columns]
    if table.title:
        yield _plain(table.title)
    for row in zip(*(each.cells for each in table.columns), strict=True):
        first, *others = map(_plain, row)
        yield first
        said = ", ".join(f"{name} {cell}".strip() for name, cell in zip(headings[1:], others, strict=True) if cell)
        yield from textwrap.wrap(
            said, max(width, 20), initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False
        )
