# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a map: who is the fastest where, and bandwidth over processes.

Figures 4 and 5 of Rabenseifner and Adamidis, Collective Reduction Operation on Cray X1 and Other Platforms, CUG 2004.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rondo import optional
from rondo.bench.maps import Cell, Map
from rondo.bench.results import NATIVE
from rondo.bench.statistics import LEAST_FOR_INTERVAL
from rondo.errors import Error
from rondo.reports import figures, style

FORMATS = ("png", "svg")
NATIVE_COLOUR = "#d9d9d9"  # black would hide the numbers
HATCHES = ("", "////", "....", "xxxx", "----", "oooo")
FADED = 0.45  # opacity where the native one cannot be told apart
FRAME = 0.12  # of a cell: what is coloured of one that is undecided
UNDECIDED = "hollow: undecided, smallest median"
NO_NATIVE = ("?", "native without a valid repetition")
NOTHING = ("-", "nothing valid")
CELL_WIDTH, CELL_HEIGHT = 0.36, 0.26  # inches
MOST_TICKS = 20


def draw(found: Map, directory: Path, bandwidth_count: int) -> list[Path]:
    """Writes fastest.* and bandwidth.* and says what it wrote. The latter is for vectors of so many elements."""
    matplotlib = optional.module("matplotlib")
    looks = looks_of(found)
    written = []
    try:
        with matplotlib.rc_context(figures.SETTINGS):
            drawn = {"fastest": _fastest(found, looks), "bandwidth": _bandwidth(found, bandwidth_count, looks)}
            for name, figure in drawn.items():
                for each in FORMATS:
                    path = directory / f"{name}.{each}"
                    figure.savefig(path, metadata={"Date": None} if each == "svg" else None)
                    written.append(path)
    except OSError as error:
        raise Error(f"cannot write figures to {directory}: {error.strerror or error}") from None
    return written


@dataclass(frozen=True)
class Look:
    """Of a candidate, in both figures."""

    colour: str
    """Of its line."""
    fill: str
    """Of its cells."""
    hatch: str
    marker: str


