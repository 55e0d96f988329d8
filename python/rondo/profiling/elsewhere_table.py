# SPDX-License-Identifier: BSD-3-Clause
"""What a program would take elsewhere, for people and for programs."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rondo import screens
from rondo.profiling.elsewhere import Elsewhere, Kind
from rondo.reports.style import NOTHING, bytes_text, counted, time_text
from rondo.selection.candidates import Candidate


def show(found: Elsewhere, console: Console) -> None:
    """Prints a row for each kind of calls, the sum, and what is left out."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("call", no_wrap=True)
    for heading in ("ranks", "bytes", "calls", "native", "Rondo"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("by", overflow="fold")
    for each in found.kinds:
        gains = each.gain > 0
        table.add_row(
            each.call.collective,
            str(each.call.processes),
            bytes_text(each.bytes),
            str(each.calls),
            _time(each, each.native),
            Text(_time(each, each.best), style="green" if gains else ""),
            each.best.choice if each.best is not None else NOTHING,
        )
    screens.show(table, console)
    console.print(Text(sentence(found), style="bold"), soft_wrap=True)
    for line in found.left_out:
        console.print(Text(f"left out: {line}", style="dim"), soft_wrap=True)
    note = "times: of all calls of a rank, predicted, in virtual time; ranks that come late are not among them"
    console.print(Text(note, style="dim"), soft_wrap=True)


def _time(kind: Kind, candidate: Candidate | None) -> str:
    seconds = kind.seconds(candidate)
    return time_text(seconds) if seconds is not None else NOTHING


def sentence(found: Elsewhere) -> str:
    """What it comes to."""
    if not found.kinds:
        return "No collective of the program can be predicted."
    unknown = f"What the library takes is not known of {counted(len(found.unknown), 'kind')} of calls."
    if len(found.unknown) == len(found.kinds):
        return unknown
    by_library, with_rondo = found.by_library, found.with_rondo
    ratio = f": {by_library / with_rondo:.2f} times as fast" if with_rondo > 0 else ""
    subject = f"{unknown} Other calls" if found.unknown else "Collectives"
    return (
        f"{subject} would take a rank {time_text(by_library)} by the library and {time_text(with_rondo)} with the best "
        f"of both{ratio}."
    )


def document(found: Elsewhere) -> dict[str, Any]:
    """The same as a JSON object. Seconds are of all calls of a rank."""
    return {
        "native_seconds": found.by_library,
        "rondo_seconds": found.with_rondo,
        "unknown": len(found.unknown),
        "left_out": list(found.left_out),
        "kinds": [
            {
                "collective": each.call.collective,
                "processes": each.call.processes,
                "nodes": each.call.nodes,
                "bytes": each.bytes,
                "calls": each.calls,
                "native_seconds": each.seconds(each.native),
                "rondo_seconds": each.seconds(each.best),
                "choice": each.best.choice if each.best is not None else None,
            }
            for each in found.kinds
        ],
    }
