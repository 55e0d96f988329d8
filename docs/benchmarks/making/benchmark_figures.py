# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of figures of docs/benchmarks: each takes a page, its name, and the name of an experiment.

Or, where nothing was measured, of a file of data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import matplotlib
import virtual_prefix
from computed_tables import speed_ups
from measurements import DATA
from rondo.bench.maps import Question, draw_up
from rondo.bench.pages import Page, Run
from rondo.bench.plans import TYPES
from rondo.bench.results import NATIVE
from rondo.bench.statistics import LEAST_FOR_INTERVAL
from rondo.drawing import canvas, gantt
from rondo.reports import figures, map_figures, sections, style
from rondo.reports.sections import Source
from rondo.reports.style import Style
from table_parts import by_label, labels, minimum, results_of, vector_text

FIGURES = DATA.parent / "figures"


def draw(page: Page, name: str) -> None:
    """All figures of a page."""
    for figure in page.figure:
        for each in figure.experiments:
            KINDS[figure.kind](page, name, each)


def report(page: Page, name: str, experiment: str) -> None:
    """As `rondo report` draws them, in a folder for each library."""
    del name
    for run in page.runs_of(experiment):
        source = Source(Path(run.file), results_of(run))
        figures.draw(source.sections, FIGURES / run.library, ["png"], "minimum")


def bandwidth(page: Page, name: str, experiment: str) -> None:
    """Vector length over time of the slowest rank, as figures 5 to 9 of [sanders2009two]."""
    del name
    for run in page.runs_of(experiment):
        _bandwidth(run)


def _bandwidth(run: Run) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    results = results_of(run)
    counts = [each for each in run.counts if each >= 128]
    sizes = [TYPES[run.experiment.type] * count for count in counts]
    with pyplot.rc_context(figures.SETTINGS):
        pictured, axes = pyplot.subplots(figsize=(4.8, 3.2))
        for place, label in enumerate(labels(run)):
            found = [by_label(results, count)[label] for count in counts]
            rates = [1e-3 * size / minimum(each) for size, each in zip(sizes, found, strict=True)]
            look = Style("#000000", "circle")
            if label != NATIVE:
                colour = style.COLOURS[(place - 1) % len(style.COLOURS)]
                look = Style(colour, style.MARKERS[(place - 1) % len(style.MARKERS)])
            marker, size = figures.MARKERS[look.marker]
            certain = [len(each.seconds()) >= LEAST_FOR_INTERVAL for each in found]
            line = {"color": look.colour, "marker": marker, "markersize": size, "linewidth": 1}
            axes.plot(sizes, rates, label=label, markevery=certain, **line)
            figures.mark_uncertain(axes, sizes, rates, certain, look)
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        axes.set_xticks(sizes, [vector_text(run, count) for count in counts])
        axes.set_xlabel("vector")
        axes.set_ylabel("MB/s")
        entries = figures.legend_entries(axes)
        axes.legend(entries.values(), entries.keys(), fontsize="small")
        library = sections.library_text(results.environment)
        axes.set_title(f"MPI_{run.collective.capitalize()}, {library}, {run.cluster}")
        path = FIGURES / Path(run.file).with_suffix(".png")
        path.parent.mkdir(parents=True, exist_ok=True)
        pictured.tight_layout()
        pictured.savefig(path, dpi=160)
        pyplot.close(pictured)


def fastest(page: Page, name: str, experiment: str) -> None:
    """As `rondo bench --map` draws them: who is the fastest where, and bandwidth for the longest vectors."""
    runs = page.runs_of(experiment)
    first = runs[0]
    question = Question(
        first.collective, labels(first), first.experiment.counts, first.experiment.type, first.experiment.operator,
        "clock", first.experiment.cluster.format(p="N"), "", first.library,
    )  # fmt: skip
    found = draw_up(question, {each.processes: results_of(each) for each in runs})
    with tempfile.TemporaryDirectory() as directory:
        map_figures.draw(found, Path(directory), max(found.counts))
        for each in ("fastest", "bandwidth"):
            source = Path(directory) / f"{each}.png"
            (FIGURES / f"{name}-{each}-{experiment}.png").write_bytes(source.read_bytes())


def lanes(page: Page, name: str, file: str) -> None:
    """What k lanes give over the rate inside the node: a row for each collective, a column for each algorithm."""
    del page
    found = speed_ups(file)
    collectives, families = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    most = max(key[2] for key in found)
    matplotlib.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    with pyplot.rc_context(figures.SETTINGS):
        shape = (len(collectives), len(families))
        size = (2.2 * shape[1], 1.9 * shape[0])
        pictured, grid = pyplot.subplots(*shape, figsize=size, sharex=True, sharey=True, squeeze=False)
        for (collective, family, count), times in found.items():
            axes = grid[collectives.index(collective)][families.index(family)]
            place = sorted({key[2] for key in found}).index(count)
            marker, size_of_marker = figures.MARKERS[style.MARKERS[place]]
            axes.plot(
                list(times), list(times.values()), label=f"k = {count}", color=style.COLOURS[place], marker=marker,
                markersize=size_of_marker, linewidth=1,
            )  # fmt: skip
            axes.axhline(count, color=style.COLOURS[place], linewidth=0.6, linestyle=":")
            axes.set_title(f"{collective}/{family}")
            ratios = list(times)
        for axes in grid.flat:
            axes.set_xscale("log", base=2)
            axes.set_yscale("log", base=2)
            axes.set_ylim(0.3, 1.2 * most)
            axes.set_xticks(ratios[::2], [f"{each:g}" for each in ratios[::2]])
            axes.set_yticks([0.5, 1, 2, 4, 8], ["1/2", "1", "2", "4", "8"])
            axes.grid(color="#e4e4e4", linewidth=0.5)
        for axes in grid[-1]:
            axes.set_xlabel("rate in the node / rate of a lane")
        for row in grid:
            row[0].set_ylabel("times as fast as one lane")
        grid[0][0].legend(fontsize="small")
        pictured.tight_layout()
        pictured.savefig(FIGURES / f"{name}-{Path(file).stem}.png", dpi=160)
        pyplot.close(pictured)


def distributions(page: Page, name: str, scan: str) -> None:
    """Who computes and who waits when, in the short case: a panel for each distribution."""
    del page
    matplotlib.use("Agg")
    case = virtual_prefix.CASES["short"]
    panels = {how: virtual_prefix.timeline(case, scan, how) for how in ("even", "ladder", "tent", "best")}
    title = (
        f"Prefix sum of {case.elements:,} elements on {virtual_prefix.RANKS} ranks, {scan}",
        f"virtual time, in additions; a message takes {virtual_prefix.MESSAGE:,}",
    )
    with matplotlib.rc_context(canvas.SETTINGS):
        sheet = gantt.draw(title, panels, case.prefix_sum(), (1e6, "million additions"))
        sheet.save(FIGURES / f"{name}-{scan}.png")


KINDS: dict[str, Callable[[Page, str, str], None]] = {
    "report": report,
    "bandwidth": bandwidth,
    "map": fastest,
    "lanes": lanes,
    "distributions": distributions,
}
