# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons of `rondo compare` as one HTML file: every run, medians with intervals, verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rondo.bench import statistics
from rondo.comparing import table
from rondo.comparing.results import COLLECTIVES, WALL, Results
from rondo.reports import document, style
from rondo.reports.charts import FRAME, GRID, rounded

OF_NATIVE = "#000000"
TITLES = {WALL: "Wall time", COLLECTIVES: "Time in collectives, mean of the ranks"}


@dataclass(frozen=True)
class Source:
    """A comparison from a file."""

    path: Path
    results: Results


def text(sources: Sequence[Source], *, self_contained: bool = False) -> str:
    """The whole page."""
    return document.of_all("Compared runs", sources, _of_one, self_contained=self_contained)


def _of_one(source: Source, number: int) -> list[str]:
    found = source.results
    outputs = list(table.verdict_on_outputs(found))
    cautions = list(table.cautions(found))
    if not found.complete:
        cautions.insert(0, "The comparison was interrupted: what is here is valid, but less than was asked for.")
    parts = [f"<h2>{escape(table.title(found))}</h2>"]
    if outputs:
        kind, heading = ("alarm", "Outputs differ") if found.differences else ("fine", "Outputs")
        parts.append(document.box(kind, heading, outputs))
    if cautions:
        parts.append(document.box("caution", "To be known before reading", cautions))
    rows = [("File", str(source.path)), ("Command", found.command)]
    rows += [(each.name, each.command) for each in found.rivals]
    rows += [("Date", found.date), ("Rondo", found.rondo)]
    parts.append(document.facts(rows, code={"Command", *(each.name for each in found.rivals)}))
    parts.append(_times_table(found, f"times{number}"))
    figures = [
        document.figure(_runs(found, figure), f"{name}{number}", TITLES[figure], f"times{number}")
        for figure, name in ((WALL, "wall"), (COLLECTIVES, "counted"))
    ]
    parts.append(f"<div class=figures>{''.join(figures)}</div>")
    if any(each.counted for each in found.rivals):
        parts.append(_collectives_table(found))
    parts.append("".join(f"<p>{escape(each)}</p>" for each in table.remarks(found)))
    return parts


def _times_table(found: Results, name: str) -> str:
    verdicts = {(each.figure, each.rival): each for each in found.verdicts}
    rows = []
    for figure in (WALL, COLLECTIVES):
        for each in found.rivals:
            summary = statistics.summary(each.of(figure))
            if not summary.count:
                continue
            size, _ = style.unit_of(summary.median)
            interval = ""
            if math.isfinite(summary.low):
                interval = f" [{style.digits(summary.low / size)}, {style.digits(summary.high / size)}]"
            rows.append(
                [
                    TITLES[figure],
                    escape(each.name),
                    str(summary.count),
                    f"{style.time_text(summary.median)}{interval}",
                    style.time_text(summary.minimum),
                    style.time_text(summary.maximum),
                    escape(table.verdict_on(verdicts.get((figure, each.name)), len(found.rivals)).plain),
                ]
            )
    last = f"Beside {escape(found.rivals[0].name)}"
    headings = ["", "Rival", "Runs", "Median", "Shortest", "Longest", last]
    return f'<div id="{name}">{document.table("Medians with 95% intervals", headings, {"", "Rival", last}, rows)}</div>'


def _runs(found: Results, figure: str) -> dict[str, Any] | None:
    """Every run as a point, in their order, and the medians. None if there are none."""
    times = {each.name: each.of(figure) for each in found.rivals if each.of(figure)}
    if not times:
        return None
    size, unit = style.unit_of(max(map(max, times.values())))
    traces = []
    for place, (name, seconds) in enumerate(times.items()):
        colour = OF_NATIVE if place == 0 else style.COLOURS[(place - 1) % len(style.COLOURS)]
        median = statistics.summary(seconds).median / size
        runs = list(range(1, len(seconds) + 1))
        shared = {"type": "scatter", "legendgroup": name, "name": name}
        traces.append(
            shared
            | {
                "mode": "markers",
                "x": runs,
                "y": [rounded(each / size) for each in seconds],
                "marker": {"color": colour, "size": 9, "symbol": "circle" if place == 0 else style.MARKERS[place - 1]},
                "hovertemplate": f"{escape(name)}, run %{{x}}: %{{y}} {unit}<extra></extra>",
            }
        )
        traces.append(
            shared
            | {
                "mode": "lines",
                "x": [0.5, max(len(each) for each in times.values()) + 0.5],
                "y": [rounded(median)] * 2,
                "line": {"color": colour, "width": 1.5, "dash": "dash"},
                "showlegend": False,
                "hoverinfo": "skip",
            }
        )
    axis = {"gridcolor": GRID, "linecolor": "#666666", "zeroline": False}
    layout = {
        **FRAME,
        "xaxis": {**axis, "title": {"text": "run (dashes: medians)"}, "tickformat": "d"},
        "yaxis": {**axis, "title": {"text": f"time ({unit})"}, "rangemode": "tozero"},
    }
    return {"data": traces, "layout": layout}


def _collectives_table(found: Results) -> str:
    names = table.collectives_of(found)
    serving = [each for each in found.rivals if any(table.served(each, name) for name in names)]
    rows = [
        [
            escape(name),
            *(style.time_text(table.median_in(each, name)) for each in found.rivals),
            *(escape(table.served(each, name)) for each in serving),
        ]
        for name in names
    ]
    by = [f"Calls that {'Rondo' if len(serving) == 1 else escape(each.name)} served" for each in serving]
    headings = ["Collective", *(escape(each.name) for each in found.rivals), *by]
    return document.table("Medians of the counted runs, mean of the ranks", headings, {"Collective", *by}, rows)
