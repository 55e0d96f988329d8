# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that compare virtual time with measurements: its order of the candidates.

A cell is what was measured of one call: collective, vector, library and emulated cluster, with several of Rondo's
candidates. The native one is left out: what it takes is the subject of native_tables.py.
"""

from __future__ import annotations

import functools
import math
import statistics as averages
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import measurements
import msgspec
from rondo.bench import statistics
from rondo.bench.pages import Page
from rondo.bench.plans import TYPES
from rondo.bench.results import BY_THE_MODEL, EQUAL, NATIVE, Configuration, Environment
from rondo.bench.statistics import SMALLEST_DIFFERENCE, Comparison, Verdict
from rondo.cluster import cluster, shapes
from rondo.forms import BLOCKING
from rondo.launching.mpi_library import NAMES
from rondo.reports import style
from table_parts import family, markdown

from rondo import _core

FIRST = 3
"""So many candidates are worth a measurement. Of fewer than four the best is among them anyway."""
RANKS = {"2 to 8": 8, "9 to 16": 16, "17 to 36": math.inf}
BYTES = {"up to 4 KiB": 4 << 10, "up to 64 KiB": 64 << 10, "up to 1 MiB": 1 << 20, "more": math.inf}
PAIRS = ("maxloc", "minloc")


@dataclass(frozen=True)
class Candidate:
    """An algorithm with its settings, of one cell."""

    label: str
    predicted: float
    """Seconds, as are those measured."""
    measured: float
    """The median."""
    good: bool
    """Within 5% of the fastest, or not to be told from it."""


@dataclass(frozen=True)
class Cell:
    """Candidates that did the same, in the order that the model predicts."""

    file: str
    collective: str
    library: str
    """A name."""
    shape: shapes.Shape
    bytes: int
    operator: str
    decided: bool
    """Were there repetitions enough to tell the fastest from the others?"""
    candidates: tuple[Candidate, ...]

    @property
    def place(self) -> int:
        """Of the first that is good, from 1."""
        return 1 + next(place for place, each in enumerate(self.candidates) if each.good)

    @property
    def fastest(self) -> Candidate:
        """As measured."""
        return min(self.candidates, key=lambda each: each.measured)

    @property
    def loss(self) -> float:
        """Of who takes the model's first: relative to the fastest."""
        return self.candidates[0].measured / self.fastest.measured - 1

    @property
    def factor(self) -> float:
        """Of the least predicted time, that of the first good one."""
        return self.candidates[self.place - 1].predicted / self.candidates[0].predicted


def figures_of(environment: Environment) -> str:
    """The machine file of the emulated cluster, with the eager limit of its MPI library."""
    emulation = environment.emulation
    assert emulation is not None
    machine = cluster.machine_of(shape_of(environment), environment.cores)
    return f"{machine.text()}eager = {_core.library(environment.library)['eager']}\n"


def shape_of(environment: Environment) -> shapes.Shape:
    """Of the emulated cluster."""
    emulation = environment.emulation
    assert emulation is not None
    return shapes.Shape(
        emulation.nodes, emulation.ranks_per_node, emulation.latency, emulation.rate, emulation.lanes,
        emulation.network,
    )  # fmt: skip


def predicted(configuration: Configuration, environment: Environment, *, fluid: bool) -> float:
    """Seconds of virtual time."""
    size = TYPES[configuration.type]
    shape = shape_of(environment)
    call = configuration.collective, configuration.label, environment.ranks, configuration.bytes // size
    figures, nodes = figures_of(environment), f"{shape.nodes}x{shape.per_node}"
    if fluid and shape.network:
        found = _core.predict(*call, figures, element_bytes=size, nodes=nodes, network=shape.network)
        return float(found["seconds"])
    (seconds,) = _core.times(*call, [figures], element_bytes=size, nodes=nodes, fluid=fluid)
    return float(seconds)


@functools.cache
def comparisons(file: str) -> tuple[Environment, list[tuple[Comparison, bool]]]:
    """Of a measurement's candidates, and whether all of them took part; none if it was not on an emulated cluster."""
    results = measurements.results_in(file)
    environment = results.environment
    found = []
    for group in statistics.groups(results.configurations) if environment.emulation is not None else []:
        is_known = group[0].form == BLOCKING and group[0].parts == EQUAL  # else of a length that no prediction knows
        own = [each for each in group if is_known and each.algorithm not in (NATIVE, BY_THE_MODEL)]
        fit = [each for each in own if each.seconds() and not each.wrong()]
        if len(fit) > 1:
            found.append((statistics.compare(fit, environment.clock_error), len(fit) == len(own)))
    return environment, found


