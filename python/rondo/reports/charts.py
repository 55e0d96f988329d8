# SPDX-License-Identifier: BSD-3-Clause
"""The interactive figures, as Plotly draws them: https://plotly.com/javascript/reference.

A trace's `meta` says to page.js what it is: a line (with the y of each statistic that the reader may choose), the band
between minimum and maximum, or the single repetitions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rondo.bench import statistics
from rondo.bench.results import NATIVE
from rondo.bench.statistics import Standing
from rondo.reports import style, words
from rondo.reports.sections import Section, Series
from rondo.reports.style import Style

GRID = "#e4e4e4"
STATISTICS = ("median", "minimum", "mean", "p99")
FRAME = {
    # page.js makes room for as many lines as it has below the rest.
    "legend": {
        "orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom", "tracegroupgap": 0,
        "maxheight": 10000,
    },
    "margin": {"l": 70, "r": 15, "t": 30, "b": 70},
    "font": {"family": "system-ui, sans-serif", "size": 13, "color": "#111111"},
    "plot_bgcolor": "#ffffff",
    "paper_bgcolor": "#ffffff",
    "hoverlabel": {"align": "left"},
    "height": 430,
}  # fmt: skip
"""Of the layout of every figure. The height is without its legend."""
SIZES = {"circle": 7, "square": 7, "diamond": 8, "star": 9}  # to look equally large


def times(section: Section, styles: Mapping[str, Style]) -> dict[str, Any] | None:
    """Time over bytes, both axes logarithmic; None if there is nothing to draw."""
    shown = [each for each in section.series if each.measured]
    if not shown:
        return None
    summaries = [each.summary for one in shown for each in one.measured]
    low, high = min(each.minimum for each in summaries), max(each.maximum for each in summaries)
    scale, unit = style.axis_unit(low)
    traces = [trace for each in shown for trace in _time_traces(each, styles[each.algorithm], scale)]
    traces += _hollow(shown)
    traces += _wrong((each, each.summary.median / scale) for one in shown for each in one.measured)
    return {
        "data": traces,
        "layout": _layout(shown, f"time ({unit})", low / scale, high / scale),
    }


def ratios(section: Section, styles: Mapping[str, Style]) -> dict[str, Any] | None:
    """Medians relative to the native one's over bytes, with intervals; None if there is nothing to compare."""
    shown = [each for each in section.series if each.algorithm != NATIVE and any(_compared(each))]
    if not shown:
        return None
    found = [each.ratio for one in shown for each in _compared(one) if each.ratio is not None]
    values = [each for one in found for each in (one.low, one.value, one.high) if math.isfinite(each)]
    edge = 1 + statistics.SMALLEST_DIFFERENCE
    layout = _layout(shown, "median time / native's", min(*values, 1 / edge), max(*values, edge))
    layout["shapes"] = [
        _across({"type": "rect", "y0": 1 / edge, "y1": edge, "fillcolor": "#dddddd", "line": {"width": 0}}),
        _across({"type": "line", "y0": 1, "y1": 1, "line": {"color": "#000000", "width": 2}}),
    ]
    traces = [_ratio_trace(each, styles[each.algorithm]) for each in shown]
    traces += _hollow(section.series)
    traces += _wrong((each, each.ratio.value) for one in shown for each in one.measured if each.ratio is not None)
    return {"data": traces, "layout": layout}


def _time_traces(series: Series, look: Style, scale: float) -> list[dict[str, Any]]:
    points = series.measured
    bytes_ = [each.configuration.bytes for each in points]
    ys = {name: [rounded(getattr(each.summary, name) / scale) for each in points] for name in STATISTICS}
    least, most = ([rounded(getattr(each.summary, name) / scale) for each in points] for name in ("minimum", "maximum"))
    repetitions = [(each.configuration.bytes, seconds) for each in points for seconds in each.configuration.seconds()]
    shared = {"type": "scatter", "legendgroup": series.label, "name": series.label}
    quiet = {**shared, "showlegend": False, "hoverinfo": "skip"}
    band = {
        **quiet,
        "meta": {"role": "band"},
        "x": bytes_ + bytes_[::-1],
        "y": most + least[::-1],
        "mode": "lines",
        "line": {"width": 0, "color": look.colour},
        "fill": "toself",
        "fillcolor": _faint(look.colour, 0.15),
    }
    single = {
        **quiet,
        "meta": {"role": "points"},
        "visible": False,
        "x": [each for each, _ in repetitions],
        "y": [rounded(each / scale) for _, each in repetitions],
        "mode": "markers",
        "marker": {"size": 5, "opacity": 0.3, "color": look.colour},
    }
    line = {
        **shared,
        **_line(series, look, [each.summary.certain for each in points]),
        "meta": {"role": "line", **ys},
        "x": bytes_,
        "y": ys["median"],
        "hovertext": [_hover(each) for each in points],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    return [band, single, line]


def _ratio_trace(series: Series, look: Style) -> dict[str, Any]:
    points = _compared(series)
    ratios_ = [each.ratio for each in points if each.ratio is not None]
    return {
        "type": "scatter",
        "name": series.label,
        **_line(series, look, [each.certain for each in ratios_]),
        "x": [each.configuration.bytes for each in points],
        "y": [rounded(each.value) for each in ratios_],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [rounded(each.high - each.value) for each in ratios_],
            "arrayminus": [rounded(each.value - each.low) for each in ratios_],
            "thickness": 1.2,
            "width": 3,
        },
        "hovertext": [_hover(each) for each in points],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }


