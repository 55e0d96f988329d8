# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that compare what libraries' own collectives took with what is predicted.

A cell is what was measured of one native call: collective, vector, library and emulated cluster. Cells that differ in
the length alone are a row. Its middle one corrects the others, which are judged.
"""

from __future__ import annotations

import functools
import statistics as averages
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import measurements
from predicted_tables import BYTES, RANKS, figures_of, in_order, shape_of
from rondo.bench.pages import Page
from rondo.bench.plans import TYPES
from rondo.bench.results import EQUAL, NATIVE, Configuration, Environment
from rondo.cluster import shapes
from rondo.forms import BLOCKING
from rondo.launching.mpi_library import NAMES
from rondo.reports import style
from rondo.selection.call import Call
from rondo.selection.candidates import MOST_MESSAGES
from table_parts import markdown

from rondo import _core
from rondo.selection import native

NEAR = 0.25
"""A prediction that is off by no more counts as near."""


@dataclass(frozen=True)
class Cell:
    """A native call."""

    collective: str
    library: str
    """A name."""
    shape: shapes.Shape
    bytes: int
    what: str
    """The operator, where it says something."""
    measured: float
    """The median; seconds."""
    predicted: float | None
    """None: no algorithm of Rondo's is near."""
    like: str
    """The algorithm, and the rule that names it; or why there is none."""
    correction: float = 1.0

    @property
    def ratio(self) -> float:
        """Of the prediction, corrected, to what was measured."""
        assert self.predicted is not None
        return self.correction * self.predicted / self.measured

    @property
    def near(self) -> bool:
        """Is it?"""
        return abs(self.ratio - 1) <= NEAR


def cell_of(configuration: Configuration, environment: Environment, figures: str) -> Cell:
    """The prediction for a measurement."""
    library = _core.library(environment.library)["name"]
    rules = native.rules_of(environment.library)
    assert rules is not None
    size = TYPES[configuration.type]
    traits = next(each for each in _core.collectives() if each["name"] == configuration.collective)
    call = Call(
        configuration.collective, tuple(environment.ranks_per_node), configuration.bytes // size, size,
        traits["has_operation"], 0, environment.library, environment.shared_memory,
    )  # fmt: skip
    found = native.candidate(call, rules, figures, most_messages=MOST_MESSAGES)
    what = configuration.operator if configuration.operator == "maxloc" else ""
    return Cell(
        configuration.collective, library, shape_of(environment), configuration.bytes,
        what, averages.median(configuration.seconds()), found.seconds,
        found.like or found.untimed or "",
    )  # fmt: skip


@functools.cache
def all_cells() -> tuple[Cell, ...]:
    """Of all measurements with a library whose rules are known, on emulated clusters whose messages share no links.

    Of parts that differ, a prediction knows no lengths.
    """
    found = []
    for file in measurements.texts():
        results = measurements.results_in(file)
        environment = results.environment
        emulation = environment.emulation
        if emulation is None or emulation.network or native.rules_of(environment.library) is None:
            continue
        figures = figures_of(environment)
        found += [
            cell_of(each, environment, figures)
            for each in results.configurations
            if each.algorithm == NATIVE and each.form == BLOCKING and each.parts == EQUAL and each.seconds()
        ]
    return tuple(found)


