# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of tables of docs/benchmarks about distributed arrays: prefix sums in virtual time, and as measured."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from computed_tables import records
from real_prefix import FILE as REAL
from rondo.bench.pages import Page
from rondo.launching.mpi_library import NAMES
from rondo.reports import style
from table_parts import markdown
from virtual_prefix import CASES, FILE

NATIVE = "native"


def virtual_prefix(page: Page, case: str) -> str:
    """What prefix sums take beyond their computing, in percent of it: a row for each scan."""
    del page
    computing = CASES[case].computing
    found = {
        (each["scan"], each["distribution"]): float(each["additions"]) for each in records(FILE) if each["case"] == case
    }
    scans, distributions = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    rows = [["scan", *(f"`{each}`" for each in distributions)]]
    for scan in scans:
        shares = [100 * (found[scan, each] / computing - 1) for each in distributions]
        rows.append([f"`{scan}`", *(f"{style.digits(each)}%" for each in shares)])
    return markdown(rows)


def modelled_prefix(page: Page, file: str, load: int) -> str:
    """Medians in milliseconds, beside virtual time and the library's own with even counts."""
    del page
    times: dict[tuple[str, str, str], list[float]] = {}
    predicted = {}
    for each in records(file):
        if int(each["load"]) == load:
            key = (each["library"], each["algorithm"], each["distribution"])
            times.setdefault(key, []).append(float(each["seconds"]))
            predicted[key] = float(each["predicted"])
    medians = {key: statistics.median(found) for key, found in times.items()}
    natives = {library: seconds for (library, scan, _), seconds in medians.items() if scan == NATIVE}
    ahead = [f"{NAMES[each]} / this" for each in natives]
    rows = [["scan", "distribution", "measured, ms", "virtual time, ms", *ahead]]
    for (library, scan, how), seconds in medians.items():
        rows.append([
            f"{NAMES[library]}'s own" if scan == NATIVE else f"`{scan}`",
            f"`{how}`",
            f"{1e3 * seconds:.1f}",
            "" if scan == NATIVE else f"{1e3 * predicted[library, scan, how]:.1f}",
            *(f"{native / seconds:.2f}" for native in natives.values()),
        ])  # fmt: skip
    return markdown(rows)


def real_prefix(page: Page) -> str:
    """Medians in milliseconds, beside virtual time: a row for each length, scan and distribution."""
    del page
    times: dict[tuple[str, ...], list[float]] = {}
    for each in records(REAL):
        key = tuple(each[name] for name in ("elements", "scan", "distribution", "counts", "predicted"))
        times.setdefault(key, []).append(float(each["seconds"]))
    rows = [["doubles", "scan", "distribution", "on ranks 0 and 1", "measured, ms", "virtual time, ms"]]
    for (elements, scan, how, counts, predicted), found in times.items():
        shown = [f"{1e3 * seconds:.3g}" for seconds in (statistics.median(found), float(predicted))]
        rows.append([elements, f"`{scan}`", f"`{how}`", counts, *shown])
    return markdown(rows)


KINDS: dict[str, Callable[..., str]] = {each.__name__: each for each in (virtual_prefix, modelled_prefix, real_prefix)}
