# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks about nonblocking and persistent collectives."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator

from rondo.bench.pages import Page, Run
from rondo.bench.results import BY_THE_MODEL, NATIVE, Configuration, Overlap
from rondo.forms import FORMS, functions_of
from rondo.launching.mpi_library import NAMES
from table_parts import markdown, number, results_of, valid, vector_text

Candidates = dict[str, Configuration]
"""By their labels."""


def forms(page: Page, experiments: list[str]) -> str:
    """Milliseconds of each function: native, what the model proposes, and the fastest of all that were measured."""
    rows = [["library", "function", "bytes", "native", "Rondo", "of native", "fastest of Rondo's", "n"]]
    for run, form, count in _cells(page, experiments):
        found = _candidates(run, form, count)
        native, own = found[NATIVE], found[BY_THE_MODEL]
        others = [each for label, each in found.items() if label != NATIVE and each.seconds()]
        fastest = min(others, key=_median) if others else None
        rows.append([
            *_names(run, form, count), _text(_median(native)), _text(_median(own)),
            number(_median(own) / _median(native), 2),
            f"`{fastest.label}` {_text(_median(fastest))}" if fastest else "-", valid(native, own),
        ])  # fmt: skip
    return markdown(rows)


def overlap(page: Page, experiments: list[str]) -> str:
    """Milliseconds of computing, of the call and of both at the same time, and the share that is hidden."""
    heads = [f"{side}, {what}" for side in ("native", "Rondo") for what in ("alone", "both", "overlap")]
    rows = [["library", "function", "bytes", "computing", *heads]]
    for run, form, count in _cells(page, experiments):
        found = _candidates(run, form, count)
        sides = [(each, each.overlap()) for each in (found[NATIVE], found[BY_THE_MODEL])]
        computing = dict.fromkeys(_text(1e3 * overlapped.computing) for _, overlapped in sides if overlapped)
        if not computing:
            continue
        rows.append(
            [*_names(run, form, count), " and ".join(computing), *(cell for each in sides for cell in _three(*each))]
        )
    return markdown(rows)


def _cells(page: Page, experiments: list[str]) -> Iterator[tuple[Run, str, int]]:
    for name in experiments:
        for run in page.runs_of(name):
            for form in FORMS:
                for count in run.counts:
                    yield run, form, count


def _candidates(run: Run, form: str, count: int) -> Candidates:
    return {each.label: each for each in results_of(run).configurations if (each.form, each.count) == (form, count)}


def _three(configuration: Configuration, overlapped: Overlap | None) -> list[str]:
    if overlapped is None:
        return ["-"] * 3
    both = 1e3 * overlapped.together
    return [_text(_median(configuration)), _text(both), f"{100 * overlapped.share:.0f}%"]


def _names(run: Run, form: str, count: int) -> list[str]:
    return [NAMES[run.library], f"`{functions_of(run.collective, form)[0]}`", vector_text(run, count)]


def _median(configuration: Configuration) -> float:
    """Milliseconds; NaN if no repetition was valid."""
    seconds = configuration.seconds()
    return 1e3 * statistics.median(seconds) if seconds else math.nan


def _text(milliseconds: float) -> str:
    return number(milliseconds, 0 if milliseconds >= 100 else 1)


KINDS: dict[str, Callable[..., str]] = {"forms": forms, "overlap": overlap}
