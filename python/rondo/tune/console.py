# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo tune` shows while it measures, and what it says of what it found."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from rondo import screens
from rondo.bench.records import Collector
from rondo.reports import style
from rondo.tune.cells import Cell
from rondo.tune.measuring import Ending, Launch, Progress
from rondo.tune.racing import State

if TYPE_CHECKING:
    from rich.table import Table

MOST_NAMED = 6


def say(line: str) -> None:
    """On standard error."""
    click.echo(f"rondo: {line}", err=True)


@contextlib.contextmanager
def progress(seconds: float) -> Iterator[Progress]:
    """With a bar on a terminal, else a line for each launch. `seconds`: of the box."""
    from rich.progress import BarColumn, TextColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    from rondo.bench import console_output  # noqa: PLC0415

    console = console_output.stderr_console()
    hidden = not console.is_terminal
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
    began = time.monotonic()
    # Without a thread of its own, which might take signals.
    with Bars(*columns, console=console, auto_refresh=False, transient=True, disable=hidden) as bars:
        task = bars.add_task("", total=seconds, left="")
        ends = began

        def left_text() -> str:
            return f"{_minutes(max(ends - time.monotonic(), 0))} left at most"

        def launch(what: Launch, box: float, open_seconds: float) -> None:
            nonlocal ends
            ends = time.monotonic() + min(box, open_seconds + what.site.start_seconds)
            if hidden:
                say(f"{what.text}; {_minutes(box)} left, of which this pass may take {_minutes(open_seconds)}")
            bars.update(task, description=what.text)

        def meanwhile(_: Collector) -> None:
            bars.update(task, completed=time.monotonic() - began, left=left_text())
            bars.refresh()

        yield Progress(say, launch, meanwhile)


def tell(ending: Ending, left_out: Sequence[str]) -> None:
    """What was not measured or stayed open."""
    for each in left_out:
        say(f"not measured: {each}")
    if ending.too_long:
        named = [f"{choice} in {cell.text}" for cell, choice in ending.too_long]
        say(f"left out, as one repetition would take more than its share of the time: {_some(named)}")
    if ending.missing:
        say(
            f"too little was measured of {style.counted(len(ending.missing), 'cell')}, for lack of time or of "
            f"repetitions that count: {_cells(ending.missing)}; start again to go on from here"
        )
    if ending.undecided:
        say(f"no rule yet, and more time may show that one pays: {_cells(ending.undecided)}")
    if ending.improvable:
        say(f"there is a rule, and more time may find a still faster choice: {_cells(ending.improvable)}")


def show(states: Sequence[State]) -> None:
    """Prints for each collective and shape what was decided, on standard output."""
    screens.show(_table(states), screens.console())


def _table(states: Sequence[State]) -> Table:
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("collective")
    table.add_column("ranks")
    for heading in ("lengths", "faster", "of native's time", "native", "as by default", "not measured"):
        table.add_column(heading, justify="right")
    for collective, shape in dict.fromkeys((each.cell.collective, each.cell.shape) for each in states):
        some = [each for each in states if (each.cell.collective, each.cell.shape) == (collective, shape)]
        gains = [each.figures[each.winners[0]].ratio.value for each in some if each.certain and each.winners]
        native = sum(each.native_is_safer for each in some)
        unknown = sum(not each.certain for each in some)
        table.add_row(
            collective, str(shape), str(len(some)), str(len(gains)),
            f"{min(gains):.2f} to {max(gains):.2f}" if gains else "", str(native),
            str(len(some) - len(gains) - native - unknown), str(unknown) if unknown else "",
        )  # fmt: skip
    return table


def _cells(some: Sequence[Cell]) -> str:
    return _some([each.text for each in some])


def _some(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_NAMED
    return ", ".join(texts[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
