# SPDX-License-Identifier: BSD-3-Clause
"""What ran: the reports that ranks leave, merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rondo import whole_file
from rondo.errors import Error
from rondo.forms import BLOCKING, LABELS
from rondo.launching import kept_counts
from rondo.launching.rank_report import RankClass, RankEntry, RankReport, Traffic, Trial

_Key = tuple[str, str, str, int, str, str]  # the first attributes of an entry, and its form


class Figures(msgspec.Struct, kw_only=True):
    """Of some calls on all ranks."""

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


class SizeClass(Figures):
    """Calls of one class of size."""

    up_to: int | None
    """Bytes that a call of this class may have; None: no limit."""


class Entry(Figures):
    """Calls of one collective that were treated alike."""

    collective: str
    algorithm: str
    reason: str
    line: int
    """Of the rules, that says so; 0: none does."""
    learned: str
    """Why `rondo run --learn` has chosen it: "tried", or "best" of what was tried; empty: it has not.

    Then the line is one of those that stood above the rules of the user in that run."""
    classes: list[SizeClass]
    """Those with calls, from the smallest."""
    form: str = BLOCKING
    """Or "nonblocking" or "persistent"."""

    @property
    def function(self) -> str:
        """The collective in its form: "iallreduce"."""
        return LABELS[self.form].format(self.collective)


class Report(msgspec.Struct):
    """The reports of all ranks, together and one by one."""

    library: str
    abi: str
    size: int
    """Ranks of the program."""
    missing: list[int]
    """Ranks that left no report."""
    cut_short: list[int]
    """Ranks that were killed, aborted or ended without MPI_Finalize, and what they counted until then is here."""
    unreadable: list[str]
    """Files that were not finished, with the reason."""
    entries: list[Entry]
    ranks: list[RankReport]
    shared_memory: Traffic | None
    """What ranks sent through memory of their nodes. None: none shares any."""
    trials: list[Trial]
    """What the guard has found out, or knew from earlier runs, as rank 0 of the program has it."""


def read(directory: Path) -> Report:
    """Merges the reports in a directory; files that cannot be read are named in the result."""
    ranks, unreadable = [], []
    for path in _of_each_rank(directory):
        decode: Callable[[bytes], RankReport] = (
            kept_counts.decode if path.suffix == kept_counts.SUFFIX else _decode_finished
        )
        try:
            ranks.append(decode(path.read_bytes()))
        except (OSError, ValueError) as error:  # msgspec's are among them
            unreadable.append(f"{path.name}: {error}")
    return merged(ranks, unreadable)


def _of_each_rank(directory: Path) -> list[Path]:
    """The file that says most: a report that was finished, else counts, else a report that was begun."""
    found: dict[str, Path] = {}
    for suffix in (".json.part", kept_counts.SUFFIX, ".json"):
        for path in directory.glob(f"*{suffix}"):
            found[path.name.removesuffix(suffix)] = path
    return [found[name] for name in sorted(found)]


def _decode_finished(text: bytes) -> RankReport:
    return msgspec.json.decode(text, type=RankReport)


def merged(ranks: Iterable[RankReport], unreadable: Iterable[str] = ()) -> Report:
    """One report of many, entries in alphabetical order."""
    ranks = sorted(ranks, key=lambda rank: (rank.rank, rank.host))
    groups: dict[_Key, list[RankEntry]] = {}
    for rank in ranks:
        for entry in rank.entries:
            key = (entry.collective, entry.algorithm, entry.reason, entry.line, entry.learned, entry.form)
            groups.setdefault(key, []).append(entry)
    size = max((rank.size for rank in ranks), default=0)
    return Report(
        library=" and ".join(sorted({rank.library for rank in ranks})),
        abi=" and ".join(sorted({rank.abi for rank in ranks})),
        size=size,
        missing=sorted(set(range(size)) - {rank.rank for rank in ranks}),
        cut_short=sorted({rank.rank for rank in ranks if not rank.ended}),
        unreadable=list(unreadable),
        entries=[_merged_entry(key, group) for key, group in sorted(groups.items())],
        ranks=ranks,
        shared_memory=_traffic([rank.shared_memory for rank in ranks if rank.shared_memory is not None]),
        trials=[trial for rank in ranks if rank.rank == 0 for trial in rank.trials],
    )


def _traffic(sent: Sequence[Traffic]) -> Traffic | None:
    return Traffic(sum(each.messages for each in sent), sum(each.bytes for each in sent)) if sent else None


def _merged_entry(key: _Key, group: Sequence[RankEntry]) -> Entry:
    groups: dict[int | None, list[RankClass]] = {}
    for entry in group:
        for each in entry.classes:
            groups.setdefault(each.up_to, []).append(each)
    limits = sorted(groups, key=lambda limit: (limit is None, limit))
    return Entry(
        *key[:-1],
        [SizeClass(limit, **_figures(groups[limit])) for limit in limits],
        form=key[-1],
        **_figures([_together(entry.classes) for entry in group]),
    )


def _together(classes: Sequence[RankClass]) -> RankClass:
    """All calls of one rank."""
    return RankClass(
        up_to=None,
        calls=sum(each.calls for each in classes),
        bytes=sum(each.bytes for each in classes),
        smallest=min(each.smallest for each in classes),
        largest=max(each.largest for each in classes),
        seconds=sum(each.seconds for each in classes),
    )


def _figures(group: Sequence[RankClass]) -> dict[str, Any]:
    """Of the same calls on several ranks, as Figures has them."""
    return {
        "ranks": len(group),
        "calls": max(each.calls for each in group),
        "total_calls": sum(each.calls for each in group),
        "bytes": max(each.bytes for each in group),
        "total_bytes": sum(each.bytes for each in group),
        "smallest": min(each.smallest for each in group),
        "largest": max(each.largest for each in group),
        "seconds": max(each.seconds for each in group),
    }


def write(report: Report, path: Path) -> None:
    """Writes the report as a JSON object, one line an attribute. Error if it cannot be written."""
    whole_file.write(path, msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")


def opened(path: Path) -> Report:
    """A report that `write` has written; Error if it is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise Error(f"{path} holds no report of rondo run: {error}") from None


def warnings(report: Report) -> list[str]:
    """What is missing from the report, in words."""
    lines = [f"unreadable report {each}" for each in report.unreadable]
    if not report.ranks:
        lines.append(
            "no rank left a report: none loaded Rondo, none called a function that Rondo knows, or no report could be "
            "written"
        )
    elif not report.entries:
        lines.append("Rondo was loaded, but no rank called a collective that it knows")
    if report.cut_short:
        themselves, they = ("itself", "it") if len(report.cut_short) == 1 else ("themselves", "they")
        lines.append(
            f"{_some(report.cut_short, report)} did not come to an end by {themselves}: {_listed(report.cut_short)} "
            "(killed, aborted, or without MPI_Finalize); the calls that "
            f"{they} had finished are counted"
        )
    alone = sum(rank.size == 1 for rank in report.ranks)
    if alone > 1:
        lines.append(
            f"{alone} processes were each alone in MPI_COMM_WORLD: if they belong together, the launcher is that of "
            "another MPI library"
        )
    if report.missing:
        lines.append(
            f"{_some(report.missing, report)} left no report: {_listed(report.missing)} (Rondo not loaded, no "
            "call of a function that it knows, or no report could be written)"
        )
    return lines


def _some(ranks: Sequence[int], report: Report) -> str:
    return f"{len(ranks)} of {report.size} ranks"


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
