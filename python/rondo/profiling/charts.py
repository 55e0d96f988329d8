# SPDX-License-Identifier: BSD-3-Clause
"""The interactive figures of a profile, as Plotly draws them: https://plotly.com/javascript/reference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rondo.profiling import summary, terminal
from rondo.profiling.profile import Line
from rondo.profiling.savings import Outlook, Prediction
from rondo.reports import style
from rondo.reports.charts import FRAME, GRID, rounded, ticks

COMPUTING, OTHER, WAITING, MOVING, UNSPLIT = "#d9d9d9", style.COLOURS[5], style.COLOURS[4], style.COLOURS[0], "#7f7f7f"
COMPLETING = style.COLOURS[2]
COLOURS = dict(zip(terminal.PARTS, (COMPUTING, OTHER, WAITING, MOVING, COMPLETING, UNSPLIT), strict=True))
NOT_PREDICTED = "not predicted"
REST = "others"
MOST_NAMES = 9
"""Of functions in a figure; the rest are one."""
HATCHES = ("", "/", "x")
"""When colours come again."""
LEGEND = {**FRAME["legend"], "traceorder": "normal"}
AXIS = {"gridcolor": GRID, "linecolor": "#666666", "zeroline": False}


def looks(outlooks: Iterable[Outlook]) -> dict[str, dict[str, Any]]:
    """Colour and hatching of each function, the same in all figures."""
    seconds: dict[str, float] = {}
    for found in outlooks:
        for name, group in summary.grouped(found.profile, lambda line: line.function).items():
            seconds[name] = seconds.get(name, 0.0) + group.seconds
    names = sorted(seconds, key=lambda each: -seconds[each])
    found_looks: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(names[:MOST_NAMES]):
        colour, hatch = style.COLOURS[place % len(style.COLOURS)], HATCHES[place // len(style.COLOURS)]
        found_looks[name] = {"color": colour, "pattern": {"shape": hatch, "fgcolor": "#ffffff", "fillmode": "overlay"}}
    for name in names[MOST_NAMES:]:
        found_looks[name] = {"color": "#999999"}
    return found_looks


def shown_name(name: str, marks: Mapping[str, Any]) -> str:
    """Of a function, in legends."""
    return name if list(marks).index(name) < MOST_NAMES else REST


def glance(outlooks: Sequence[tuple[str, Outlook]]) -> dict[str, Any]:
    """Where the time of the mean rank goes: a bar for each profile."""
    size, unit = style.unit_of(max(each.times.run for _, each in outlooks))
    parts = [dict(terminal.at_a_glance(each)) for _, each in outlooks]
    titles = [title for title, _ in outlooks]
    traces = []
    for name, colour in COLOURS.items():
        if not any(name in each for each in parts):
            continue
        seconds = [each.get(name, 0.0) for each in parts]
        shares = [each.times.share(one or 0.0) for (_, each), one in zip(outlooks, seconds, strict=True)]
        traces.append(
            _bars(name, _in(size, seconds), titles, {"color": colour}, across=True)
            | {
                "text": [f"{100 * each:.1f}%" if each > 0.03 else "" for each in shares],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "hovertext": [_hover(name, one, each) for one, each in zip(seconds, shares, strict=True)],
            }
        )
    height = 95 + 60 * len(outlooks)
    layout = _stacked({"ticksuffix": f" {unit}"}, {"autorange": "reversed", "automargin": True}, height)
    layout["uniformtext"] = {"minsize": 11, "mode": "hide"}
    if len(outlooks) == 1:
        layout["yaxis"] |= {"showticklabels": False}
        layout["margin"] = {**FRAME["margin"], "l": 15}
    layout["margin"] = {**layout["margin"], "b": 50}
    return {"data": traces, "layout": layout}


def benefit(outlooks: Sequence[tuple[str, Outlook]], marks: Mapping[str, Any]) -> dict[str, Any] | None:
    """Time in which data move, by function: as measured, and as predicted (Rabenseifner and Adamidis, figure 1).

    Of what nobody knows, nothing stands in the columns of Rondo but how long it takes now, in grey; a column in which
    nothing is predicted is left out, and the figure with the last one.
    """
    columns: dict[str, dict[str, float | None]] = {}
    left: dict[str, float] = {}
    for title, found in outlooks:
        before = f"{title}: " if len(outlooks) > 1 else ""
        names = summary.grouped(found.profile, lambda line: line.function)
        for name, group in names.items():
            own = [each for each in found.predictions if each.line.function == name]
            by_rules, best = terminal.moving_with_rondo(found, own)
            columns.setdefault(f"{before}measured", {})[name] = group.moving
            for column, moving in ((f"{before}rondo run", by_rules), (f"{before}at best", best)):
                columns.setdefault(column, {})[name] = moving.known
                left[column] = left.get(column, 0.0) + moving.open
    columns = {
        name: each
        for name, each in columns.items()
        if name not in left or any(one is not None for one in each.values())
    }
    largest = max((sum(filter(None, each.values())) for each in columns.values()), default=0.0)
    if largest <= 0 or not left.keys() & columns.keys():
        return None
    size, unit = style.unit_of(largest)
    traces = [
        _bars(shown_name(name, marks), _in(size, (each.get(name) for each in columns.values())), list(columns), mark)
        | {"hovertext": [_hover(name, each.get(name)) for each in columns.values()]}
        for name, mark in marks.items()
        if any(each.get(name) for each in columns.values())
    ]
    if any(left.values()):
        seconds = [left.get(each) or None for each in columns]
        mark = {"color": UNSPLIT, "pattern": {"shape": "/", "fgcolor": "#ffffff", "fillmode": "overlay"}}
        traces.append(
            _bars(NOT_PREDICTED, _in(size, seconds), list(columns), mark)
            | {"hovertext": [f"{_hover(NOT_PREDICTED, each)} now" for each in seconds]}
        )
    return {
        "data": _one_entry_each(traces),
        "layout": _stacked({"automargin": True}, {"title": {"text": f"moving data ({unit})"}}),
    }


def waiting(found: Outlook) -> dict[str, Any] | None:
    """Waiting and moving of each function."""
    groups = dict(list(summary.grouped(found.profile, lambda line: line.function).items())[:MOST_NAMES])
    if not groups:
        return None
    size, unit = style.unit_of(max(each.seconds for each in groups.values()))
    parts = {
        "waiting": ([each.waiting for each in groups.values()], WAITING),
        "moving data": ([each.moving for each in groups.values()], MOVING),
        "in MPI_Wait": ([each.completing for each in groups.values()], COMPLETING),
        "not compared": ([each.unsplit for each in groups.values()], UNSPLIT),
    }
    names = [each.removeprefix("MPI_") for each in groups]
    traces = [
        _bars(part, _in(size, seconds), names, {"color": colour}, across=True)
        | {"hovertext": [_hover(part, each, found.times.share(each or 0.0)) for each in seconds]}
        for part, (seconds, colour) in parts.items()
        if any(found.times.share(each or 0.0) > 1e-6 for each in seconds)
    ]
    layout = _stacked({"title": {"text": f"mean of the ranks ({unit})"}}, {"autorange": "reversed", "automargin": True})
    return {"data": traces, "layout": layout}


def sizes(found: Outlook, marks: Mapping[str, Any], *, by_calls: bool) -> dict[str, Any] | None:
    """A histogram over the lengths of vectors: of the time in which data move, or of calls."""
    lines = [each for each in found.profile.lines if each.calls > 0]
    if not lines:
        return None
    classes = sorted({class_of(each) for each in lines})
    everywhere = list(range(classes[0], classes[-1] + 1))
    heights: dict[str, dict[int, float]] = {}
    for each in lines:
        value = float(each.calls) if by_calls else summary.total(found.profile, [each]).moving or 0.0
        of_name = heights.setdefault(each.function, {})
        of_name[class_of(each)] = of_name.get(class_of(each), 0.0) + value
    size, title = 1.0, "calls"
    if not by_calls:
        largest = max(sum(each.get(one, 0.0) for each in heights.values()) for one in classes)
        if largest <= 0:  # no call was compared
            return None
        size, unit = style.unit_of(largest)
        title = f"moving data ({unit})"
    labels = [class_text(each) for each in everywhere]
    traces = [
        _bars(shown_name(name, marks), [heights[name].get(each, 0.0) / size for each in everywhere], labels, mark)
        | {
            "hovertext": [
                f"<b>{name}</b>, {label}<br>" + (f"{value:.0f} calls" if by_calls else style.time_text(value))
                for label, value in zip(labels, (heights[name].get(each, 0.0) for each in everywhere), strict=True)
            ]
        }
        for name, mark in marks.items()
        if name in heights
    ]
    axis = {"title": {"text": "vector (bytes)"}, "tickangle": -45, "automargin": True, "type": "category"}
    layout = _stacked(axis, {"title": {"text": title}})
    layout["margin"] = {**FRAME["margin"], "b": 90}
    return {"data": _one_entry_each(traces), "layout": layout}


def class_of(line: Line) -> int:
    """The power of two that the mean vector of a line reaches; 0 for up to one byte, -1 for none."""
    mean = line.bytes / max(line.calls, 1)
    return max(math.floor(math.log2(mean)), 0) if mean > 0 else -1


def class_text(exponent: int) -> str:
    """The shortest vectors of a class."""
    return "none" if exponent < 0 else style.bytes_text(1 << exponent)


def ranks(found: Outlook) -> dict[str, Any]:
    """Where the time of each rank goes."""
    times = summary.of_ranks(found.profile)
    size, unit = style.unit_of(max((each.run for each in times), default=0.0))
    parts = {
        "computing": ([each.computing for each in times], COMPUTING),
        "other MPI": ([each.other for each in times], OTHER),
        "waiting": ([each.waiting for each in times], WAITING),
        "moving data": ([each.moving for each in times], MOVING),
        "in MPI_Wait": ([each.completing for each in times], COMPLETING),
        "not compared": ([each.unsplit for each in times], UNSPLIT),
    }
    numbers = list(range(len(times)))
    hosts = [_host(found, each) for each in numbers]
    traces = [
        _bars(part, [each / size for each in seconds], numbers, {"color": colour, "line": {"width": 0}})
        | {
            "hovertext": [
                f"<b>rank {rank}</b> ({host})<br>{part} {style.time_text(each)}"
                for rank, host, each in zip(numbers, hosts, seconds, strict=True)
            ]
        }
        for part, (seconds, colour) in parts.items()
        if any(found.times.share(each) > 1e-6 for each in seconds)
    ]
    layout = _stacked({"title": {"text": "rank"}}, {"title": {"text": f"time ({unit})"}})
    layout["bargap"] = 0.1 if len(times) <= 64 else 0
    layout["xaxis"] |= {"tickformat": "d"}
    if len(times) <= 16:
        layout["xaxis"] |= {"dtick": 1}
    return {"data": traces, "layout": layout}


def predictions(found: Outlook) -> dict[str, Any] | None:
    """What calls would take, over what they were measured to take. None if nothing is predicted."""
    series = {
        "at best": [(each, each.best) for each in found.predictions if each.best is not None],
        "rondo run": [(each, each.rules) for each in found.predictions if each.rules is not None],
    }
    points = [(each.native, one.seconds.value) for some in series.values() for each, one in some if one is not None]
    if not points:
        return None
    low, high = min(min(each) for each in points) / 1.5, max(max(each) for each in points) * 1.5
    size, _ = style.axis_unit(low)
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": "as native",
            "x": [rounded(low / size), rounded(high / size)],
            "y": [rounded(low / size), rounded(high / size)],
            "line": {"color": "#000000", "width": 1.5},
            "hoverinfo": "skip",
        }
    ]
    marks = (
        {"color": style.COLOURS[2], "symbol": "diamond-open", "size": 14, "line": {"width": 2}},
        {"color": style.COLOURS[1], "symbol": "circle", "size": 8},
    )
    for (name, some), mark in zip(series.items(), marks, strict=True):
        if not some:
            continue
        estimates = [one.seconds for _, one in some if one is not None]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": name,
                "x": [rounded(each.native / size) for each, _ in some],
                "y": [rounded(each.value / size) for each in estimates],
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": [rounded((each.high - each.value) / size) for each in estimates],
                    "arrayminus": [rounded((each.value - each.low) / size) for each in estimates],
                    "thickness": 1.2,
                    "width": 3,
                },
                "marker": mark,
                "hovertext": [_hover_of_prediction(found, each, one.choice) for each, one in some if one is not None],
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        )
    range_ = [math.log10(low / size), math.log10(high / size)]
    axis = {
        **AXIS,
        "type": "log",
        "ticks": "outside",
        "range": range_,
        **ticks([(each, style.time_text(each * size)) for each, _ in style.log_ticks(low / size, high / size)]),
    }
    layout = {
        **FRAME,
        "xaxis": {**axis, "title": {"text": "a native call, measured"}, "automargin": True},
        "yaxis": {**axis, "title": {"text": "a call with Rondo, predicted"}, "automargin": True},
    }
    return {"data": traces, "layout": layout}


def _hover_of_prediction(found: Outlook, each: Prediction, choice: str) -> str:
    line = each.line
    where = summary.site_text(found.profile.sites[line.site])
    return (
        f"<b>{line.function}</b>, {style.bytes_text(round(line.bytes / max(line.calls, 1)))}, {line.calls} calls"
        f"<br>{where}<br>{choice}"
    )


def _in(size: float, seconds: Iterable[float | None]) -> list[float | None]:
    """Times in a unit of so many seconds."""
    return [each / size if each is not None else None for each in seconds]


def _hover(name: str, seconds: float | None, share: float | None = None) -> str:
    if seconds is None:
        return f"<b>{name}</b><br>nobody knows"
    return f"<b>{name}</b><br>{style.time_text(seconds)}" + (f", {100 * share:.1f}%" if share is not None else "")


def _host(found: Outlook, rank: int) -> str:
    node = found.profile.ranks[rank].node
    return found.profile.hosts[node] if node < len(found.profile.hosts) else f"node {node}"


def _bars(
    name: str, values: Sequence[float | None], places: Sequence[Any], mark: Mapping[str, Any], *, across: bool = False
) -> dict[str, Any]:
    """One part of stacked bars."""
    numbers = [rounded(each) if each is not None else None for each in values]
    return {
        "type": "bar",
        "name": name,
        "orientation": "h" if across else "v",
        "x": numbers if across else list(places),
        "y": list(places) if across else numbers,
        "marker": dict(mark),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "textangle": 0,
    }


def _one_entry_each(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Traces of one name share an entry of the legend."""
    seen: set[str] = set()
    for each in traces:
        each["legendgroup"] = each["name"]
        each["showlegend"] = each["name"] not in seen
        seen.add(each["name"])
    return traces


def _stacked(x: Mapping[str, Any], y: Mapping[str, Any], height: int = FRAME["height"]) -> dict[str, Any]:
    return {
        **FRAME,
        "legend": LEGEND,
        "barmode": "stack",
        "height": height,
        "xaxis": {**AXIS, **x},
        "yaxis": {**AXIS, **y},
    }
