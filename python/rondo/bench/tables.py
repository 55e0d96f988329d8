# SPDX-License-Identifier: BSD-3-Clause
"""Results of `rondo bench` as tables: for the terminal, and as CSV with the columns that users of OSU and IMB know."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import Any

import msgspec

from rondo.bench import statistics
from rondo.bench.results import NATIVE, Configuration, Environment, Results, parts_text
from rondo.bench.statistics import LEAST_FOR_INTERVAL
from rondo.forms import name_of
from rondo.reports.style import bytes_text

MICROSECOND = 1e-6
BAR = 10
"""Characters of the longest bar."""


def csv_text(results: Results) -> str:
    """One row for each configuration, the circumstances in each row. Times in microseconds, of valid repetitions."""
    rows = [{**_row(each), **_circumstances(results)} for each in results.configurations]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _row(configuration: Configuration) -> dict[str, Any]:
    summary = statistics.summary(configuration.seconds())
    times = {
        "min_us": summary.minimum,
        "avg_us": summary.mean,
        "p50_us": summary.p50,
        "p99_us": summary.p99,
        "max_us": summary.maximum,
        "p50_low_us": summary.low,
        "p50_high_us": summary.high,
    }
    bandwidth = configuration.bytes / summary.median * configuration.bus_factor / 1e6
    return {
        "collective": configuration.collective,
        "algorithm": configuration.algorithm,
        "parameters": configuration.parameters,
        "start": configuration.start,
        "type": configuration.type,
        "operator": configuration.operator,
        "parts": configuration.parts,
        "form": configuration.form,
        "bytes": configuration.bytes,
        "count": configuration.count,
        "repetitions": len(configuration.repetitions),
        "invalid": configuration.invalid(),
        "wrong_results": configuration.wrong(),
        **{name: _number(seconds / MICROSECOND, ".3f") for name, seconds in times.items()},
        "bus_bandwidth_MB_per_s": _number(bandwidth, ".3f") if configuration.bus_factor else "",
        **_overlap(configuration),
    }


def _overlap(configuration: Configuration) -> dict[str, str]:
    """Medians of what was measured while the program computed; empty if it did not."""
    found = configuration.overlap()
    return {
        "pieces": str(configuration.pieces or ""),
        "computing_us": f"{found.computing / MICROSECOND:.3f}" if found else "",
        "together_us": f"{found.together / MICROSECOND:.3f}" if found else "",
        "overlap_percent": f"{100 * found.share:.1f}" if found else "",
    }


def _circumstances(results: Results) -> dict[str, Any]:
    """The environment, flat."""
    flat: dict[str, Any] = {}
    for name, value in msgspec.structs.asdict(results.environment).items():
        if isinstance(value, list):
            flat[name] = ";".join(map(str, value))
        elif not isinstance(value, msgspec.Struct) and value is not None:
            flat[name] = value
    for prefix in ("network", "emulation"):
        part = getattr(results.environment, prefix)
        if part is not None:
            flat.update({f"{prefix}_{name}": value for name, value in msgspec.structs.asdict(part).items()})
    return {**flat, "complete": results.complete}


def _number(value: float, form: str) -> str:
    return "" if math.isnan(value) else format(value, form)


def tables(results: Results) -> Iterable[tuple[str, Any]]:
    """For each form and way of starting a title and a rich Table.

    Under each count a row for each candidate, the fastest first: minimum, median, how the median compares with
    native's; then what call and computing take together, and how much of it overlaps, or a bar as long as the median.
    Fits 80 columns.
    """
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    for form, start in dict.fromkeys((each.form, each.start) for each in results.configurations):
        chosen = [each for each in results.configurations if (each.form, each.start) == (form, start)]
        computes = any(each.pieces for each in chosen)
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        table.add_column("", overflow="fold")
        table.add_column("minimum", justify="right", no_wrap=True)
        table.add_column("median", justify="right", no_wrap=True)
        table.add_column("beside native", no_wrap=True)
        if computes:
            table.add_column("together", justify="right", no_wrap=True)
            table.add_column("overlap", justify="right", no_wrap=True)
        else:
            table.add_column("", no_wrap=True)
        for count in dict.fromkeys(each.count for each in chosen):
            found = {each.label: each for each in chosen if each.count == count}
            medians = {label: statistics.summary(each.seconds()).median for label, each in found.items()}
            slowest = max((each for each in medians.values() if not math.isnan(each)), default=math.nan)
            bytes_ = next(iter(found.values())).bytes
            if bytes_:
                table.add_row(Text(f"{count} ({bytes_text(bytes_)})", style="bold"))
            for label in sorted(found, key=lambda label: (math.isnan(medians[label]), medians[label])):
                table.add_row(*_cells(found[label], medians[label], medians.get(NATIVE, math.nan), slowest))
            table.add_section()
        yield _title(chosen[0], results.environment), table


def _title(configuration: Configuration, environment: Environment) -> str:
    of_data = [configuration.type, configuration.operator] if configuration.bytes else []
    name = name_of(configuration.collective, configuration.form)
    what = " ".join(filter(None, [name, *of_data, parts_text(configuration.parts)]))
    where = f"{environment.ranks} ranks on {environment.nodes} node{'s' if environment.nodes != 1 else ''}"
    return (
        f"{what}, {where}, {environment.library}, start by {configuration.start}\n"
        "microseconds of the slowest rank; by count (and bytes of the vector), the fastest first\n"
        f"n: valid repetitions, where there are fewer than {LEAST_FOR_INTERVAL}"
        f"{overlap_text(configuration, environment)}"
    )


def overlap_text(configuration: Configuration, environment: Environment) -> str:
    """What the columns `together` and `overlap` mean, as more lines of a title; nothing without them."""
    if not configuration.pieces:
        return ""
    asleep = " (asleep: ranks share processors)" if environment.computing == "sleep" else ""
    return (
        f"\ntogether: call and computing, in {configuration.pieces} pieces{asleep}\n"
        "overlap: the share of the shorter of the two that costs no time"
    )


def _cells(configuration: Configuration, median: float, native: float, slowest: float) -> list[str]:
    """A row of `tables`. Seconds; NaN where there are none."""
    name = f"  {configuration.label}"
    wrong = " WRONG" if configuration.wrong() else ""
    summary = statistics.summary(configuration.seconds())
    if not summary.count:
        return [name, "", "", f"no valid repetition{wrong}", *[""] * (2 if configuration.pieces else 1)]
    beside = "" if configuration.algorithm == NATIVE or math.isnan(native) else _beside(native / median)
    few = "" if summary.certain else f" n={summary.count}"
    times = [name, _microseconds(summary.minimum), _microseconds(median)]
    if overlap := configuration.overlap():
        return [*times, f"{beside}{few}{wrong}", _microseconds(overlap.together), f"{100 * overlap.share:.0f}%"]
    bar = "█" * max(1, round(BAR * median / slowest)) if slowest > 0 else ""
    return [*times, f"{beside}{wrong}", f"{bar}{few}"]


def _beside(speed: float) -> str:
    """Of native's, in words."""
    if abs(speed - 1) < 0.005:
        return "as fast"
    if speed > 1:
        return f"{speed:.2f} times as fast"
    return f"{1 / speed:.2f} times as long"


def _microseconds(seconds: float) -> str:
    value = seconds / MICROSECOND
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"
