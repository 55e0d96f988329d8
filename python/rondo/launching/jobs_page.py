# SPDX-License-Identifier: BSD-3-Clause
"""What Rondo did in the jobs of a site as one HTML file: over days, and by program, user, library and collective."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rondo.launching import jobs
from rondo.launching.jobs import Job, Total, gain_text
from rondo.reports import document, style
from rondo.reports.charts import FRAME, GRID, rounded

MOST_BARS = 12
"""Of a figure; the others are one."""
MOST_JOBS = 200
"""That are listed."""
KINDS = (
    ("served", "rondo_seconds", style.COLOURS[2]),
    ("taken back", "taken_back_seconds", style.COLOURS[1]),
    ("in trials", "trial_seconds", style.COLOURS[4]),
    ("library", "library_seconds", "#666666"),
)
"""By whom calls were carried out, as the legend says it, with the field of a total and a colour."""
HEADINGS = ["Jobs", "Calls served", "Seconds", "of the library", "Seconds", "taken back", "Seconds", "in trials"]


@dataclass(frozen=True)
class Source:
    """Files of jobs."""

    path: Path
    """Of the directory, or of one file."""
    jobs: list[Job]
    unreadable: list[str]


def text(sources: Sequence[Source], *, self_contained: bool = False) -> str:
    """The whole page."""
    return document.of_all("Jobs", sources, _of_one, self_contained=self_contained)


def _of_one(source: Source, number: int) -> list[str]:
    found = source.jobs
    parts = [f"<h2>{escape(str(source.path))}</h2>"]
    cautions = [*jobs.remarks(found), *source.unreadable]
    if cautions:
        parts.append(document.box("caution", "To be known before reading", cautions))
    if not found:
        return [*parts, "<p>No jobs.</p>"]
    parts.append(document.facts(_facts(found)))
    by_day = sorted(jobs.totals(found, "day"), key=lambda total: total.name)
    figures = [
        document.figure(_bars(by_day, "day"), f"days{number}", "Seconds in collectives, by day", f"jobs{number}"),
        document.figure(
            _bars(_fewer(jobs.totals(found, "program")), "program"),
            f"programs{number}",
            "Seconds in collectives, by program",
            f"program{number}",
        ),
    ]
    parts.append(f"<div class=figures>{''.join(figures)}</div>")
    for group in ("program", "user", "library", "host"):
        content = _totals_table(f"By {group}", group.capitalize(), jobs.totals(found, group), with_gain=True)
        parts.append(f'<div id="{group}{number}">{content}</div>')
    parts.append(_totals_table("By collective", "Collective", jobs.collectives(found), with_gain=False))
    parts.append(f'<div id="jobs{number}">{_jobs_table(found)}</div>')
    return parts


def _facts(found: Sequence[Job]) -> list[tuple[str, str]]:
    total = Total("")
    for job in found:
        total.add(job)
    calls = total.rondo_calls + total.library_calls + total.taken_back_calls + total.trial_calls
    return [
        ("Jobs", f"{len(found)}, from {_when(found[0])} to {_when(found[-1])}"),
        ("Calls of collectives", f"{calls} on all ranks, {style.time_text(total.seconds)}"),
        ("Served by Rondo", f"{total.rondo_calls}, {style.time_text(total.rondo_seconds)}"),
        ("Gained", gain_text(total)),
        ("Rondo", ", ".join(sorted({job.rondo for job in found}))),
    ]


def _when(job: Job) -> str:
    return datetime.datetime.fromtimestamp(job.began).astimezone().strftime("%Y-%m-%d %H:%M")


def _fewer(totals: list[Total]) -> list[Total]:
    """The first ones, and the sum of the others."""
    if len(totals) <= MOST_BARS:
        return totals
    rest = Total(f"{len(totals) - MOST_BARS + 1} others")
    for _, field, _ in KINDS:
        setattr(rest, field, sum(getattr(each, field) for each in totals[MOST_BARS - 1 :]))
    return [*totals[: MOST_BARS - 1], rest]


def _bars(totals: Sequence[Total], what: str) -> dict[str, Any] | None:
    """A bar for each, of who carried out its calls. None if there were none."""
    most = max((each.seconds for each in totals), default=0)
    if not most:
        return None
    size, unit = style.unit_of(most)
    names = [escape(each.name) for each in totals]
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": names,
            "y": [rounded(getattr(each, field) / size) for each in totals],
            "marker": {"color": colour},
            "hovertemplate": f"%{{x}}, {name}: %{{y}} {unit}<extra></extra>",
        }
        for name, field, colour in KINDS
    ]
    axis = {"gridcolor": GRID, "linecolor": "#666666", "zeroline": False}
    layout = {
        **FRAME,
        "barmode": "stack",
        "xaxis": {**axis, "title": {"text": what}, "type": "category", "automargin": True},
        "yaxis": {**axis, "title": {"text": f"time ({unit})"}, "rangemode": "tozero"},
    }
    return {"data": traces, "layout": layout}


def _totals_table(caption: str, heading: str, totals: Sequence[Total], *, with_gain: bool) -> str:
    rows = [
        [
            escape(each.name),
            str(each.jobs),
            *_calls(each.rondo_calls, each.rondo_seconds),
            *_calls(each.library_calls, each.library_seconds),
            *_calls(each.taken_back_calls, each.taken_back_seconds),
            str(each.trial_calls),
            *([gain_text(each)] if with_gain else []),
        ]
        for each in totals
    ]
    headings = [heading, *HEADINGS, *(["Gained"] if with_gain else [])]
    return document.long_table(caption, headings, {heading}, rows)


def _calls(calls: int, seconds: float) -> tuple[str, str]:
    return str(calls), style.time_text(seconds) if seconds else "0"


def _jobs_table(found: Sequence[Job]) -> str:
    """The latest, from the last one back."""
    rows = []
    for job in found[: -MOST_JOBS - 1 : -1]:
        total = Total("")
        total.add(job)
        rows.append(
            [
                _when(job),
                escape(job.owner),
                escape(Path(job.program).name),
                escape(job.batch_job),
                str(job.rank.size),
                style.time_text(job.seconds),
                style.time_text(total.seconds),
                style.time_text(total.rondo_seconds),
                gain_text(total),
            ]
        )
    caption = f"The last {style.counted(len(rows), 'job')}; seconds in collectives are those of all ranks"
    headings = ["Began", "User", "Program", "Batch job", "Ranks", "Took", "In collectives", "Served", "Gained"]
    return document.long_table(caption, headings, {"Began", "User", "Program", "Batch job"}, rows)
