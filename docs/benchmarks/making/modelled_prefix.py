# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of distributed arrays on an emulated cluster, with modelled computation: ranks sleep for their passes.

    python docs/benchmarks/making/modelled_prefix.py                  8x1:2ms:200Mbit, three MPI libraries, two minutes
    python docs/benchmarks/making/modelled_prefix.py --cluster 36x1:10ms:100Mbit --repetitions 7

The times go into docs/benchmarks/data/modelled-prefix-RANKS.csv, from where `page.py --show prefix-sums` takes
them. It needs what `make install` sets up, and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rondo.cluster import cluster, shapes
from rondo.distributions import distribution
from rondo.distributions.prefix_sum import CHAIN, PrefixSum, name_of
from rondo.errors import Error
from rondo.launching.mpi_library import NAMES

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs" / "benchmarks" / "data"
PROGRAM = ROOT / "tests" / "benchmarks" / "modelled_prefix.c"
TOOLCHAIN = ROOT / ".toolchain"
RONDO = Path(sys.executable).with_name("rondo")
LIBRARY = "mpich"  # that runs Rondo's algorithms
LOADS = (40, 10)  # what both passes take on a rank, in latencies, if all have as many elements
ELEMENTS = 2000  # of a rank, in the mean
NATIVE = "native"
SECONDS = 140
SCANS = (CHAIN, "broadcast", "two_op_doubling")
STEPS = (0.24, 0.48, 2, 3)  # of a chain's other ladders, as the paper's 6000 to 75 000 are to its 25 000


@dataclass(frozen=True)
class Row:
    """One distribution under one scan."""

    library: str
    algorithm: str
    load: int
    how: str
    prefix_sum: PrefixSum
    counts: list[int]

    @property
    def name(self) -> str:
        return f"{self.load}/{self.how}"

    @property
    def line(self) -> str:
        passes = f"{self.prefix_sum.first_pass} {self.prefix_sum.second_pass}"
        return f"{self.name} {passes} {' '.join(map(str, self.counts))}\n"

    @property
    def predicted(self) -> float:
        """Seconds of virtual time; nan for what the library does."""
        if self.algorithm == NATIVE:
            return float("nan")
        return self.prefix_sum.timeline(self.algorithm, self.counts).seconds


def rows(shape: shapes.Shape, library: str, algorithm: str) -> list[Row]:
    """All distributions that are measured together."""
    figures = cluster.machine_of(shape, os.cpu_count() or 1)
    found = []
    for load in LOADS:
        passes = load * shape.latency / ELEMENTS / 2
        subject = PrefixSum(shape.ranks, figures, passes, passes)
        for how in distributions(algorithm, subject):
            counts = distribution.counts_of(subject, ELEMENTS * shape.ranks, how, algorithm)
            found.append(Row(library, algorithm, load, how, subject, counts))
    return found


def distributions(algorithm: str, subject: PrefixSum) -> list[str]:
    """That are measured with it."""
    if algorithm == NATIVE:
        return ["even"]
    steps = [f"ladder:step={round(each * subject.step)}" for each in STEPS] if algorithm == CHAIN else []
    return [*distribution.KINDS, *steps]


def compiled(library: str, directory: Path) -> Path:
    """The program, for one MPI library."""
    program = directory / f"modelled_prefix-{library}"
    command = [TOOLCHAIN / library / "bin" / "mpicc", "-O2", PROGRAM, "-o", program]
    environment = {**os.environ, "I_MPI_ROOT": str(TOOLCHAIN / library)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Error(f"{PROGRAM.name} does not compile for {NAMES[library]}\n{result.stderr}")
    return program


def measured(shape: shapes.Shape, plan: list[Row], repetitions: int, directory: Path) -> dict[str, list[float]]:
    """Seconds of all repetitions, by the rows' names."""
    library, algorithm = plan[0].library, plan[0].algorithm
    (directory / "plan").write_text("".join(each.line for each in plan))
    program = [compiled(library, directory), directory / "plan", directory / "times", repetitions]
    where = ["--cluster", shape, "--mpi", TOOLCHAIN / library]
    how = ["--use", f"exscan={name_of(algorithm)}", "--guard", "off"]
    if algorithm == NATIVE:
        options = ["--nodes", shape.nodes, "--per-node", shape.per_node]
        options += ["--latency", shapes.latency_text(shape.latency), "--rate", shapes.rate_text(shape.rate)]
        command = [RONDO, "cluster", "run", *options, "--mpi", TOOLCHAIN / library, "--", *program]
    else:
        command = [RONDO, "run", *where, *how, "--", *program]
    result = subprocess.run(
        [str(each) for each in command], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    if result.returncode != 0:
        raise Error(f"{' '.join(map(str, command))} failed\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    times: dict[str, list[float]] = {each.name: [] for each in plan}
    for line in (directory / "times").read_text().splitlines():
        name, seconds = line.split()
        times[name].append(float(seconds))
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", default="8x1:2ms:200Mbit", help="shape (%(default)s)")
    parser.add_argument("--repetitions", type=int, default=15, help="%(default)s")
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        shape = shapes.parse(arguments.cluster)
        plans = [rows(shape, library, NATIVE) for library in NAMES]
        plans += [rows(shape, LIBRARY, algorithm) for algorithm in SCANS]
        path = arguments.output / f"modelled-prefix-{shape.ranks}.csv"
        with tempfile.TemporaryDirectory(prefix="rondo-prefix-") as name, path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            head = ["cluster", "library", "algorithm", "load", "distribution", "predicted", "repetition", "seconds"]
            writer.writerow(head)
            for plan in plans:
                times = measured(shape, plan, arguments.repetitions, Path(name))
                for each in plan:
                    facts = [str(shape), each.library, each.algorithm, each.load, each.how, f"{each.predicted:.9f}"]
                    writer.writerows([*facts, number, seconds] for number, seconds in enumerate(times[each.name]))
                print(f"{plan[0].library} {plan[0].algorithm}: done", file=sys.stderr)
    except (Error, subprocess.TimeoutExpired) as error:
        print(f"modelled_prefix: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
