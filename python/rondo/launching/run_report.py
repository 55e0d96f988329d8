# SPDX-License-Identifier: BSD-3-Clause
"""What ran: the reports that ranks leave, merged."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text


class RankEntry(msgspec.Struct):
    """Calls of one collective on one rank that were treated alike."""

    collective: str
    algorithm: str
    """"native": the MPI library's own."""
    reason: str
    """Why native; empty otherwise."""
    calls: int
    bytes: int
    """In all calls together."""
    smallest: int
    """Bytes of the smallest call."""
    largest: int
    """Bytes of the largest call."""
    seconds: float
    """In all calls together."""


class RankReport(msgspec.Struct):
    """The file that one rank leaves."""

    rank: int
    size: int
    host: str
    library: str
    """Of MPI, with its version."""
    abi: str
    entries: list[RankEntry]


class Entry(msgspec.Struct):
    """Calls of one collective on all ranks that were treated alike."""

    collective: str
    algorithm: str
    reason: str
    ranks: int
    """How many ranks made such calls."""
    calls: int
    """Of the rank with the most."""
    total_calls: int
    bytes: int
    """Of the rank with the most."""
    total_bytes: int
    smallest: int
    largest: int
    seconds: float
    """Of the rank that spent the most."""


class Report(msgspec.Struct):
    """The reports of all ranks, together and one by one."""

    library: str
    abi: str
    size: int
    """Ranks of the program."""
    missing: list[int]
    """Ranks that left no report."""
    unreadable: list[str]
    """Files that were cut short, with the reason."""
    entries: list[Entry]
    ranks: list[RankReport]


def read(directory: Path) -> Report:
    """Merges the reports in a directory; files that cannot be read are named in the result."""
    ranks, unreadable = [], []
    for path in sorted(directory.glob("*.json*")):
        if path.suffix != ".json":
            unreadable.append(f"{path.name}: never finished")
            continue
        try:
            ranks.append(msgspec.json.decode(path.read_bytes(), type=RankReport))
        except (OSError, msgspec.DecodeError) as error:
            unreadable.append(f"{path.name}: {error}")
    return merged(ranks, unreadable)


def merged(ranks: Iterable[RankReport], unreadable: Iterable[str] = ()) -> Report:
    """One report of many, entries in alphabetical order."""
    ranks = sorted(ranks, key=lambda rank: (rank.rank, rank.host))
    groups: dict[tuple[str, str, str], list[RankEntry]] = {}
    for rank in ranks:
        for entry in rank.entries:
            groups.setdefault((entry.collective, entry.algorithm, entry.reason), []).append(entry)
    size = max((rank.size for rank in ranks), default=0)
    return Report(
        library=" and ".join(sorted({rank.library for rank in ranks})),
        abi=" and ".join(sorted({rank.abi for rank in ranks})),
        size=size,
        missing=sorted(set(range(size)) - {rank.rank for rank in ranks}),
        unreadable=list(unreadable),
        entries=[_merged_entry(*key, group) for key, group in sorted(groups.items())],
        ranks=ranks,
    )


def _merged_entry(collective: str, algorithm: str, reason: str, group: list[RankEntry]) -> Entry:
    return Entry(
        collective=collective,
        algorithm=algorithm,
        reason=reason,
        ranks=len(group),
        calls=max(entry.calls for entry in group),
        total_calls=sum(entry.calls for entry in group),
        bytes=max(entry.bytes for entry in group),
        total_bytes=sum(entry.bytes for entry in group),
        smallest=min(entry.smallest for entry in group),
        largest=max(entry.largest for entry in group),
        seconds=max(entry.seconds for entry in group),
    )


def write(report: Report, path: Path) -> None:
    """Writes the report as a JSON object, one line an attribute."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")


def show(report: Report, console: Console) -> None:
    """Prints a table, and what is missing from it; 80 columns are enough."""
    if report.entries:
        console.print(f"Rondo: {report.library}, {report.size} ranks", style="bold")
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        table.add_column("collective", no_wrap=True)
        table.add_column("algorithm", overflow="fold")
        for heading in ("calls", "ranks", "bytes a call", "seconds"):
            table.add_column(heading, justify="right", no_wrap=True)
        for entry in report.entries:
            chosen = Text(entry.algorithm, style="" if entry.algorithm == "native" else "green")
            if entry.reason:
                chosen.append(f" ({entry.reason})", style="dim")
            table.add_row(
                entry.collective,
                chosen,
                str(entry.calls),
                str(entry.ranks),
                _range_text(entry.smallest, entry.largest),
                f"{entry.seconds:.3g}",
            )
        console.print(table)
        console.print("calls and seconds: of the rank with the most", style="dim")
    for line in warnings(report):
        console.print(Text(f"rondo: {line}"), style="yellow", soft_wrap=True)


def warnings(report: Report) -> list[str]:
    """What is missing from the report, in words."""
    lines = [f"unreadable report {each}" for each in report.unreadable]
    if not report.ranks:
        lines.append(
            "no rank left a report: none loaded Rondo, or none called a collective that Rondo knows, or all were "
            "killed before their end"
        )
    elif not report.entries:
        lines.append("Rondo was loaded, but no rank called a collective that it knows")
    if report.missing:
        shown = ", ".join(map(str, report.missing[:8])) + (", ..." if len(report.missing) > 8 else "")
        lines.append(
            f"{len(report.missing)} of {report.size} ranks left no report: {shown} (killed, or without a call of a "
            "collective that Rondo knows)"
        )
    return lines


def _range_text(smallest: int, largest: int) -> str:
    return str(smallest) if smallest == largest else f"{smallest}..{largest}"
