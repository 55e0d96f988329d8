# SPDX-License-Identifier: BSD-3-Clause
"""What rules choose where, as a picture: a panel for each collective, ranks across and bytes upwards."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rondo import _core, optional
from rondo.bench.results import NATIVE
from rondo.errors import Error
from rondo.reports import figures, style
from rondo.reports.map_figures import HATCHES, NATIVE_COLOUR
from rondo.selection.inspection import Row

FORMATS = figures.FORMATS
COLUMNS = 2
BEYOND = 4  # times the last bound is shown, on both axes
LEAST_RANKS, LEAST_BYTES = 64, 1 << 20  # that are shown
RANK_TICKS, BYTE_TICKS = 8, 7  # at most


@dataclass(frozen=True)
class Area:
    """Calls with the same choice; ranks and bytes from one end up to, but without, the other."""

    ranks: tuple[int, int]
    bytes: tuple[int, int]
    choice: str
    """Without what is standard."""


def areas(collective: str, rows: Sequence[Row]) -> list[Area]:
    """A picture's worth of the plane, without a gap: all bounds of the rules, and what lies just beyond."""
    bounds = [region.highest + 1 for row in rows for region in row.regions if region.highest is not None]
    most_bytes = max([BEYOND * each for each in bounds] + [LEAST_BYTES])
    most_ranks = max(BEYOND * rows[-1].fewest, LEAST_RANKS)
    starts = [each.fewest for each in rows] + [most_ranks]
    found = []
    for row, (fewest, beyond) in zip(rows, itertools.pairwise(starts), strict=True):
        for each in row.regions:
            end = most_bytes if each.highest is None else each.highest + 1
            if end > 1:  # logarithms know no 0
                found.append(Area((fewest, beyond), (max(each.lowest, 1), end), _short(collective, each.choice)))
    return found


def draw(tables: Mapping[str, Sequence[Row]], title: str, output: Path) -> None:
    """Writes a figure with a panel for each of these collectives. Error if it cannot be written."""
    matplotlib = optional.module("matplotlib")
    plane = {name: areas(name, rows) for name, rows in tables.items()}
    fills = _fills(plane)
    lines = -(-len(plane) // COLUMNS)
    with matplotlib.rc_context(figures.SETTINGS):
        size = (figures.WIDTH * min(COLUMNS, len(plane)), (figures.HEIGHT + 0.4) * lines + 0.3)
        figure = optional.module("matplotlib.figure").Figure(figsize=size, layout="constrained")
        figure.suptitle(title, fontsize=8)
        panels = figure.subplots(lines, min(COLUMNS, len(plane)), squeeze=False).flatten()
        for axes, (name, found) in itertools.zip_longest(panels, plane.items(), fillvalue=("", [])):
            _draw_panel(axes, name, found, fills) if found else axes.axis("off")
        try:
            figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)
        except OSError as error:
            raise Error(f"cannot write {output}: {error.strerror or error}") from None


def _fills(plane: Mapping[str, Sequence[Area]]) -> dict[str, tuple[str, str]]:
    """Colour and hatch of each choice, the same in all panels; who is there most often has no hatch."""
    choices = [each.choice for found in plane.values() for each in found if each.choice != NATIVE]
    ordered = sorted(set(choices), key=lambda each: (-choices.count(each), each))
    fills = {NATIVE: (NATIVE_COLOUR, "")}
    for place, choice in enumerate(ordered):
        hatch = HATCHES[place // len(style.COLOURS) % len(HATCHES)]
        fills[choice] = (style.COLOURS[place % len(style.COLOURS)], hatch)
    return fills


def _draw_panel(axes: Any, collective: str, found: Sequence[Area], fills: Mapping[str, tuple[str, str]]) -> None:
    patches = optional.module("matplotlib.patches")
    for each in found:
        (left, right), (bottom, top) = ([math.log2(end) for end in ends] for ends in (each.ranks, each.bytes))
        colour, hatch = fills[each.choice]
        area = patches.Rectangle(
            (left, bottom), right - left, top - bottom, facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0.6
        )
        area.set_gid(f"{collective}-{each.choice}-{each.ranks[0]}-{each.bytes[0]}")
        axes.add_patch(area)
    most_ranks, most_bytes = max(each.ranks[1] for each in found), max(each.bytes[1] for each in found)
    least_ranks = min(each.ranks[0] for each in found)
    axes.set_xlim(math.log2(least_ranks), math.log2(most_ranks))
    axes.set_ylim(0, math.log2(most_bytes))
    _set_ticks(axes.xaxis, least_ranks, most_ranks, RANK_TICKS, str)
    _set_ticks(axes.yaxis, 1, most_bytes, BYTE_TICKS, style.bytes_text)
    axes.set_title(collective, fontsize=8)
    axes.set_xlabel("ranks")
    shown = sorted({each.choice for each in found}, key=lambda each: list(fills).index(each))
    handles = [patches.Patch(facecolor=fills[each][0], hatch=fills[each][1], edgecolor="white") for each in shown]
    axes.legend(
        handles,
        shown,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
        ncols=2,
        fontsize=6,
        frameon=False,
    )


def _set_ticks(axis: Any, least: int, most: int, at_most: int, text: Any) -> None:
    """At powers of two."""
    powers = range(math.ceil(math.log2(least)), math.floor(math.log2(most)) + 1)
    chosen = powers[:: -(-len(powers) // at_most)]
    axis.set_ticks(list(chosen), [text(2**each) for each in chosen])


def _short(collective: str, choice: str) -> str:
    """A choice without what is standard."""
    if choice == NATIVE:
        return choice
    name, _, settings = choice.partition(":")
    usual = _core.check_choice(collective, name).partition(":")[2].split(",")
    return ":".join(filter(None, [name, ",".join(each for each in settings.split(",") if each not in usual)]))