def looks_of(found: Map) -> dict[str, Look]:
    """A look for each candidate. Those that win most get the colours; who comes later, colours again with hatches."""
    winners = [each for each in found.winners if each != NATIVE]
    labels = {label for each in found.cells for label in each.seconds} - {NATIVE}
    looks = {NATIVE: Look("#000000", NATIVE_COLOUR, "", "circle")}
    for place, label in enumerate([*winners, *sorted(labels - set(winners))]):
        colour = style.COLOURS[place % len(style.COLOURS)]
        hatch = HATCHES[place // len(style.COLOURS) % len(HATCHES)]
        looks[label] = Look(colour, colour, hatch, style.MARKERS[place % len(style.MARKERS)])
    return looks


def _fastest(found: Map, looks: Mapping[str, Look]) -> Any:
    """A cell for each number of processes and length, in the colour of the fastest, with its ratio to native."""
    processes, counts = found.processes, found.counts
    size = (1.2 + CELL_WIDTH * max(len(processes), 6), 1.2 + CELL_HEIGHT * max(len(counts), 3))
    figure = optional.module("matplotlib.figure").Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    for each in found.cells:
        _draw_cell(axes, each, processes.index(each.processes), counts.index(each.count), looks[each.fastest])
    known = {(each.processes, each.count) for each in found.cells}
    empty = [(p, count) for p in processes for count in counts if (p, count) not in known]
    for p, count in empty:
        _write(axes, processes.index(p), counts.index(count), NOTHING[0])
    axes.set_xlim(0, len(processes))
    axes.set_ylim(0, len(counts))
    step = math.ceil(len(processes) / MOST_TICKS / 2)
    axes.set_xticks([i + 0.5 for i in range(0, len(processes), step)], [str(each) for each in processes[::step]])
    axes.set_yticks(
        [i + 0.5 for i in range(len(counts))], [style.bytes_text(found.nominal_bytes(each)) for each in counts]
    )
    axes.tick_params(length=0)
    axes.set_xlabel("processes")
    axes.set_ylabel("vector")
    patch = optional.module("matplotlib.patches").Patch
    handles = [patch(facecolor=looks[each].fill, hatch=looks[each].hatch, edgecolor="white") for each in found.winners]
    names = list(found.winners)
    if any(_is_faded(each) for each in found.cells):
        handles.append(patch(facecolor="#888888", alpha=FADED))
        names.append("paler: not proven faster than native")
    if any(each.undecided for each in found.cells):
        handles.append(patch(facecolor="white", edgecolor="#888888", linewidth=1.5))
        names.append(UNDECIDED)
    sign = optional.module("matplotlib.lines").Line2D
    signs = {NO_NATIVE: any(math.isnan(each.ratio) for each in found.cells), NOTHING: bool(empty)}
    for mark, name in [each for each, is_there in signs.items() if is_there]:
        handles.append(sign([], [], linestyle="", marker=f"${mark}$", color="black", markersize=4))
        names.append(name)
    axes.set_title(_title(found, "smallest median / native's"), fontsize=8)
    figures.set_legend(figure, dict(zip(names, handles, strict=True)), "outside lower center")
    return figure


def _draw_cell(axes: Any, cell: Cell, x: int, y: int, look: Look) -> None:
    rectangle = optional.module("matplotlib.patches").Rectangle
    alpha = FADED if _is_faded(cell) else 1.0
    axes.add_patch(
        rectangle((x, y), 1, 1, facecolor=look.fill, alpha=alpha, hatch=look.hatch, edgecolor="white", linewidth=0.6)
    )
    if cell.undecided:
        inside = 1 - 2 * FRAME
        axes.add_patch(rectangle((x + FRAME, y + FRAME), inside, inside, facecolor="white", linewidth=0))
    _write(axes, x, y, _ratio_text(cell.ratio))


def _write(axes: Any, x: int, y: int, words: str) -> None:
    outline = optional.module("matplotlib.patheffects").withStroke(linewidth=1.4, foreground="white")
    text = axes.text(x + 0.5, y + 0.5, words, ha="center", va="center", fontsize=6)
    text.set_path_effects([outline])


def _bandwidth(found: Map, count: int, looks: Mapping[str, Look]) -> Any:
    """Bytes of the vector over the median time, over processes: a line for each candidate."""
    figure = optional.module("matplotlib.figure").Figure(figsize=(figures.WIDTH, figures.HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.grid(color="#e4e4e4", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    chosen = [each for each in found.cells if each.count == count]
    labels = sorted({label for each in chosen for label in each.seconds}, key=lambda label: (label != NATIVE, label))
    for label in labels:
        cells = [each for each in chosen if label in each.seconds]
        x = [each.processes for each in cells]
        y = [each.bytes / each.seconds[label] / 1e6 for each in cells]
        certain = [each.valid[label] >= LEAST_FOR_INTERVAL for each in cells]
        look = style.Style(looks[label].colour, looks[label].marker)
        marker, size = figures.MARKERS[look.marker]
        axes.plot(
            x,
            y,
            label=label,
            markevery=certain,
            color=looks[label].colour,
            marker=marker,
            markersize=size * 0.8,
            markeredgewidth=0,
            linewidth=1.4 if label == NATIVE else 0.9,
            zorder=3 if label == NATIVE else 2,
        )
        figures.mark_uncertain(axes, x, y, certain, look)
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("processes")
    axes.set_ylabel("vector / time (MB/s)")
    axes.set_title(_title(found, style.bytes_text(found.nominal_bytes(count))), fontsize=8)
    figures.set_legend(figure, figures.legend_entries(axes), "outside lower center")
    return figure


def _title(found: Map, what: str) -> str:
    asked = found.question
    return f"{' '.join(filter(None, [asked.collective, asked.type, asked.operator]))}, {what}"


def _is_faded(cell: Cell) -> bool:
    return cell.native_tied and cell.fastest != NATIVE and not cell.undecided


def _ratio_text(ratio: float) -> str:
    if math.isnan(ratio):
        return NO_NATIVE[0]
    return "1" if ratio == 1 else f"{ratio:.2f}"
