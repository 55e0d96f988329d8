# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of distributed arrays on two cores, with real computation: rondo.prefix_sum of doubles, under MPICH.

    python docs/benchmarks/making/real_prefix.py             into docs/benchmarks/data/real-prefix.csv (a minute)

For each scan one run of two ranks, in which all distributions and lengths take turns. The distributions are those of
`rondo calibrate`, which comes first. It needs what `make install` sets up, and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from rondo.distributions import distribution
from rondo.distributions.prefix_sum import CHAIN
from rondo.errors import Error

ROOT = Path(__file__).resolve().parents[3]
DATA = ROOT / "docs" / "benchmarks" / "data"
FILE = "real-prefix.csv"
MPI = ROOT / ".toolchain" / "mpich"
RONDO = Path(sys.executable).with_name("rondo")
RANKS = 2
LENGTHS = (100_000, 10_000_000)  # of the whole array: in the caches, and in memory
SCANS = (CHAIN, "broadcast", "two_op_doubling")
SECONDS = 100
HEAD = ["elements", "scan", "distribution", "counts", "predicted", "round", "seconds"]


def measure(scan: str, machine: str, rounds: int) -> None:
    """On every rank. Rank 0 prints a line for each time."""
    import numpy as np  # noqa: PLC0415
    from mpi4py import MPI  # noqa: PLC0415

    import rondo  # noqa: PLC0415

    comm = MPI.COMM_WORLD
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for elements in LENGTHS:
        plans = {
            how: rondo.distribution(elements, comm, how, algorithm=scan, machine=machine) for how in distribution.KINDS
        }
        whole = np.random.default_rng(1).integers(0, 100, elements).astype(float)
        wanted = np.cumsum(whole)
        arrays = {}
        for how, plan in plans.items():
            first = plan.offsets[comm.rank]
            part = slice(first, first + plan.counts[comm.rank])
            own = whole[part].copy()
            out = np.zeros_like(own)
            rondo.prefix_sum(own, out=out)
            assert np.array_equal(out, wanted[part])  # sums of whole numbers are exact
            arrays[how] = own, out
        for number in range(rounds):
            for how, (own, out) in arrays.items():
                repeated = max(1, 1_000_000 // elements)
                comm.Barrier()
                start = MPI.Wtime()
                for _ in range(repeated):
                    rondo.prefix_sum(own, out=out)
                seconds = comm.allreduce((MPI.Wtime() - start) / repeated, MPI.MAX)
                if comm.rank == 0:
                    counts = " + ".join(map(str, plans[how].counts))
                    writer.writerow([elements, scan, how, counts, plans[how].seconds, number, f"{seconds:.9f}"])


def run(scan: str, machine: Path, rounds: int) -> str:
    """The lines of one scan."""
    command = [MPI / "bin" / "mpiexec", "-n", RANKS, sys.executable, __file__]
    command += ["--rank", scan, "--machine", machine, "--rounds", rounds]
    environment = {
        **os.environ, "RONDO_PREFIX": scan, "MPI4PY_LIBMPI": str(MPI / "lib" / "libmpi.so.12"), "OMP_NUM_THREADS": "1"
    }  # fmt: skip
    return succeeded(command, environment)


def succeeded(command: list[object], environment: dict[str, str]) -> str:
    """What it prints; Error if it fails."""
    words = [str(each) for each in command]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
    if result.returncode != 0:
        raise Error(f"{' '.join(words)} failed\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return result.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25, help="%(default)s")
    parser.add_argument("--output", type=Path, default=DATA, help="directory (%(default)s)")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    parser.add_argument("--machine", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        measure(arguments.rank, arguments.machine, arguments.rounds)
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="rondo-prefix-") as name:
            machine = Path(name) / "machine"
            launcher = [MPI / "bin" / "mpiexec", "-n", RANKS]
            succeeded([RONDO, "calibrate", "--output", machine, "--", *launcher], dict(os.environ))
            print(machine.read_text(), file=sys.stderr)
            lines = "".join(run(scan, machine, arguments.rounds) for scan in SCANS)
        (arguments.output / FILE).write_text(",".join(HEAD) + "\n" + lines)
    except (Error, subprocess.TimeoutExpired) as error:
        print(f"real_prefix: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
