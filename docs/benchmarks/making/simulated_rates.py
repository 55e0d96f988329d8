# SPDX-License-Identifier: BSD-3-Clause
"""How many messages a second SimGrid and virtual time run: into docs/benchmarks/data/simulated-rates.csv.

    python docs/benchmarks/making/simulated_rates.py                                              (one minute)

One pattern, an allreduce of 8 bytes by recursive doubling, in seconds of one core. SimGrid replays traces of it, and
runs no program. Of a long and of a short trace the difference counts: what comes before the first message does not.
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rondo.cluster.shapes import Shape
from rondo.errors import Error
from simulated_patterns import EAGER, LATENCY, RATE
from simulated_tables import machine_of, virtual_time_of
from simulation import DATA, words_of

FILE = "simulated-rates.csv"
FIELDS = ["simulator", "collective", "algorithm", "ranks", "messages", "seconds"]
COLLECTIVE, ALGORITHM = "allreduce", "recursive_doubling"
RANKS, BYTES = 1024, 8
ROUNDS = RANKS.bit_length() - 1
CALLS = 10
"""That the long trace has more than the short one, and that are predicted one after the other."""


def trace(calls: int) -> Iterator[str]:
    """Lines of all ranks, as SimGrid replays them."""
    for rank in range(RANKS):
        yield f"{rank} init"
    for _ in range(calls):
        for distance in (1 << each for each in range(ROUNDS)):
            for rank in range(RANKS):
                peer = rank ^ distance
                yield f"{rank} irecv {peer} 0 {BYTES}\n{rank} isend {peer} 0 {BYTES}\n{rank} waitall"
    for rank in range(RANKS):
        yield f"{rank} finalize"


def replayed(calls: int) -> float:
    """Seconds of the processor."""
    with tempfile.TemporaryDirectory(prefix="rondo-simgrid-") as name:
        directory = Path(name)
        (directory / "trace").write_text("\n".join(trace(calls)) + "\n")
        (directory / "traces").write_text("trace\n")  # one for all ranks
        words = words_of(Shape(RANKS, 1, LATENCY, RATE), EAGER, directory)
        words += ["-no-privatize", "-replay", "traces"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run(words, cwd=directory, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode != 0:
        raise Error(f"{' '.join(words)} failed\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def predicted() -> float:
    """The same of a prediction, its plans included."""
    machine = machine_of({"latency": str(LATENCY), "rate": str(RATE), "eager": str(EAGER)})
    before = time.process_time()
    virtual_time_of(COLLECTIVE, ALGORITHM, RANKS, BYTES, machine)
    return time.process_time() - before


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    arguments = parser.parse_args()
    try:
        short, long = replayed(1), replayed(1 + CALLS)
        seconds = {
            "SimGrid": (long - short) / CALLS,
            "virtual time": statistics.median(predicted() for _ in range(CALLS)),
        }
    except Error as error:
        print(f"simulated_rates: {error}", file=sys.stderr)
        return 1
    with (arguments.output / FILE).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for simulator, each in seconds.items():
            writer.writerow([simulator, COLLECTIVE, ALGORITHM, RANKS, RANKS * ROUNDS, f"{each:.4f}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
