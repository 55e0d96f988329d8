# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that no `rondo bench` measured."""

from __future__ import annotations

import csv
import itertools
import statistics
from collections.abc import Callable, Mapping

from measurements import DATA
from rondo.bench.pages import Page
from rondo.bench.results import NATIVE
from rondo.launching.mpi_library import NAMES
from rondo.reports.style import bytes_text
from table_parts import family, markdown, quoted

GUARDED_WAYS = ("not guarded", "first run", "next run")
"""As guard.py and calls_in_row.py name them."""


def records(file: str) -> list[dict[str, str]]:
    """The lines of a table in the folder of data that no `rondo bench` made."""
    with (DATA / file).open(newline="") as lines:
        return list(csv.DictReader(lines))


def speed_ups(file: str) -> dict[tuple[str, str, int], dict[float, float]]:
    """One lane's time over that of k lanes, by ratio; for each collective, algorithm and k."""
    times: dict[tuple[str, str, int], dict[float, float]] = {}
    for each in records(file):
        key = (each["collective"], family(each["candidate"]), int(each["lanes"]))
        times.setdefault(key, {})[float(each["ratio"])] = float(each["seconds"])
    return {
        key: {ratio: times[(*key[:2], 1)][ratio] / seconds for ratio, seconds in found.items()}
        for key, found in times.items()
    }


def wanted_of_native(collective: str, bytes_: int) -> float:
    """The most that two ranks of a node shall take, of the faster library's time."""
    short = 64 << 10
    if collective == "bcast":
        return 0.9 if bytes_ <= short else 0.75
    return 0.7 if collective in ("allreduce", "barrier") else 0.8


BY_HAND = "by_hand"  # not a collective of a library


def one_node(page: Page, file: str, start: str = "together", names: dict[str, str] | None = None) -> str:
    """Two ranks of a node: each library natively and under Rondo, in microseconds.

    `start`: "together", or "row" for calls that follow one another. `names`: of libraries that have none in NAMES.
    """
    del page
    cells: dict[tuple[str, int], dict[tuple[str, str], float]] = {}
    for each in records(file):
        if each["start"] != start or each["collective"] == BY_HAND:
            continue
        cell = cells.setdefault((each["collective"], int(each["bytes"])), {})
        cell[each["library"], each["way"]] = float(each["microseconds"])
    libraries = list(dict.fromkeys(library for cell in cells.values() for library, _ in cell))
    shown_as = NAMES | (names or {})
    heads = [f"{shown_as[library]}{way}" for library in libraries for way in ("", ", Rondo")]
    shown = [["collective", "bytes", *heads, "of native", "wanted"]]
    for (collective, bytes_), cell in cells.items():
        times = [cell[library, way] for library in libraries for way in ("native", "rondo")]
        ratio = min(cell[library, "rondo"] for library in libraries) / min(cell[each, "native"] for each in libraries)
        wanted = wanted_of_native(collective, bytes_)
        figure = f"{ratio:.2f}" if ratio <= wanted else f"**{ratio:.2f}**"
        size = bytes_text(bytes_) if bytes_ else ""
        shown.append(
            [
                collective,
                size,
                *(f"{each:.0f}" if each >= 100 else f"{each:.3g}" for each in times),
                figure,
                f"{wanted:g}",
            ]
        )
    return markdown(shown)


Ratios = dict[tuple[str, str], dict[tuple[int, int, str], float]]  # (library, collective): (ranks, bytes, start)


def _of_native_by_rules(file: str) -> Ratios:
    """What the rules take as a part of native's time, as whole_node.py measured it."""
    times: dict[tuple[str, str], dict[tuple[int, int, str], dict[str, float]]] = {}
    for each in records(file):
        cell = int(each["ranks"]), int(each["bytes"]), each["start"]
        cells = times.setdefault((each["library"], each["collective"]), {})
        cells.setdefault(cell, {})[each["choice"]] = float(each["microseconds"])
    return {
        subject: {cell: found["rules"] / found[NATIVE] for cell, found in cells.items()}
        for subject, cells in times.items()
    }


def whole_node(page: Page, file: str, libraries: list[str], ranks: list[int], sizes: list[int]) -> str:
    """Ranks of one node that start together: under the default rules, as parts of native's time."""
    del page
    ratios = _of_native_by_rules(file)
    heads = [f"{NAMES[library]}, {number}" for library in libraries for number in ranks]
    rows = [["collective", "bytes", *heads]]
    for collective in dict.fromkeys(collective for _, collective in ratios):
        for size in sizes if collective != "barrier" else [0]:
            cells = [ratios[library, collective][number, size, "together"] for library in libraries for number in ranks]
            rows.append([collective, bytes_text(size) if size else "", *(f"{each:.2f}" for each in cells)])
    return markdown(rows)


def whole_node_means(page: Page, file: str, names: dict[str, str]) -> str:
    """Geometric means over all lengths and numbers of ranks from three on, of each library."""
    del page
    ratios = _of_native_by_rules(file)
    starts = {"together": "", "row": ", in a row"}
    rows = [["collective", *(f"{name}{how}" for name in names.values() for how in starts.values())]]
    for collective in dict.fromkeys(collective for _, collective in ratios):
        means = [
            statistics.geometric_mean(
                ratio for (ranks, _, how), ratio in ratios[library, collective].items() if how == start and ranks > 2
            )
            for library in names
            for start in starts
        ]
        rows.append([collective, *(f"{each:.2f}" for each in means)])
    return markdown(rows)


