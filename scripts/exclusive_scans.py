# SPDX-License-Identifier: BSD-3-Clause
"""Measures the exclusive scans on emulated clusters, and writes what docs/benchmarks/exclusive-scans.md shows.

    python scripts/exclusive_scans.py                     measure everything (half an hour), then as `page`
    python scripts/exclusive_scans.py measure table-36x1  one experiment, or several
    python scripts/exclusive_scans.py page                tables and figures from the results in docs/benchmarks/data

It needs what `make install` sets up, for simulated time Debian's libsimgrid-dev, and a machine that does nothing else:
`rondo cluster check` says whether it is fit.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmark_page import (
    DATA,
    ENVIRONMENT_HEAD,
    LIBRARIES,
    PAGES,
    RONDO,
    ROOT,
    by_label,
    environment_row,
    main,
    markdown,
    minimum,
    number,
)
from benchmark_page import filled as page_filled
from rondo.bench.results import NATIVE, read

PAGE = PAGES / "exclusive-scans.md"
DOUBLING = ["two_op_doubling", "one_doubling", "doubling_123", "cyclic_doubling"]
SEGMENTS = ["8Ki", "16Ki", "32Ki", "64Ki", "128Ki", "256Ki", "512Ki"]


@dataclass(frozen=True)
class Experiment:
    """One run of `rondo bench exscan` with each library."""

    shape: str
    algorithms: Sequence[str]
    counts: str
    seconds: int
    repetitions: int

    def words(self, library: str, output: Path) -> list[str]:
        algorithms = [word for each in (NATIVE, *self.algorithms) for word in ("--algorithm", each)]
        prefix = ROOT / ".toolchain" / library
        return [
            str(RONDO), "bench", "exscan", *algorithms, "--counts", self.counts, "--type", "long", "--op", "bxor",
            "--repetitions", str(self.repetitions), "--seconds", str(self.seconds), "--cluster", self.shape,
            "--mpi", str(prefix), "--output", str(output),
        ]  # fmt: skip


TABLE_COUNTS = "1,10,100,1000,10000,100000"
EXPERIMENTS = {
    "table-36x1": Experiment("36x1:10ms:100Mbit", DOUBLING, TABLE_COUNTS, 120, 30),
    "table-8x4": Experiment("8x4:5ms:100Mbit", DOUBLING, TABLE_COUNTS, 75, 30),
    "rounds-16x1": Experiment("16x1:5ms:200Mbit", DOUBLING, "1", 25, 40),
    "pipeline-8x1": Experiment(
        "8x1:2ms:200Mbit", [f"linear_pipeline:segment={segment}" for segment in SEGMENTS], "524288", 50, 12
    ),
}

# Table 1 of the paper, microseconds: count -> native (MPICH 4.1.2), two-op, 1-doubling, 123-doubling.
PAPER_COLUMNS = [NATIVE, "two_op_doubling", "one_doubling", "doubling_123"]
PAPER = {
    "table-36x1": {
        1: (10.61, 8.92, 9.79, 9.17),
        10: (16.86, 15.68, 18.29, 16.58),
        100: (18.78, 17.34, 19.83, 17.95),
        1000: (36.77, 34.98, 35.13, 32.38),
        10000: (276.31, 247.39, 218.06, 207.29),
        100000: (2558.52, 1789.40, 1351.72, 1333.91),
    },
    "table-36x32": {
        1: (27.27, 22.23, 25.61, 25.36),
        10: (31.59, 33.55, 36.36, 35.67),
        100: (37.55, 38.77, 40.96, 39.97),
        1000: (160.34, 160.40, 155.99, 147.20),
        10000: (1124.82, 1103.67, 1095.03, 1018.43),
        100000: (14456.12, 15107.82, 11120.00, 10921.26),
    },
}


def data_file(name: str, library: str) -> Path:
    return DATA / f"{name}-{library}.json"


def measure(names: Sequence[str]) -> None:
    DATA.mkdir(parents=True, exist_ok=True)
    for name in names:
        for library, title in LIBRARIES.items():
            output = data_file(name, library).with_suffix("")
            print(f"{name}, {title}", flush=True)
            subprocess.run(EXPERIMENTS[name].words(library, output), check=True)
            for path in (output.with_suffix(".json"), output.with_suffix(".csv")):
                path.write_text(path.read_text().replace(f"{ROOT}/", ""))  # the checkout may lie anywhere


# ------------------------------------------------------------------------------------------------ tables


def table_of_ratios(name: str) -> str:
    """Per library: native in milliseconds, the others as ratios to it."""
    rows = [["m", "library", "native, ms", *(f"`{each}`" for each in DOUBLING)]]
    for count in map(int, TABLE_COUNTS.split(",")):
        for library, title in LIBRARIES.items():
            found = by_label(read(data_file(name, library)), count)
            native = minimum(found[NATIVE])
            ratios = [number(minimum(found[each]) / native, 2) for each in DOUBLING]
            rows.append([str(count), title, number(native, 2), *ratios])
    return markdown(rows)


def table_of_paper(name: str) -> str:
    rows = [["m", "native, µs", *(f"`{each}`" for each in PAPER_COLUMNS[1:])]]
    for count, (native, *others) in PAPER[name].items():
        rows.append([str(count), f"{native:.2f}", *(f"{each / native:.2f}" for each in others)])
    return markdown(rows)


def table_of_rounds() -> str:
    rows = [["library", "native", *(f"`{each}`" for each in DOUBLING)]]
    for library, title in LIBRARIES.items():
        results = read(data_file("rounds-16x1", library))
        emulation = results.environment.emulation
        assert emulation is not None
        found = by_label(results, 1)
        rounds = [minimum(found[each]) / (1e3 * emulation.latency) for each in (NATIVE, *DOUBLING)]
        rows.append([title, *(number(each, 2) for each in rounds)])
    return markdown([*rows, ["lock step", "", "4", "5", "5", "4"], ["dataflow", "", "4", "4", "4", "4"]])


def table_of_pipeline() -> str:
    labels = [f"linear_pipeline:segment={segment}" for segment in SEGMENTS]
    rows = [["library", "native", *(f"`segment={segment}`" for segment in SEGMENTS)]]
    for library, title in LIBRARIES.items():
        found = by_label(read(data_file("pipeline-8x1", library)), 524288)
        rows.append([title, *(number(minimum(found[label]), 0) for label in (NATIVE, *labels))])
    return markdown(rows)


def table_of_simulation() -> str:
    files = {int(path.stem.rpartition("-")[2]): path for path in DATA.glob("simulated-*.json")}
    rows = [["ranks", "m", *(f"`{each}`" for each in DOUBLING)]]
    for ranks, path in sorted(files.items()):
        results = read(path)
        for count in sorted({each.count for each in results.configurations}):
            found = by_label(results, count)
            rows.append([str(ranks), str(count), *(f"{minimum(found[each]):.1f}" for each in DOUBLING)])
    return markdown(rows)


def table_of_environments() -> str:
    rows = [environment_row(name, read(data_file(name, library))) for name in EXPERIMENTS for library in LIBRARIES]
    return markdown([ENVIRONMENT_HEAD, *rows])


BLOCKS: dict[str, Callable[[], str]] = {
    "table-36x1": lambda: table_of_ratios("table-36x1"),
    "table-8x4": lambda: table_of_ratios("table-8x4"),
    "paper-36x1": lambda: table_of_paper("table-36x1"),
    "paper-36x32": lambda: table_of_paper("table-36x32"),
    "rounds": table_of_rounds,
    "pipeline": table_of_pipeline,
    "simulated": table_of_simulation,
    "environments": table_of_environments,
}


def filled(page: str) -> str:
    return page_filled(page, BLOCKS, PAGE)


def write_page() -> None:
    PAGE.write_text(filled(PAGE.read_text()))
    for library in LIBRARIES:
        figures = DATA.parent / "figures" / library
        words = [
            str(data_file("table-36x1", library)),
            "--figures",
            str(figures),
            "--format",
            "png",
            "--line",
            "minimum",
        ]
        subprocess.run([str(RONDO), "report", *words], check=True)


if __name__ == "__main__":
    sys.exit(main("exclusive_scans", __doc__, list(EXPERIMENTS), measure, write_page))