@functools.cache
def cells(file: str, fluid: bool) -> list[Cell]:
    """Those of a measurement with several candidates on an emulated cluster."""
    environment, found = comparisons(file)
    return [cell(file, environment, comparison, complete, fluid=fluid) for comparison, complete in found]


def cell(file: str, environment: Environment, comparison: Comparison, complete: bool, *, fluid: bool) -> Cell:
    """What was measured, in the order that the model predicts."""
    decided = complete and comparison.verdict in (Verdict.WON, Verdict.TIED)
    alike = comparison.best if decided else ()
    fastest = comparison.standings[0]
    candidates = [
        Candidate(
            each.configuration.label,
            predicted(each.configuration, environment, fluid=fluid),
            each.summary.median,
            each in alike or each.summary.median <= (1 + SMALLEST_DIFFERENCE) * fastest.summary.median,
        )
        for each in comparison.standings
    ]
    call = fastest.configuration
    return Cell(
        file, call.collective, _core.library(environment.library)["name"], shape_of(environment), call.bytes,
        call.operator, decided, tuple(sorted(candidates, key=lambda each: (each.predicted, each.label))),
    )  # fmt: skip


def all_cells(*, fluid: bool = True) -> list[Cell]:
    """Of all measurements."""
    return [each for file in measurements.texts() for each in cells(file, fluid)]


# ------------------------------------------------------------------------------------------------ kinds of tables


KEYS: Mapping[str, Callable[[Cell], str]] = {
    "collective": lambda cell: cell.collective,
    "library": lambda cell: NAMES[cell.library],
    "ranks a node": lambda cell: f"ranks a node: {cell.shape.per_node}",
    "ranks": lambda cell: "ranks: " + next(name for name, most in RANKS.items() if cell.shape.ranks <= most),
    "bytes": lambda cell: "bytes: " + next(name for name, most in BYTES.items() if cell.bytes <= most),
    "operator": lambda cell: "pairs (maxloc)" if cell.operator in PAIRS else "no pairs",
}
"""By which cells are told apart."""
HEAD = [
    "cells", "candidates", "in the first", "first two", "first three", "loss, mean", "loss, worst", "factor, 95%",
]  # fmt: skip


def predicted_order(page: Page, by: list[str]) -> str:
    """How often the best is among the model's first, in cells with a decided winner and more than three candidates."""
    del page
    found = [each for each in all_cells() if each.decided and len(each.candidates) > FIRST]
    rows = [["", *HEAD], ["all", *order_of(found)]]
    for name in by:
        keys = {KEYS[name](each) for each in found}
        rows += [
            [key, *order_of([each for each in found if KEYS[name](each) == key])] for key in sorted(keys, key=in_order)
        ]
    return markdown(rows)


def in_order(key: str) -> tuple[str, int]:
    """Of groups: by their names, but for ranges and numbers."""
    name, _, value = key.partition(": ")
    ranges = [*RANKS, *BYTES]
    return name, ranges.index(value) if value in ranges else int(value or 0)


def predicted_by_models(page: Page) -> str:
    """The same of all cells and of those that are decided, as fluids and with one message at a time."""
    del page
    chosen: dict[str, Callable[[Cell], bool]] = {
        "decided": lambda cell: cell.decided,
        "decided, more than three candidates": lambda cell: cell.decided and len(cell.candidates) > FIRST,
        "all": lambda _: True,
        "all, more than three candidates": lambda cell: len(cell.candidates) > FIRST,
    }
    rows = [["", "messages", *HEAD]]
    for name, belongs in chosen.items():
        for messages, fluid in (("one at a time", False), ("as fluids", True)):
            rows.append([name, messages, *order_of([each for each in all_cells(fluid=fluid) if belongs(each)])])
    return markdown(rows)