def rows(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Those that differ in the length alone, by length."""
    groups: dict[tuple[str, str, str, str], list[Cell]] = {}
    for each in cells:
        groups.setdefault((each.library, each.collective, str(each.shape), each.what), []).append(each)
    for key in sorted(groups):
        yield sorted(groups[key], key=lambda each: each.bytes)


def middle_of(row: Sequence[Cell]) -> Cell:
    """The one that corrects the others."""
    return row[(len(row) - 1) // 2]


def corrected(row: Sequence[Cell]) -> list[Cell]:
    """The others, after correction."""
    middle = middle_of(row)
    assert middle.predicted is not None
    nodes, ranks = middle.shape.nodes, middle.shape.ranks
    measured = [native.Measured(middle.bytes, ranks, nodes, middle.measured / middle.predicted)]
    return [
        Cell(**{**vars(each), "correction": native.correction(measured, each.bytes, ranks, nodes)})
        for each in row
        if each is not middle
    ]


@functools.cache
def judged() -> tuple[Cell, ...]:
    """All cells that others have corrected."""
    return tuple(each for row in rows(predicted()) for each in corrected(row))


@functools.cache
def predicted() -> tuple[Cell, ...]:
    """Those that have a prediction."""
    return tuple(each for each in all_cells() if each.predicted is not None)


# ------------------------------------------------------------------------------------------------ kinds of tables


KEYS: Mapping[str, Callable[[Cell], str]] = {
    "library": lambda cell: NAMES[cell.library],
    "collective": lambda cell: f"{NAMES[cell.library]}, {cell.collective}",
    "ranks a node": lambda cell: f"ranks a node: {cell.shape.per_node}",
    "ranks": lambda cell: "ranks: " + next(name for name, most in RANKS.items() if cell.shape.ranks <= most),
    "bytes": lambda cell: "bytes: " + next(name for name, most in BYTES.items() if cell.bytes <= most),
}
"""By which cells are told apart."""


def native_shares(page: Page, by: list[str]) -> str:
    """How many cells are near, as predicted and after correction."""
    del page
    found = [["", "cells", "no prediction", "near", "5%", "median", "95%", "judged", "near, corrected"]]
    found.append(["all", *_shares(lambda _: True)])
    for name in by:
        key = KEYS[name]
        for value in sorted({key(each) for each in all_cells()}, key=in_order):
            found.append([value, *_shares(lambda cell, key=key, value=value: key(cell) == value)])
    return markdown(found)


def _shares(belongs: Callable[[Cell], bool]) -> list[str]:
    every = [each for each in all_cells() if belongs(each)]
    known = [each for each in predicted() if belongs(each)]
    after = [each for each in judged() if belongs(each)]
    ratios = sorted(each.ratio for each in known)
    spread = [ratios[len(ratios) // 20], averages.median(ratios), ratios[-1 - len(ratios) // 20]] if ratios else []
    return [
        str(len(every)), str(len(every) - len(known)), _share(known), *(f"{each:.2f}" for each in spread or ()),
        *([] if spread else ["-"] * 3), str(len(after)), _share(after),
    ]  # fmt: skip


def _share(cells: Sequence[Cell]) -> str:
    return f"{100 * sum(each.near for each in cells) / len(cells):.0f}%" if cells else "-"


def native_ratios(page: Page, library: str) -> str:
    """Of a library all cells: predicted over measured times, with lengths across; those that correct are bold."""
    del page
    found = [["collective", "cluster", "predicted over measured, by length"]]
    for row in rows([each for each in predicted() if each.library == library]):
        middle = middle_of(row)
        call = f"{middle.collective}, {middle.what}" if middle.what else middle.collective
        lengths = (f"{style.bytes_text(each.bytes)} {each.ratio:.2f}" for each in row)
        texts = (f"**{text}**" if each is middle else text for each, text in zip(row, lengths, strict=True))
        found.append([call, str(middle.shape), "; ".join(texts)])
    return markdown(found)


def native_wrong(page: Page, least: float) -> str:
    """Cells that are off by such a factor after correction: predicted before that, and measured, in milliseconds."""
    del page
    found = [["library", "call", "cluster", "bytes", "as", "predicted", "measured", "ratio", "corrected"]]
    for each in judged():
        if 1 / least < each.ratio < least:
            continue
        assert each.predicted is not None
        found.append([
            NAMES[each.library], f"{each.collective}, {each.what}" if each.what else each.collective, str(each.shape),
            style.bytes_text(each.bytes), f"`{each.like.split()[1]}`", f"{1e3 * each.predicted:.1f}",
            f"{1e3 * each.measured:.1f}", f"{each.predicted / each.measured:.2f}", f"{each.ratio:.2f}",
        ])  # fmt: skip
    return markdown(found)


KINDS: dict[str, Callable[..., str]] = {each.__name__: each for each in (native_shares, native_ratios, native_wrong)}
