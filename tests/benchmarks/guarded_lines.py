# SPDX-License-Identifier: BSD-3-Clause
"""What the guard leaves of the gain, for every line of the default rules about one node: runs of 10,000 equal calls.

The same calls natively, under Rondo without the guard, and under it in a first run, which learns: microseconds of a
call, medians over rounds in which all take turns (calls of 256 KiB and more: a tenth as many). Wanted: guarded at most
1.1 of unguarded in the geometric mean over all cells that a line serves, and 1.25 at worst. The page
docs/benchmarks/tables/guard.md shows what it wrote with --csv docs/benchmarks/data/guard-lines.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from one_node import COLLECTIVES, Subject, compiled
from rondo.launching.installation import DEFAULT_RULES, preload_library
from rondo.launching.mpi_library import ABI_OF

BYTES = (8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20)
WAYS = ("native", "unguarded", "guarded")
Cell = tuple[str, int]


def output(subject: Subject, cells: list[Cell], calls: int, environment: dict[str, str]) -> str:
    """Of a run, which has so much more in its environment."""
    words = [f"{collective}:{size}" for collective, size in cells]
    command = [*subject.words(environment), "-n", "2", str(subject.program), "calls", str(calls), *words]
    return subprocess.run(
        command, stdout=subprocess.PIPE, text=True, timeout=600, check=True, env=subject.environment
    ).stdout


def rondo(subject: Subject, **more: str) -> dict[str, str]:
    """What puts Rondo with its default rules before a library."""
    return {
        "LD_PRELOAD": str(preload_library(ABI_OF[subject.library.name])),
        "RONDO_RULES": str(DEFAULT_RULES),
        **more,
    }


def served(subject: Subject, cells: list[Cell]) -> dict[Cell, int]:
    """By which line of the rules Rondo serves calls, where it does: by its report of a few."""
    found: dict[Cell, int] = {}
    for cell in cells:
        with tempfile.TemporaryDirectory() as directory:
            output(subject, [cell], 50, rondo(subject, RONDO_REPORT=directory))
            report = json.loads(next(Path(directory).glob("*.json")).read_text())
        for entry in report["entries"]:
            calls = sum(each["calls"] for each in entry["classes"])
            if entry["collective"] == cell[0] and entry["algorithm"] != "native" and calls > 1:
                found[cell] = entry["line"]
    return found


def lines_about(library: str) -> set[int]:
    """The lines of the default rules about one node and this library, by number."""
    about = re.compile(rf"^\w+ .*nodes = 1, .*library = {library}\b")
    text = DEFAULT_RULES.read_text().splitlines()
    return {number for number, line in enumerate(text, start=1) if about.search(line)}


def measure(subject: Subject, cells: list[Cell], arguments: argparse.Namespace) -> dict[tuple[Cell, str], list[float]]:
    """Microseconds of a call, round by round."""
    times: dict[tuple[Cell, str], list[float]] = {}
    for _ in range(arguments.rounds):
        for way in WAYS:
            with tempfile.TemporaryDirectory() as learned:
                guard = {"RONDO_GUARD": arguments.guard, "RONDO_LEARNED": learned} if way == "guarded" else {}
                environment = {} if way == "native" else rondo(subject, **guard)
                for line in output(subject, cells, arguments.calls, environment).splitlines():
                    collective, size, _, microseconds = line.split()
                    times.setdefault(((collective, int(size)), way), []).append(float(microseconds))
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", help="a library; may be repeated (default: mpich, openmpi, impi)")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--guard", choices=["exact", "free"], default="exact")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the medians to it")
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    os.environ.update({"OMPI_MCA_osc": "^ucx"})
    all_cells = [(collective, size) for collective in COLLECTIVES if collective != "barrier" for size in BYTES]
    all_cells.append(("barrier", 0))
    rows: list[list[object]] = []
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as directory:
        for mpi in arguments.mpi or ("mpich", "openmpi", "impi"):
            subject = compiled(mpi, Path(directory))
            lines = served(subject, all_cells)
            missed = lines_about(subject.library.name) - set(lines.values())
            print(f"{mpi}: lines {', '.join(map(str, sorted(missed)))} serve no call here" if missed else mpi)
            head = "".join(f"{way:>10}" for way in WAYS)
            print(f"{'collective':14} {'bytes':>8} {'line':>5}{head}   of unguarded")
            times = measure(subject, list(lines), arguments)
            for cell, line in lines.items():
                native, without, guarded = (statistics.median(times[cell, way]) for way in WAYS)
                by_round = zip(times[cell, "guarded"], times[cell, "unguarded"], strict=True)
                ratio = statistics.median(ours / theirs for ours, theirs in by_round)
                ratios.append(ratio)
                rows.append([mpi, *cell, line, *(f"{each:.4f}" for each in (native, without, guarded)), f"{ratio:.3f}"])
                figures = f"{native:9.2f} {without:9.2f} {guarded:9.2f}   {ratio:.2f}"
                print(f"{cell[0]:14} {cell[1]:8} {line:5} {figures}", flush=True)
    mean = math.exp(statistics.fmean(math.log(each) for each in ratios))
    print(f"guarded: {mean:.3f} of unguarded in the geometric mean of {len(ratios)} cells, {max(ratios):.2f} at worst")
    if arguments.csv is not None:
        with arguments.csv.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            head = ["library", "collective", "bytes", "line", *WAYS, "of_unguarded"]
            writer.writerows([head, *rows])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
