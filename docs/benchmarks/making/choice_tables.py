# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks that hold what Rondo chooses by default against all that was measured.

A cell is one call on an emulated cluster: collective, vector and library, with the native collective and several of
Rondo's candidates measured, among them the one that the default rules choose, or the model to which they leave it.
"""

from __future__ import annotations

import functools
import math
import statistics as averages
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chosen_today import chosen_by_rules
from measurements import DATA
from native_tables import cell_of
from predicted_tables import figures_of, predicted
from rondo.bench import pages
from rondo.bench.pages import Page, Run
from rondo.bench.plans import DIVIDED, TYPES
from rondo.bench.results import NATIVE, Configuration, Environment
from rondo.forms import BLOCKING
from rondo.launching.mpi_library import NAMES
from table_parts import by_label, is_measured, markdown, results_of

from rondo import _core
from rondo.selection import native

REPETITIONS = 3
"""Candidates with fewer valid repetitions are left out."""
FEWEST = 3
"""A cell has so many candidates, the native one included."""
SLOWER = 1.05
NOTICED = 0.1
"""A loss that counts."""


@dataclass(frozen=True)
class Cell:
    """A call, and what came of the default choice."""

    library: str
    """The library's name in mpi_library.NAMES."""
    choice: str
    """Native, or an algorithm as the measurement labels it."""
    seconds: float
    """The median time of the choice, in seconds, as are those below."""
    native: float
    best: float
    """The least median of all candidates, the native one included."""
    promised: float | None
    """The choice's predicted time as a part of the native one's; None where nobody knows what the library does."""

    @property
    def loss(self) -> float:
        """How much longer than the best the choice takes, as a part of that."""
        return self.seconds / self.best - 1

    @property
    def of_native(self) -> float:
        """The choice's time as a part of the native one's."""
        return self.seconds / self.native


def _promised(configuration: Configuration, own: Configuration, environment: Environment) -> float | None:
    if native.rules_of(environment.library) is None:
        return None
    of_native = cell_of(own, environment, figures_of(environment)).predicted
    return None if of_native is None else predicted(configuration, environment, fluid=True) / of_native


def _cells_of(run: Run) -> Iterator[Cell]:
    if not is_measured(run):
        return
    results = results_of(run)
    environment = results.environment
    if environment.emulation is None or environment.emulation.network or len(set(environment.ranks_per_node)) > 1:
        return
    for count in run.counts:
        found = {
            label: each
            for label, each in by_label(results, count).items()
            if len(each.seconds()) >= REPETITIONS and each.form == BLOCKING
        }
        bytes_ = TYPES[run.experiment.type] * count * (run.shape.ranks if run.collective in DIVIDED else 1)
        choice = chosen_by_rules(run, bytes_)
        if len(found) < FEWEST or NATIVE not in found or choice not in found:
            continue
        times = {label: averages.median(each.seconds()) for label, each in found.items()}
        promised = _promised(found[choice], found[NATIVE], environment) if choice != NATIVE else None
        yield Cell(run.library, choice, times[choice], times[NATIVE], min(times.values()), promised)


@functools.cache
def cells() -> tuple[Cell, ...]:
    """All measured calls whose lengths all ranks know."""
    local = {each["name"] for each in _core.collectives() if each["local_lengths"]}
    files = sorted(DATA.parent.glob("*.toml"))
    runs = {run.file: run for path in files for run in pages.read(path).runs if run.collective not in local}
    return tuple(cell for run in runs.values() for cell in _cells_of(run))


# ------------------------------------------------------------------------------------------------ kinds of tables


def default_choices(page: Page) -> str:
    """By library: how much longer than the best the default choice takes, and what it takes of the native time."""
    del page
    head = ["", "cells", "loss, mean", "worst", f"over {NOTICED:.0%}", "of native, mean", "worst", f"over {SLOWER}"]
    rows = [head, ["all", *_summary(cells())]]
    for name, text in NAMES.items():
        rows.append([text, *_summary([each for each in cells() if each.library == name])])
    return markdown(rows)


def _summary(found: Sequence[Cell]) -> list[str]:
    losses = [each.loss for each in found]
    ratios = [each.of_native for each in found]
    return [
        str(len(found)), f"{averages.fmean(losses):.1%}", f"{max(losses):.0%}",
        str(sum(each > NOTICED for each in losses)), f"{averages.geometric_mean(ratios):.2f}", f"{max(ratios):.2f}",
        str(sum(each > SLOWER for each in ratios)),
    ]  # fmt: skip


def kept_promises(page: Page, bounds: list[float]) -> str:
    """By what the model promises of a choice, beside the native collective: what came."""
    del page
    rows = [["predicted, of native", "cells", "measured, mean", "least", "most", "below 0.9", f"over {SLOWER}"]]
    known = [(each.promised, each.of_native) for each in cells() if each.promised is not None]
    for least, most in zip([0.0, *bounds], [*bounds, math.inf], strict=True):
        ratios = [measured for promised, measured in known if least <= promised < most]
        if not ratios:
            continue
        name = f"less than {most}" if least == 0 else f"{least} or more" if most == math.inf else f"{least} to {most}"
        rows.append(
            [
                name, str(len(ratios)), f"{averages.geometric_mean(ratios):.2f}", f"{min(ratios):.2f}",
                f"{max(ratios):.2f}",
                str(sum(each < 0.9 for each in ratios)), str(sum(each > SLOWER for each in ratios)),
            ]
        )  # fmt: skip
    return markdown(rows)


KINDS: dict[str, Callable[..., str]] = {"default_choices": default_choices, "kept_promises": kept_promises}