def guarded(page: Page, files: list[str], rules: str, names: dict[str, str] | None = None) -> str:
    """A program under rules with and without the guard, on each cluster with each library: runs of guard.py.

    Relative to the native run of the same round: the median, and in brackets the least and the most. Rows of
    a cluster stand together.
    """
    del page
    runs: dict[tuple[str, ...], dict[str, dict[str, float]]] = {}
    for each in itertools.chain.from_iterable(records(file) for file in files):
        subject = tuple(each[name] for name in ("cluster", "mpi", "kind", "calls", "guard"))
        runs.setdefault(subject, {}).setdefault(each["way"], {})[each["turn"]] = float(each["seconds"])
    shown_as = NAMES | (names or {})
    shown = [["cluster", "library", "calls", "guard", "native, s", *GUARDED_WAYS, "n"]]
    clusters = list(dict.fromkeys(cluster for cluster, *_ in runs))
    for (cluster, mpi, kind, calls, guard), times in sorted(runs.items(), key=lambda run: clusters.index(run[0][0])):
        native = times[NATIVE]
        cells = [_of_native(times.get(f"{rules} rules, {way}", {}), native) for way in GUARDED_WAYS]
        if not any(cells):
            continue
        median = f"{statistics.median(native.values()):.3g}"
        shown.append([_where(cluster), shown_as[mpi], f"{calls} {kind}", guard, median, *cells, str(len(native))])
    return markdown(shown)


def calls_in_row(page: Page, file: str, least: float) -> str:
    """Calls that may overlap, of calls_in_row.py, where some way took at least so much of native's time."""
    del page
    rows = [["cluster", "library", "collective", "bytes", "native, us", *GUARDED_WAYS]]
    for each in records(file):
        ratios = [_ratio(each, way) for way in GUARDED_WAYS]
        if max(ratios) < least:
            continue
        subject = each["cluster"], NAMES[each["mpi"]], each["collective"], bytes_text(int(each["bytes"]))
        rows.append([*subject, f"{float(each[NATIVE]):.0f}", *(f"{ratio:.2f}" for ratio in ratios)])
    return markdown(rows)


def shapes_in_row(page: Page, file: str, least: float) -> str:
    """Runs of calls_in_row.py by cluster and library: of native's time, and how many cells took so much of it."""
    del page
    cells: dict[tuple[str, str], list[dict[str, str]]] = {}
    for each in records(file):
        cells.setdefault((each["cluster"], each["mpi"]), []).append(each)
    over = f"over {least:g}"
    rows = [["cluster", "library", "cells", "first run, mean", "worst", "next run, mean", "least", "worst", over]]
    for (cluster, mpi), found in cells.items():
        first, following = ([_ratio(each, way) for each in found] for way in GUARDED_WAYS[1:])
        figures = [statistics.geometric_mean(first), max(first)]
        figures += [statistics.geometric_mean(following), min(following), max(following)]
        slower = sum(ratio > least for ratio in following)
        rows.append([cluster, NAMES[mpi], str(len(found)), *(f"{each:.2f}" for each in figures), str(slower)])
    return markdown(rows)


def _ratio(record: Mapping[str, str], way: str) -> float:
    return float(record[way]) / float(record[NATIVE])


def tuned(page: Page, file: str) -> str:
    """What `rondo tune` chose, against exhaustive measurements of tuned_choices.py: mean and worst loss."""
    del page
    runs: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for each in records(file):
        runs.setdefault((each["cluster"], each["mpi"], each["minutes"]), []).append(each)
    rows = [["cluster", "library", "minutes", "cells", "tuned", "default rules", "the library", "slower than native"]]
    for (cluster, mpi, minutes), cells in runs.items():
        losses = [
            _mean_and_worst([float(each[f"{whose}_loss"]) for each in cells]) for whose in ("tuned", "default", NATIVE)
        ]
        slower = sum(int(each["slower"]) for each in cells)
        rows.append([_where(cluster), NAMES[mpi], minutes, str(len(cells)), *losses, str(slower)])
    return markdown(rows)


def badly_tuned(page: Page, file: str, least: float) -> str:
    """Cells in which a tuned choice loses at least as much."""
    del page
    rows = [["cluster", "library", "collective", "bytes", "loss", "tuned", "the best"]]
    for each in records(file):
        if float(each["tuned_loss"]) >= least:
            names = quoted([each["tuned"], each["best"]])
            size, loss = bytes_text(int(each["bytes"])), f"{float(each['tuned_loss']):.0%}"
            rows.append([_where(each["cluster"]), NAMES[each["mpi"]], each["collective"], size, loss, *names])
    return markdown(rows)


def _mean_and_worst(losses: list[float]) -> str:
    return f"{statistics.mean(losses):.1%}, {max(losses):.0%}"


def _where(cluster: str) -> str:
    return "one node" if cluster == "none" else cluster


def _of_native(times: Mapping[str, float], native: Mapping[str, float]) -> str:
    """In the rounds in which the way was taken: of one alone there is no range."""
    ratios = [times[turn] / native[turn] for turn in times]
    if not ratios:
        return ""
    median = f"{statistics.median(ratios):.2f}"
    return f"{median} ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else median


def lanes_at_ratios(page: Page, file: str, lanes: int, ratios: list[float]) -> str:
    """What so many lanes give, with the rate of the node over that of a lane across."""
    del page
    rows = [["collective", "algorithm", *(f"r = {each:g}" for each in ratios)]]
    for (collective, name, count), found in speed_ups(file).items():
        if count == lanes:
            rows.append([collective, f"`{name}`", *(f"{found[each]:.2f}" for each in ratios)])
    return markdown(rows)


KINDS: dict[str, Callable[..., str]] = {
    each.__name__: each
    for each in (
        one_node,
        whole_node,
        whole_node_means,
        guarded,
        calls_in_row,
        shapes_in_row,
        tuned,
        badly_tuned,
        lanes_at_ratios,
    )
}
