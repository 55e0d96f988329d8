# SPDX-License-Identifier: BSD-3-Clause
"""Reports of `rondo run` as one HTML file: what carried out the calls, what the guard found out, rank by rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rondo.launching.rank_report import RankReport
from rondo.launching.run_report import Report, warnings
from rondo.launching.run_table import COMPARED, SHARED, chosen, range_text, traffic_text, trial_text
from rondo.reports import document, style
from rondo.reports.charts import FRAME, GRID, rounded

BY_RANK = "Seconds in collectives, by rank"


@dataclass(frozen=True)
class Source:
    """A report from a file."""

    path: Path
    report: Report


def text(sources: Sequence[Source], *, self_contained: bool = False) -> str:
    """The whole page."""
    return document.of_all("What ran", sources, _of_one, self_contained=self_contained)


def _of_one(source: Source, number: int) -> list[str]:
    report = source.report
    parts = [f"<h2>{escape(report.library or str(source.path))}, {style.counted(report.size, 'rank')}</h2>"]
    missing = warnings(report)
    if missing:
        parts.append(document.box("caution", "To be known before reading", missing))
    hosts = {each.host for each in report.ranks}
    facts = [("File", str(source.path)), ("Binary interface", report.abi), ("Nodes", ", ".join(sorted(hosts)))]
    if report.shared_memory is not None:
        facts.append((SHARED.capitalize(), traffic_text(report.shared_memory)))
    parts.append(document.facts(facts))
    if report.entries:
        parts.append(_calls_table(report))
    if report.trials:
        parts.append(document.box("fine", COMPARED, map(trial_text, report.trials)))
    if report.ranks:
        figure = document.figure(_by_rank(report), f"ranks{number}", BY_RANK, f"ranks{number}table")
        parts.append(f'{figure}<div id="ranks{number}table">{_ranks_table(report.ranks)}</div>')
    return parts


def _calls_table(report: Report) -> str:
    """A row for each class of size."""
    rows = [
        [
            escape(entry.function),
            escape(chosen(entry, report.trials).plain),
            range_text(each),
            str(each.calls),
            str(each.total_calls),
            str(each.ranks),
            style.bytes_text(each.bytes),
            style.bytes_text(each.total_bytes),
            style.time_text(each.seconds),
        ]
        for entry in report.entries
        for each in entry.classes
    ]
    caption = "Calls, bytes and seconds of the rank with the most; seconds include the wait for other ranks"
    headings = ["Collective", "Carried out by", "Bytes a call", "Calls", "of all ranks", "Ranks"]
    headings += ["Bytes", "Bytes of all ranks", "Seconds"]
    return document.table(caption, headings, {"Collective", "Carried out by"}, rows)


def _ranks_table(ranks: Sequence[RankReport]) -> str:
    rows = [
        [
            str(each.rank),
            escape(each.host),
            str(sum(one.calls for entry in each.entries for one in entry.classes)),
            style.time_text(sum(one.seconds for entry in each.entries for one in entry.classes)),
            "" if each.ended else "did not come to an end by itself",
        ]
        for each in ranks
    ]
    return document.long_table("Ranks", ["Rank", "Node", "Calls", "Seconds", "Remark"], {"Node", "Remark"}, rows)


def _by_rank(report: Report) -> dict[str, Any] | None:
    """A bar for each rank, of what carried out its calls. None if no rank made any."""
    names = list(dict.fromkeys((entry.collective, entry.algorithm) for entry in report.entries))
    if not names:
        return None
    seconds: dict[tuple[str, str], list[float]] = {name: [0.0] * len(report.ranks) for name in names}
    for place, rank in enumerate(report.ranks):
        for entry in rank.entries:
            seconds[entry.collective, entry.algorithm][place] += sum(each.seconds for each in entry.classes)
    size, unit = style.unit_of(max(map(max, seconds.values())))
    traces = [
        {
            "type": "bar",
            "name": escape(": ".join(name)),
            "x": [each.rank for each in report.ranks],
            "y": [rounded(each / size) for each in of_ranks],
            "marker": {"color": style.COLOURS[place % len(style.COLOURS)]},
            "hovertemplate": f"rank %{{x}}, {escape(': '.join(name))}: %{{y}} {unit}<extra></extra>",
        }
        for place, (name, of_ranks) in enumerate(seconds.items())
    ]
    axis = {"gridcolor": GRID, "linecolor": "#666666", "zeroline": False}
    layout = {
        **FRAME,
        "barmode": "stack",
        "xaxis": {**axis, "title": {"text": "rank"}, "tickformat": "d"},
        "yaxis": {**axis, "title": {"text": f"time ({unit})"}, "rangemode": "tozero"},
    }
    return {"data": traces, "layout": layout}
