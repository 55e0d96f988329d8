# SPDX-License-Identifier: BSD-3-Clause
"""Who computes, waits and is done when, in prefix sums of distributed arrays: a panel for each distribution."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rondo import optional
from rondo.distributions.prefix_sum import PrefixSum, Timeline
from rondo.drawing import canvas
from rondo.drawing.canvas import Sheet
from rondo.reports import style

MOST_ROWS = 24  # that are told apart; more become an area
ROW = 0.16  # inches of each of them
AREA = 1.5  # inches of more
GAP = 0.42
WIDTH = 6.4
PARTS = {
    "first pass": style.COLOURS[0],
    "scan: waits for its prefix": "#d9d9d9",
    "second pass": style.COLOURS[1],
    "done, waits for the others": "#ffffff",
}


def draw(
    title: tuple[str, str],
    timelines: Mapping[str, Timeline],
    subject: PrefixSum,
    unit: tuple[float, str] | None = None,
) -> Sheet:
    """The panels, one below the other, named as in the keys, on one scale of time.

    `unit`: of time, in seconds, with its name.
    """
    ranks = {name: len(each.counts) for name, each in timelines.items()}
    heights = {name: ROW * each if each <= MOST_ROWS else AREA for name, each in ranks.items()}
    sheet = Sheet(title, WIDTH, sum(heights.values()) + GAP * len(heights), left=0.55, bottom=0.45)
    end = max(each.seconds for each in timelines.values())
    size, name_of_unit = unit or style.unit_of(end)
    per_second = WIDTH / max(end, 1e-300)

    def x(seconds: float) -> float:
        return seconds * per_second

    top = 0.0
    for name, timeline in timelines.items():
        top += 0.3
        height = heights[name]
        fastest = f"{style.digits(timeline.seconds / size, 5)} {name_of_unit}"
        share = timeline.seconds / subject.computing(sum(timeline.counts)) - 1
        words = f"{name}: {fastest}, {100 * share:.3g}% longer than computing alone"
        sheet.text(0, top - 0.13, words, ha="left", fontweight="bold")
        _panel(sheet, timeline, top, height, x)
        sheet.line([x(timeline.seconds)] * 2, [top, top + height], color=canvas.INK, linewidth=0.8, zorder=5)
        top += height + GAP - 0.3
    locator = optional.module("matplotlib.ticker").MaxNLocator(7, steps=[1, 2, 5, 10])
    for tick in locator.tick_values(0, end / size):
        if 0 <= tick <= end / size * 1.0001:
            sheet.line([x(tick * size)] * 2, [0.3, top - GAP + 0.3], color=canvas.PALE, zorder=0)
            sheet.text(x(tick * size), top - GAP + 0.4, style.digits(tick, 5))
    sheet.text(WIDTH / 2, top - GAP + 0.55, f"time ({name_of_unit})")
    patches = optional.module("matplotlib.patches")
    sheet.legend(
        {name: patches.Patch(facecolor=colour, edgecolor=canvas.FAINT, linewidth=0.4) for name, colour in PARTS.items()}
    )
    return sheet


def _panel(sheet: Sheet, timeline: Timeline, top: float, height: float, x: Callable[[float], float]) -> None:
    """A row per rank, or an area where there are many: rank 0 on top."""
    ranks = len(timeline.counts)
    row = height / ranks
    bounds = [0.0] * ranks
    ends = [
        [time.ready for time in timeline.times],
        [time.prefix for time in timeline.times],
        [time.end for time in timeline.times],
        [timeline.seconds] * ranks,
    ]
    gap = 0.12 * row if ranks <= MOST_ROWS else 0.0
    for colour, until in zip(PARTS.values(), ends, strict=True):
        ys, left, right = [], [], []
        for rank in range(ranks):
            place = top + rank * row
            ys += [place + gap, place + row - gap]
            left += [x(min(bounds[rank], timeline.seconds))] * 2
            right += [x(min(until[rank], timeline.seconds))] * 2
            if gap:
                sheet.axes.fill_betweenx(ys[-2:], left[-2:], right[-2:], color=colour, linewidth=0, zorder=2)
        if not gap:
            sheet.axes.fill_betweenx(ys, left, right, color=colour, linewidth=0, zorder=2)
        bounds = until
    every = max(1, -(-ranks // 6)) if ranks > 1 else 1
    for rank in [*range(0, ranks, every)]:
        sheet.text(-0.07, top + (rank + 0.5) * row, str(rank), ha="right", fontsize=canvas.TINY)
    sheet.text(-0.38, top + height / 2, "rank", rotation=90)
    sheet.line([0, x(timeline.seconds)], [top, top], zorder=3)
    sheet.line([0, x(timeline.seconds)], [top + height, top + height], zorder=3)
