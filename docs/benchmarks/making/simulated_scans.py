# SPDX-License-Identifier: BSD-3-Clause
"""The exclusive scans in simulated time: the benchmark driver and Rondo, compiled for SimGrid's SMPI.

    python docs/benchmarks/making/simulated_scans.py       36 and 1152 ranks (two minutes), into docs/benchmarks/data
    python docs/benchmarks/making/simulated_scans.py --ranks 36 --counts 1,100000 --output /tmp

A second opinion on the order of the algorithms: SimGrid knows nothing of our switch, of sockets or of this machine's
processor. It needs Debian's libsimgrid-dev. SMPI's own MPI_Exscan is naive and no baseline; it serves to check results.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from rondo.bench import plans
from rondo.bench.results import write
from rondo.cluster import shapes
from rondo.errors import Error
from simulation import DATA, build, show, simulate

MOST_RANKS_OF_NATIVE = 100  # SMPI's own sends p (p - 1) / 2 messages
ALGORITHMS = ["native", "two_op_doubling", "one_doubling", "doubling_123", "cyclic_doubling"]
# By ranks: the large run is a short one.
COUNTS = {36: "1,100,10000,100000", 1152: "1,10000"}
REPETITIONS = {36: 2, 1152: 1}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, action="append", help="36 and 1152; may be repeated")
    parser.add_argument("--counts", help="1,100,10000,100000; of 1152 ranks 1,10000")
    parser.add_argument("--latency", default="10ms", help="%(default)s")
    parser.add_argument("--rate", default="100Mbit", help="%(default)s")
    parser.add_argument("--repetitions", type=int, help="2; of 1152 ranks 1")
    parser.add_argument(
        "--eager", type=int, default=65536, help="bytes up to which messages leave at once (%(default)s)"
    )
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    wrong = 0
    try:
        build()
        arguments.output.mkdir(parents=True, exist_ok=True)
        for ranks in arguments.ranks or list(COUNTS):
            latency, rate = shapes.latency(arguments.latency), shapes.rate(arguments.rate)
            plan = plans.make(
                "exscan",
                algorithms=ALGORITHMS if ranks <= MOST_RANKS_OF_NATIVE else ALGORITHMS[1:],
                counts=arguments.counts or COUNTS.get(ranks, COUNTS[36]),
                operator="bxor",
                repetitions=arguments.repetitions or REPETITIONS.get(ranks, REPETITIONS[36]),
                warmup=1,
                seconds=1e6,
            )
            shape = shapes.Shape(ranks, 1, latency, rate)
            results = simulate(shape, plan, arguments.eager, "python docs/benchmarks/making/simulated_scans.py")
            wrong += show(results)
            write(results, arguments.output / f"simulated-{ranks}.json")
    except (Error, subprocess.TimeoutExpired) as error:
        print(f"simulated_scans: {error}", file=sys.stderr)
        return 1
    if wrong:
        print(f"simulated_scans: {wrong} wrong results", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
