# SPDX-License-Identifier: BSD-3-Clause
"""The page of a map of `rondo bench --map`: who is the fastest where, and bandwidth over processes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rondo.bench.maps import Cell, Map
from rondo.bench.results import NATIVE
from rondo.reports import document, map_figures, style
from rondo.reports.charts import FRAME, GRID, SIZES, rounded, ticks

FASTEST = "The fastest, and its median time / native's"
BANDWIDTH = "Vector / median time, over processes"
ROW = 26
"""Pixels of a row of cells."""


@dataclass(frozen=True)
class Source:
    """A map from a file."""

    path: Path
    map: Map


def text(sources: Sequence[Source], *, self_contained: bool = False) -> str:
    """The whole page."""
    return document.of_all("Who is the fastest where", sources, _of_one, self_contained=self_contained)


def _of_one(source: Source, number: int) -> list[str]:
    found, asked = source.map, source.map.question
    what = " ".join(filter(None, [asked.collective, asked.type, asked.operator]))
    parts = [f"<h2>{escape(what)}, {escape(' '.join(found.library.split()))}</h2>"]
    undecided = sum(each.undecided for each in found.cells)
    if undecided:
        caution = f"{undecided} of {len(found.cells)} cells are undecided: there are too few valid repetitions"
        parts.append(document.box("caution", "To be known before reading", [caution]))
    facts = [("File", str(source.path)), ("Start", asked.start), ("Where", asked.cluster or asked.launcher)]
    facts += [("Ranks on each node", str(found.ranks_per_node or "they differ"))]
    parts.append(document.facts(facts, code={"Where"}))
    parts.append(document.figure(_fastest(found), f"fastest{number}", FASTEST, f"cells{number}"))
    parts += [
        document.figure(_bandwidth(found, count), f"bandwidth{number}at{count}", title, f"cells{number}")
        for count in (found.counts[len(found.counts) // 2], found.counts[-1])
        for title in (f"{style.bytes_text(found.nominal_bytes(count))}: {BANDWIDTH[:1].lower()}{BANDWIDTH[1:]}",)
    ]
    parts.append(f'<div id="cells{number}">{_table(found)}</div>')
    return parts


def _fastest(found: Map) -> dict[str, Any]:
    """A cell for each number of processes and length: a trace of squares for each winner."""
    looks = map_figures.looks_of(found)
    rows = [style.bytes_text(found.nominal_bytes(each)) for each in found.counts]
    traces = []
    for label in found.winners:
        cells = [each for each in found.cells if each.fastest == label]
        traces.append(
            {
                "type": "scatter",
                "name": escape(label),
                "mode": "markers+text",
                "x": [str(each.processes) for each in cells],
                "y": [style.bytes_text(found.nominal_bytes(each.count)) for each in cells],
                "text": [_ratio_text(each) for each in cells],
                "textfont": {"size": 11},
                "cliponaxis": False,
                "marker": {
                    "symbol": ["square-open" if each.undecided else "square" for each in cells],
                    "size": ROW - 2,
                    "color": looks[label].fill,
                    "opacity": 0.55,
                },
                "hovertext": [_hover(each) for each in cells],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        )
    axis = {"type": "category", "zeroline": False, "showgrid": False}
    layout = {
        **FRAME,
        "xaxis": {
            **axis, "title": {"text": "processes"}, "categoryarray": [str(each) for each in found.processes],
            "range": [-0.6, len(found.processes) - 0.4],
        },
        "yaxis": {**axis, "categoryarray": rows, "automargin": True, "range": [-0.7, len(rows) - 0.3]},
        "height": 90 + ROW * len(rows),
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _bandwidth(found: Map, count: int) -> dict[str, Any]:
    """Of vectors of so many elements, a line for each candidate."""
    looks = map_figures.looks_of(found)
    chosen = [each for each in found.cells if each.count == count]
    labels = sorted({label for each in chosen for label in each.seconds}, key=lambda label: (label != NATIVE, label))
    traces = []
    for label in labels:
        cells = [each for each in chosen if label in each.seconds]
        look = looks[label]
        traces.append(
            {
                "type": "scatter",
                "name": escape(label),
                "mode": "lines+markers",
                "x": [each.processes for each in cells],
                "y": [rounded(each.bytes / each.seconds[label] / 1e6) for each in cells],
                "line": {"color": look.colour, "width": 2.5 if label == NATIVE else 2},
                "marker": {"symbol": look.marker, "size": SIZES.get(look.marker, 9), "color": look.colour},
                "hovertemplate": f"{escape(label)}, %{{x}} processes: %{{y}} MB/s<extra></extra>",
            }
        )
    axis = {"gridcolor": GRID, "linecolor": "#666666", "zeroline": False}
    layout = {
        **FRAME,
        "xaxis": {
            **axis, "title": {"text": "processes"}, **ticks([(each, str(each)) for each in found.processes]),
        },
        "yaxis": {**axis, "title": {"text": "MB/s"}, "rangemode": "tozero"},
    }  # fmt: skip
    return {"data": traces, "layout": layout}


def _table(found: Map) -> str:
    rows = [
        [
            str(each.processes),
            style.bytes_text(each.bytes),
            escape(each.fastest) if not each.undecided else "undecided",
            style.time_text(each.seconds[each.fastest]),
            style.time_text(each.seconds.get(NATIVE, math.nan)),
            _ratio_text(each),
            each.valid_text.removeprefix("n="),
            "cannot be told apart from native" if each.native_tied and each.fastest != NATIVE else "",
        ]
        for each in found.cells
    ]
    headings = ["Processes", "Bytes", "Fastest", "Median", "Native's", "Ratio", "Valid repetitions", "Remark"]
    return document.long_table("Cells", headings, {"Fastest", "Remark"}, rows)


def _ratio_text(cell: Cell) -> str:
    return "?" if math.isnan(cell.ratio) else "1" if cell.fastest == NATIVE else f"{cell.ratio:.2f}"


def _hover(cell: Cell) -> str:
    lines = [f"<b>{cell.processes} processes, {style.bytes_text(cell.bytes)}</b>, {cell.verdict}"]
    lines += [f"{escape(label)}: {style.time_text(seconds)}" for label, seconds in list(cell.seconds.items())[:6]]
    return "<br>".join(lines)
