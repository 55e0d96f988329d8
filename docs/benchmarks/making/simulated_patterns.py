# SPDX-License-Identifier: BSD-3-Clause
"""Ten patterns of messages in SimGrid's simulated time, to hold virtual time against: into docs/benchmarks/data.

    python docs/benchmarks/making/simulated_patterns.py                        all (five minutes)
    python docs/benchmarks/making/simulated_patterns.py --ranks 36 --output /tmp

SimGrid runs Rondo itself, the same schedules with its own model of a network; page.py computes their virtual time and
shows both. It needs Debian's libsimgrid-dev.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.bench import plans
from rondo.cluster.shapes import Shape
from rondo.errors import Error
from simulation import DATA, build, show, simulate

FIELDS = ["collective", "algorithm", "ranks", "bytes", "latency", "rate", "eager", "seconds"]
LATENCY, RATE = 0.01, 100e6
EAGER = 64 << 10
"""Messages of up to so many bytes leave at once."""


@dataclass(frozen=True)
class Pattern:
    """An algorithm, and with how many elements it runs on how many ranks: of a part where ranks have parts."""

    collective: str
    algorithm: str
    counts: Mapping[int, Sequence[int]]
    eager: int = EAGER


BELOW_SEGMENTS = 4 << 10
NOTHING = 1  # leaves at once: else 128 ranks have 16256 messages under way together, which takes SimGrid minutes
# SMPI runs some twenty thousand messages a second: what sends a message from each rank to each has fewer ranks. Vectors
# are shorter where 1152 of them are in one process.
PATTERNS = [
    Pattern("bcast", "binomial", {36: (1, 12500), 128: (1, 12500), 1152: (1, 12500)}),
    Pattern("bcast", "two_tree:segment=8Ki", {36: (125000,), 128: (125000,), 1152: (12500,)}, BELOW_SEGMENTS),
    Pattern("scatter", "binomial", {36: (1, 1250), 128: (1, 1250), 1152: (1, 125)}),
    Pattern("allgather", "ring", {36: (1, 1250), 128: (1, 1250)}),
    Pattern("allreduce", "recursive_doubling", {36: (1, 12500), 128: (1, 12500), 1152: (1, 12500)}),
    Pattern("allreduce", "halving_doubling", {36: (1250, 125000), 128: (1250, 125000), 1152: (1250, 12500)}),
    Pattern("reduce_scatter", "circulant", {36: (1, 1250), 128: (1, 1250), 1152: (1, 10)}),
    Pattern("alltoall", "bruck", {36: (1, 12), 128: (1, 12), 1152: (1,)}),
    Pattern("alltoall", "pairwise", {36: (1, 1250)}),
    Pattern("alltoall", "pairwise", {128: (1, 1250)}, NOTHING),
    Pattern("exscan", "doubling_123", {36: (1, 12500), 128: (1, 12500), 1152: (1, 12500)}),
]
# Where one rank has several messages to another under way.
PIPELINES = [
    Pattern("bcast", "linear_pipeline:segment=8Ki", {36: (125000,)}, BELOW_SEGMENTS),
    Pattern("bcast", "linear_pipeline:segment=8Ki", {2: (125000,), 3: (125000,), 4: (125000,), 36: (125000,)}),
    Pattern("bcast", "two_tree:segment=8Ki", {36: (125000,)}),
]
FILES = {"simulated-patterns.csv": PATTERNS, "simulated-pipelines.csv": PIPELINES}


def simulated(pattern: Pattern, ranks: int) -> tuple[list[dict[str, object]], int]:
    """The rows of a file, and how many results were wrong."""
    plan = plans.make(
        pattern.collective,
        algorithms=[pattern.algorithm],
        counts=",".join(map(str, pattern.counts[ranks])),
        operator="bxor",
        repetitions=1,
        warmup=1,
        seconds=1e6,
    )
    print(f"{pattern.collective}, messages of up to {pattern.eager} bytes at once:", flush=True)
    results = simulate(Shape(ranks, 1, LATENCY, RATE), plan, pattern.eager, "")
    wrong = show(results)
    figures = {"latency": f"{LATENCY:g}", "rate": f"{RATE:g}", "eager": pattern.eager}
    rows: list[dict[str, object]] = [
        {
            "collective": pattern.collective,
            "algorithm": pattern.algorithm,
            "ranks": ranks,
            "bytes": each.bytes,
            **figures,
            "seconds": f"{min(each.seconds()):.6f}",
        }
        for each in results.configurations
    ]
    return rows, wrong


def write(patterns: Sequence[Pattern], wanted: Sequence[int], path: Path) -> int:
    """Simulates them on these numbers of ranks, or on all; returns how many results were wrong."""
    all_wrong = 0
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for pattern in patterns:
            for ranks in (each for each in pattern.counts if not wanted or each in wanted):
                rows, wrong = simulated(pattern, ranks)
                writer.writerows(rows)
                file.flush()
                all_wrong += wrong
    return all_wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, action="append", default=[], help="of 36, 128, 1152; may be repeated")
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        build()
        arguments.output.mkdir(parents=True, exist_ok=True)
        wrong = sum(write(each, arguments.ranks, arguments.output / name) for name, each in FILES.items())
    except (Error, subprocess.TimeoutExpired) as error:
        print(f"simulated_patterns: {error}", file=sys.stderr)
        return 1
    if wrong:
        print(f"simulated_patterns: {wrong} wrong results", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
