# SPDX-License-Identifier: BSD-3-Clause
"""The same figures for papers: as wide as a column, with letters that can be read there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rondo import optional
from rondo.bench import statistics
from rondo.bench.results import NATIVE
from rondo.bench.statistics import Standing
from rondo.errors import Error
from rondo.reports import style
from rondo.reports.sections import Section, Series, figure_names, styles
from rondo.reports.style import Style

FORMATS = ("png", "svg", "pdf")
LINES = ("median", "minimum")
WIDTH, HEIGHT = 3.5, 2.7  # inches; a column of the IEEE's
# Columns, and size of letters: the first that is not wider than the figure, else the last.
LEGENDS = ((3, 7), (2, 7), (2, 6), (1, 7), (1, 6), (1, 5), (1, 4))
SETTINGS = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#444444",
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.2,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "figure.dpi": 300,
    "savefig.dpi": 300,
    "svg.hashsalt": "rondo",  # the same file for the same numbers
    "pdf.fonttype": 42,  # fonts that publishers take
}
MARKERS = {
    "circle": ("o", 3.4),
    "square": ("s", 3.2),
    "triangle-up": ("^", 3.8),
    "diamond": ("D", 3.0),
    "triangle-down": ("v", 3.8),
    "cross": ("P", 4.0),
    "x": ("X", 4.0),
    "star": ("*", 5.2),
}
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}


def draw(sections: Sequence[Section], directory: Path, formats: Iterable[str], line: str) -> list[Path]:
    """Writes NAME-time and NAME-ratio for each section in each format, and says what it wrote."""
    matplotlib = optional.module("matplotlib")
    looks = styles(sections)
    written = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(SETTINGS):
            for section, name in zip(sections, figure_names(sections), strict=True):
                for kind, figure in (("time", _times(section, looks, line)), ("ratio", _ratios(section, looks))):
                    for each in formats if figure is not None else ():
                        path = directory / f"{name}-{kind}.{each}"
                        date = {"svg": "Date", "pdf": "CreationDate"}.get(each)
                        figure.savefig(path, metadata={date: None} if date else None)
                        written.append(path)
    except OSError as error:
        raise Error(f"cannot write figures to {directory}: {error.strerror or error}") from None
    return written


def _times(section: Section, looks: Mapping[str, Style], line: str) -> Any:
    """Time over bytes: a line, and the range of the repetitions around it. None if there is nothing to draw."""
    shown = [each for each in section.series if each.measured]
    if not shown:
        return None
    low = min(point.summary.minimum for each in shown for point in each.measured)
    scale, unit = style.axis_unit(low)
    figure, axes = _empty()
    for each in shown:
        points = each.measured
        x = [point.configuration.bytes for point in points]
        least, most = ([getattr(point.summary, end) / scale for point in points] for end in ("minimum", "maximum"))
        axes.fill_between(x, least, most, color=looks[each.algorithm].colour, alpha=0.15, linewidth=0)
        y = [getattr(point.summary, line) / scale for point in points]
        certain = [point.summary.certain for point in points]
        axes.plot(x, y, markevery=certain, **_line(each, looks))
        mark_uncertain(axes, x, y, certain, looks[each.algorithm])
        _mark_wrong(axes, [(point, getattr(point.summary, line) / scale) for point in points])
    _finish(figure, axes, section, shown, f"{line} time ({unit})")
    return figure


def _ratios(section: Section, looks: Mapping[str, Style]) -> Any:
    """Medians relative to the native one's, with intervals. None if there is nothing to compare."""
    compared = [each for each in section.series if each.algorithm != NATIVE]
    shown = [each for each in compared if any(point.ratio is not None for point in each.measured)]
    if not shown:
        return None
    figure, axes = _empty()
    edge = 1 + statistics.SMALLEST_DIFFERENCE
    axes.axhspan(1 / edge, edge, color="#dddddd", linewidth=0, zorder=0)
    axes.axhline(1, color="black", linewidth=1, zorder=1)
    for each in shown:
        points = [(point, point.ratio) for point in each.measured if point.ratio is not None]
        values = [ratio.value for _, ratio in points]
        # No bar where one repetition gives no interval (NaN), or where rounding makes one negative.
        below = [max(0.0, ratio.value - ratio.low) for _, ratio in points]
        above = [max(0.0, ratio.high - ratio.value) for _, ratio in points]
        x = [point.configuration.bytes for point, _ in points]
        certain = [ratio.certain for _, ratio in points]
        bars = {"yerr": [below, above], "elinewidth": 0.7, "capsize": 1.5, "capthick": 0.7}
        axes.errorbar(x, values, **bars, markevery=certain, **_line(each, looks))
        mark_uncertain(axes, x, values, certain, looks[each.algorithm])
        _mark_wrong(axes, [(point, ratio.value) for point, ratio in points])
    _finish(figure, axes, section, shown, "median time / native's")
    return figure


