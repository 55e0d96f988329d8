# SPDX-License-Identifier: BSD-3-Clause
"""Calls that may overlap, many equal ones in a row on an emulated cluster: natively, and what the guard makes of them.

Ranks may leave a broadcast, a reduction, a scan, a gather or a scatter before others have come to it, so the time of
one of many is not that of one alone. The same calls natively, under the default rules without the guard, and under it
in a first run, which learns, and in the next, which knows: microseconds of a call on the slowest rank, medians over
rounds in which all take turns. Wanted: in the next run at most 1.1 of native. docs/benchmarks/tables/guard.md shows
what it wrote with --csv docs/benchmarks/data/guard-row.csv. With --collective, --bytes and --cluster it tries other
calls elsewhere; docs/benchmarks/tuning.md shows those of shapes that no rule knows.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from guard import FIRST, NATIVE, NEXT, UNGUARDED
from guarded_lines import rondo
from one_node import Subject, compiled
from rondo.cluster import cluster

COLLECTIVES = ("bcast", "reduce", "scan", "exscan", "gather", "scatter")
BYTES = (8, 1 << 10, 16 << 10, 64 << 10)
SECONDS = 3600
"""After which a run is given up."""
GUARDED_WAYS = (UNGUARDED, FIRST, NEXT)


def run(
    subject: Subject, running: cluster.Cluster, calls: int, cells: Sequence[str], variables: dict[str, str]
) -> Iterator[tuple[str, str, float]]:
    """Collective, bytes and microseconds of a call."""
    words = [str(subject.program), "calls", str(calls), *cells]
    command = running.command(subject.library, running.shape.ranks, words, variables)
    environment = {**subject.environment, **running.environment(subject.library)}
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=SECONDS, check=True)
    for line in found.stdout.splitlines():
        collective, size, _, microseconds = line.split()
        yield collective, size, float(microseconds)


def variables_of(way: str, subject: Subject, guard: str, learned: str) -> dict[str, str]:
    """What puts Rondo before the library, and tells it what it may remember."""
    if way == NATIVE:
        return {}
    return rondo(subject, **({} if way == UNGUARDED else {"RONDO_GUARD": guard, "RONDO_LEARNED": learned}))


def medians(
    subject: Subject, running: cluster.Cluster, arguments: argparse.Namespace, directory: Path
) -> Iterator[tuple[str, str, list[float]]]:
    """Collective, bytes and the microseconds of a call in each way."""
    cells = [f"{collective}:{size}" for collective in arguments.collective for size in arguments.bytes]
    times: dict[tuple[str, str], dict[str, list[float]]] = {}
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory(dir=directory) as learned:
            for way in arguments.way:
                variables = variables_of(way, subject, arguments.guard, learned)
                for collective, size, microseconds in run(subject, running, arguments.calls, cells, variables):
                    times.setdefault((collective, size), {}).setdefault(way, []).append(microseconds)
    for (collective, size), found in times.items():
        yield collective, size, [statistics.median(found[way]) for way in arguments.way]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", help="a library; may be repeated (default: mpich, openmpi)")
    parser.add_argument("--cluster", action="append", help="may be repeated (default: 8x1:1ms:200Mbit)")
    parser.add_argument("--calls", type=int, default=200, help="of each kind; a tenth from 256 KiB on")
    parser.add_argument("--collective", action="append", help=f"may be repeated (default: {', '.join(COLLECTIVES)})")
    parser.add_argument("--bytes", action="append", type=int, help=f"may be repeated (default: {BYTES})")
    parser.add_argument("--way", action="append", choices=GUARDED_WAYS, help="besides native; may be repeated (all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--guard", choices=["exact", "free"], default="exact")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the medians to it, cluster by cluster")
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    arguments.collective, arguments.bytes = arguments.collective or COLLECTIVES, arguments.bytes or BYTES
    arguments.way = (NATIVE, *(way for way in GUARDED_WAYS if not arguments.way or way in arguments.way))
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        table = None
        if arguments.csv is not None:
            table = csv.writer(
                stack.enter_context(arguments.csv.open("w", newline="", buffering=1)), lineterminator="\n"
            )
            table.writerow(["cluster", "mpi", "collective", "bytes", *arguments.way])
        for shape, mpi in itertools.product(
            arguments.cluster or ["8x1:1ms:200Mbit"], arguments.mpi or ("mpich", "openmpi")
        ):
            print(f"{shape} {mpi:26}" + "".join(f"{way:>13}" for way in arguments.way) + "   of native", flush=True)
            with cluster.opened(shape) as running:
                for collective, size, found in medians(compiled(mpi, directory), running, arguments, directory):
                    if table is not None:
                        table.writerow([shape, mpi, collective, size, *(f"{each:.1f}" for each in found)])
                    ratios = "".join(f"{each / found[0]:6.2f}" for each in found[1:])
                    print(f"{collective:15}{size:>8}   " + "".join(f"{each:13.0f}" for each in found) + "  " + ratios)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