def order_of(found: list[Cell]) -> list[str]:
    """What HEAD names, of these cells."""
    number = len(found)
    if number == 0:
        return ["0", *["-"] * (len(HEAD) - 1)]
    places = [sum(each.place <= most for each in found) / number for most in range(1, FIRST + 1)]
    factors = sorted(each.factor for each in found)
    return [
        str(number),
        f"{averages.mean(len(each.candidates) for each in found):.1f}",
        *(f"{100 * share:.0f}%" for share in places),
        f"{100 * averages.mean(each.loss for each in found):.1f}%",
        f"{100 * max(each.loss for each in found):.0f}%",
        f"{factors[math.ceil(0.95 * number) - 1]:.2f}",
    ]


def predicted_ratios(page: Page, by: list[str], least: int) -> str:
    """Predicted over measured times, of groups of at least so many."""
    del page
    groups: dict[str, list[float]] = {"all": []}
    for cell in all_cells():
        for each in cell.candidates:
            ratio = each.predicted / each.measured
            groups["all"].append(ratio)
            for name in by:
                key = f"`{cell.collective}/{family(each.label)}`" if name == "algorithm" else KEYS[name](cell)
                groups.setdefault(key, []).append(ratio)
    rows = [["", "n", "5%", "median", "95%", "within 10%"]]
    for key in ["all", *sorted(groups.keys() - {"all"}, key=in_order)]:
        ratios = sorted(groups[key])
        if len(ratios) < least:
            continue
        low, high = ratios[len(ratios) // 20], ratios[-1 - len(ratios) // 20]
        near = sum(abs(each - 1) <= 0.1 for each in ratios) / len(ratios)
        shown = [f"{each:.2f}" for each in (low, averages.median(ratios), high)]
        rows.append([key, str(len(ratios)), *shown, f"{100 * near:.0f}%"])
    return markdown(rows)


def predicted_wrongly(page: Page, least: float) -> str:
    """Cells in which the model's first loses so much: it and the fastest, predicted and measured, in milliseconds."""
    del page
    rows = [["cluster", "library", "call", "bytes", "loss", "the model's first", "the fastest", "its place"]]
    for cell in sorted(all_cells(), key=lambda each: -each.loss):
        if cell.loss < least:
            break
        pair = [
            f"`{each.label}` {1e3 * each.predicted:.0f}, {1e3 * each.measured:.0f}"
            for each in (cell.candidates[0], cell.fastest)
        ]
        call = f"{cell.collective}, {cell.operator}" if cell.operator in PAIRS else cell.collective
        rows.append([
            str(cell.shape), NAMES[cell.library], call, style.bytes_text(cell.bytes),
            f"{100 * cell.loss:.0f}%" if cell.decided else f"({100 * cell.loss:.0f}%)", *pair,
            str(cell.candidates.index(cell.fastest) + 1),
        ])  # fmt: skip
    return markdown(rows)


def predicted_times(page: Page, experiments: list[str]) -> str:
    """Of each algorithm with each library, in milliseconds: measured, predicted, and predicted without a shape."""
    rows = [["call", "bytes", "algorithm", "library", "measured", "predicted", "ratio", "without a shape"]]
    for name in experiments:
        for run in page.runs_of(name):
            environment, found = comparisons(run.file)
            network, flat = (_with_network(environment, text) for text in (run.shape.network, ""))
            for comparison, _ in found:
                for each in sorted(comparison.standings, key=lambda standing: standing.configuration.label):
                    call, measured = each.configuration, each.summary.median
                    shaped, shapeless = (predicted(call, where, fluid=True) for where in (network, flat))
                    rows.append([
                        call.collective, style.bytes_text(call.bytes), f"`{call.label}`", NAMES[run.library],
                        f"{1e3 * measured:.0f}", f"{1e3 * shaped:.0f}", f"{shaped / measured:.2f}",
                        f"{1e3 * shapeless:.0f}",
                    ])  # fmt: skip
    return markdown(rows)


def _with_network(environment: Environment, network: str) -> Environment:
    assert environment.emulation is not None
    emulation = msgspec.structs.replace(environment.emulation, network=network)
    return msgspec.structs.replace(environment, emulation=emulation)


KINDS: dict[str, Callable[..., str]] = {
    each.__name__: each
    for each in (predicted_order, predicted_by_models, predicted_ratios, predicted_wrongly, predicted_times)
}
