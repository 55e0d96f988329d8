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

MICROSECOND = 1e-6


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
        "bytes": configuration.bytes,
        "count": configuration.count,
        "repetitions": len(configuration.repetitions),
        "invalid": configuration.invalid(),
        "wrong_results": configuration.wrong(),
        **{name: _number(seconds / MICROSECOND, ".3f") for name, seconds in times.items()},
        "bus_bandwidth_MB_per_s": _number(bandwidth, ".3f") if configuration.bus_factor else "",
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
    """For each way of starting a title and a rich Table with a row for each count.

    For each algorithm: minimum, median, and ratio of the median to native's.
    """
    from rich import box  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    for start in dict.fromkeys(each.start for each in results.configurations):
        chosen = [each for each in results.configurations if each.start == start]
        labels = list(dict.fromkeys(each.label for each in chosen))
        table = Table(box=box.SIMPLE_HEAD)
        table.add_column("count", justify="right")
        table.add_column("bytes", justify="right")
        for label in labels:
            table.add_column(label.replace(":", "\n"), justify="right")
        for count in dict.fromkeys(each.count for each in chosen):
            found = {each.label: each for each in chosen if each.count == count}
            native = found.get(NATIVE)
            cells = [_cell(found[label], native) if label in found else "" for label in labels]
            table.add_row(str(count), str(next(iter(found.values())).bytes), *cells)
        yield _title(chosen[0], results.environment), table


def _title(configuration: Configuration, environment: Environment) -> str:
    of_data = [configuration.type, configuration.operator] if configuration.bytes else []
    what = " ".join(filter(None, [configuration.collective, *of_data, parts_text(configuration.parts)]))
    where = f"{environment.ranks} ranks on {environment.nodes} node{'s' if environment.nodes != 1 else ''}"
    return (
        f"{what}, {where}, {environment.library}, start by {configuration.start}\n"
        "microseconds of the slowest rank: minimum, median, ratio of the median to native's; "
        f"n: valid repetitions, where there are fewer than {LEAST_FOR_INTERVAL}"
    )


def _cell(configuration: Configuration, native: Configuration | None) -> str:
    summary = statistics.summary(configuration.seconds())
    if not summary.count:
        text = "no valid repetition"
    else:
        text = f"{_microseconds(summary.minimum)} {_microseconds(summary.median)}"
        reference = statistics.summary(native.seconds()).median if native is not None else math.nan
        if native is not configuration and not math.isnan(reference):
            text += f" {summary.median / reference:.2f}x"
        if not summary.certain:
            text += f" n={summary.count}"
    return f"{text} WRONG" if configuration.wrong() else text


def _microseconds(seconds: float) -> str:
    value = seconds / MICROSECOND
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"
