# SPDX-License-Identifier: BSD-3-Clause
"""What nonblocking collectives take natively and under Rondo, side by side.

Milliseconds on eight emulated nodes of one rank, medians over the rounds of all runs: from the call to the end of
MPI_Wait; the same while the program computes for as long, calling MPI_Test each millisecond; the blocking form. Then
microseconds of an MPI_Iallreduce of 8 bytes and of a message of 8 bytes between two ranks of one node, which Rondo must
not slow down.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
LIBRARIES = ("mpich", "openmpi")
SHAPE = {"nodes": "8", "latency": "2ms", "rate": "200Mbit"}
WAYS = ("nonblocking", "overlapped", "blocking")
SIDES = ("native", "rondo")
Times = dict[tuple[str, str, str], list[float]]


def compiled(library: str, directory: Path) -> Path:
    """The program, for this library."""
    program = directory / f"nonblocking-{library}"
    compiler = ROOT / ".toolchain" / library / "bin" / "mpicc"
    subprocess.run([compiler, "-O2", Path(__file__).with_suffix(".c"), "-o", program], check=True)
    return program


def on_cluster(side: str, library: str) -> list[str]:
    """The words before a program that runs on the emulated cluster."""
    if side == "native":
        return [
            "rondo",
            "cluster",
            "run",
            *(f"--{name}={value}" for name, value in SHAPE.items()),
            "--mpi",
            library,
            "--",
        ]
    shape = f"{SHAPE['nodes']}x1:{SHAPE['latency']}:{SHAPE['rate']}"
    return ["rondo", "run", "--guard", "off", "--cluster", shape, "--mpi", library, "--"]


def on_one_node(side: str, library: str) -> list[str]:
    """The words before a program of two ranks on this machine."""
    launcher = [str(ROOT / ".toolchain" / library / "bin" / "mpiexec"), "-n", "2"]
    return launcher if side == "native" else ["rondo", "run", "--", *launcher]


def run(words: list[str], side: str, times: Times) -> None:
    """Adds what a run prints."""
    environment = {**os.environ, "RONDO_RULES": str(ROOT / "tuning" / "default.rules")}
    output = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=600, env=environment).stdout
    for line in output.splitlines():
        name, way, time = line.split()
        times[name, way, side].append(float(time))


def table(library: str, times: Times) -> Table:
    """Medians, and what Rondo takes of the native time."""
    found = Table(title=f"{library}, 4 MiB, {SHAPE['nodes']}x1:{SHAPE['latency']}:{SHAPE['rate']}, ms")
    for column in ("collective", "form", "native", "Rondo", "of native"):
        found.add_column(column, justify="left" if column in ("collective", "form") else "right")
    for name, way in dict.fromkeys((name, way) for name, way, _ in times if way in WAYS):
        native, rondo = (statistics.median(times[name, way, side]) for side in SIDES)
        found.add_row(name, way, f"{native:.0f}", f"{rondo:.0f}", f"{rondo / native:.2f}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=524288, help="doubles")
    parser.add_argument("--rounds", type=int, default=3, help="of each run")
    parser.add_argument("--runs", type=int, default=2, help="of each library, natively and under Rondo in turn")
    parser.add_argument("--calls", type=int, default=20000, help="short ones")
    arguments = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory() as directory:
        for library in LIBRARIES:
            program = str(compiled(library, Path(directory)))
            times: Times = defaultdict(list)
            for _ in range(arguments.runs):
                for side in SIDES:
                    long = [program, str(arguments.count), str(arguments.rounds)]
                    run([*on_cluster(side, library), *long], side, times)
                    run([*on_one_node(side, library), program, "calls", str(arguments.calls)], side, times)
            console.print(table(library, times))
            for name in ("allreduce", "message"):
                native, rondo = (statistics.median(times[name, "short", side]) for side in SIDES)
                what = "MPI_Iallreduce" if name == "allreduce" else "message"
                console.print(f"{what} of 8 bytes, one node: native {native:.2f} us, Rondo {rondo:.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