def _wrong(points: Iterable[tuple[Standing, float]]) -> list[dict[str, Any]]:
    wrong = [(each.configuration.bytes, height) for each, height in points if each.configuration.wrong()]
    if not wrong:
        return []
    marker = {"symbol": "x-thin", "size": 14, "line": {"color": style.ALARM, "width": 3}}
    return [
        {
            "type": "scatter",
            "name": "wrong result",
            "mode": "markers",
            "marker": marker,
            "x": [bytes_ for bytes_, _ in wrong],
            "y": [rounded(height) for _, height in wrong],
            "hoverinfo": "skip",
        }
    ]


def _hollow(shown: Iterable[Series]) -> list[dict[str, Any]]:
    """What explains hollow markers, if there are any."""
    if all(each.summary.certain for one in shown for each in one.measured):
        return []
    marker = {"symbol": "circle-open", "size": 8, "color": "#666666"}
    # One point that is nowhere: a trace without points has no place in the legend.
    nowhere = {"x": [None], "y": [None], "hoverinfo": "skip"}
    return [{"type": "scatter", "name": style.HOLLOW, "mode": "markers", "marker": marker, **nowhere}]


def _line(series: Series, look: Style, certain: Sequence[bool]) -> dict[str, Any]:
    return {
        "mode": "lines+markers",
        "line": {
            "color": look.colour,
            "width": 2.5 if series.algorithm == NATIVE else 2,
            "dash": style.DASHES[series.variant % len(style.DASHES)],
        },
        "marker": {
            "symbol": [look.marker + ("" if each else "-open") for each in certain],
            "size": SIZES.get(look.marker, 9),
            "color": look.colour,
        },
    }


def _layout(shown: Iterable[Series], title: str, low: float, high: float) -> dict[str, Any]:
    lengths = [each.configuration.bytes for one in shown for each in one.measured]
    axis = {"type": "log", "gridcolor": GRID, "linecolor": "#666666", "ticks": "outside", "zeroline": False}
    margin = max((high / low) ** 0.05, 1.02)
    low, high = low / margin, high * margin
    range_ = [math.log10(low), math.log10(high)]
    bytes_ = style.byte_ticks(min(lengths), max(lengths))
    return {
        "xaxis": {**axis, "title": {"text": "vector on each rank (bytes)"}, **ticks(bytes_)},
        "yaxis": {**axis, "title": {"text": title}, **ticks(style.log_ticks(low, high)), "range": range_},
        **FRAME,
    }


def ticks(places: list[tuple[float, str]]) -> dict[str, Any]:
    """Of an axis, at these places with these texts."""
    return {
        "tickmode": "array",
        "tickvals": [each for each, _ in places],
        "ticktext": [text for _, text in places],
    }


def _across(shape: dict[str, Any]) -> dict[str, Any]:
    return {**shape, "xref": "paper", "x0": 0, "x1": 1, "layer": "below"}


def _compared(series: Series) -> list[Standing]:
    return [each for each in series.measured if each.ratio is not None]


def _hover(standing: Standing) -> str:
    found, summary = standing.configuration, standing.summary
    lines = [
        f"<b>{found.label}</b>, {style.bytes_text(found.bytes)} ({found.count} {found.type})",
        f"median {words.median_text(summary)}",
        f"minimum {style.time_text(summary.minimum)}, maximum {style.time_text(summary.maximum)}",
        f"of native's: {words.ratio_text(standing.ratio)}",
        f"{summary.count} valid, {found.invalid()} invalid, {found.wrong()} wrong",
    ]
    return "<br>".join(lines)


def _faint(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def rounded(number: float) -> float | None:
    """Short in JSON, which knows no NaN."""
    return float(f"{number:.5g}") if math.isfinite(number) else None