def _empty() -> tuple[Any, Any]:
    figure = optional.module("matplotlib.figure").Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _line(series: Series, looks: Mapping[str, Style]) -> dict[str, Any]:
    look = looks[series.algorithm]
    marker, size = MARKERS[look.marker]
    return {
        "label": series.label,
        "color": look.colour,
        "linewidth": 1.4 if series.algorithm == NATIVE else 1.1,
        "linestyle": DASHES[style.DASHES[series.variant % len(style.DASHES)]],
        "marker": marker,
        "markersize": size,
        "markeredgewidth": 0,
    }


def mark_uncertain(axes: Any, x: Sequence[float], y: Sequence[float], certain: Sequence[bool], look: Style) -> None:
    """Hollow markers where there are too few repetitions for an interval."""
    marker, size = MARKERS[look.marker]
    points = [point for point, sure in zip(zip(x, y, strict=True), certain, strict=True) if not sure]
    if points:
        edge = {"markerfacecolor": "white", "markeredgecolor": look.colour, "markeredgewidth": 0.8}
        axes.plot(*zip(*points, strict=True), linestyle="", marker=marker, markersize=size, **edge)
        axes.plot([], [], "o", markersize=3.4, label=style.HOLLOW, **{**edge, "markeredgecolor": "#666666"})


def _mark_wrong(axes: Any, points: Sequence[tuple[Standing, float]]) -> None:
    wrong = [(point.configuration.bytes, height) for point, height in points if point.configuration.wrong()]
    if wrong:
        axes.plot(*zip(*wrong, strict=True), "x", color=style.ALARM, markersize=7, zorder=5, label="wrong result")


def _finish(figure: Any, axes: Any, section: Section, shown: Sequence[Series], y_label: str) -> None:
    lengths = [point.configuration.bytes for each in shown for point in each.measured]
    _set_ticks(axes.xaxis, style.byte_ticks(min(lengths), max(lengths), most=7))
    _set_ticks(axes.yaxis, style.log_ticks(*axes.get_ylim()))
    axes.set_xlabel("vector on each rank (bytes)")
    axes.set_ylabel(y_label)
    axes.set_title(section.headline, fontsize=8)
    set_legend(figure, legend_entries(axes))


def legend_entries(axes: Any) -> dict[str, Any]:
    """What there is to explain, with its handles: candidates first."""
    handles, labels = axes.get_legend_handles_labels()
    # Of an error bar only the line; of several marks for wrong results or without interval one.
    entries = {label: getattr(each, "lines", [each])[0] for label, each in zip(labels, handles, strict=True)}
    return dict(sorted(entries.items(), key=lambda each: each[0] == style.HOLLOW))


def set_legend(figure: Any, entries: Mapping[str, Any], where: str = "outside upper center") -> None:
    """Explains the handles outside of the axes, with letters as large as the width allows."""
    for columns, size in LEGENDS:
        legend = figure.legend(
            entries.values(),
            entries.keys(),
            loc=where,
            ncols=columns,
            fontsize=size,
            frameon=False,
        )
        if (columns, size) == LEGENDS[-1] or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def _set_ticks(axis: Any, ticks: list[tuple[float, str]]) -> None:
    axis.set_ticks([each for each, _ in ticks], [text for _, text in ticks])
    axis.set_ticks([], minor=True)
