# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of doubles on one node: rondo.prefix_sum beside what one writes with NumPy and MPI_Exscan.

Two ranks, which share 10^3 to 10^8 doubles. All variants take turns, in rounds; the figures are medians over the rounds
of the time of the slower rank.

  by hand  numpy.cumsum into an array that is there already, MPI_Exscan of its last element, and an addition in place
  Rondo    rondo.prefix_sum into an array that is there already
  of copy  what memory allows, over what Rondo took: half of the time of a copy (numpy.copyto) on rank 0 alone, which
           reads its array for its total while rank 1 waits, and a copy on both ranks, all in the same rounds

    python tests/benchmarks/prefix.py [--mpi mpich] [--largest 100000000] [--rounds 15]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

RANKS = 2


def measure(largest: int, rounds: int) -> None:
    """On every rank. Rank 0 prints a table."""
    import numpy as np  # noqa: PLC0415
    from mpi4py import MPI  # noqa: PLC0415

    import rondo  # noqa: PLC0415

    comm = MPI.COMM_WORLD

    def by_hand(array: np.ndarray, out: np.ndarray) -> None:
        np.cumsum(array, out=out)
        before = np.zeros(1)
        comm.Exscan(out[-1:].copy(), before)
        if comm.rank > 0:
            out += before

    variants = {
        "by hand": by_hand,
        "Rondo": lambda a, b: rondo.prefix_sum(a, comm, out=b),
        "copy": lambda a, b: np.copyto(b, a),
        "copy alone": lambda a, b: np.copyto(b, a) if comm.rank == 0 else None,
    }
    if comm.rank == 0:
        print(f"{'doubles':>10} {'by hand, ms':>12} {'Rondo, ms':>11} {'times as fast':>14} {'of copy':>8}")
    total = 1000
    while total <= largest:
        own = np.random.default_rng(comm.rank).random(total // comm.size)
        out = np.zeros_like(own)
        repeated = max(1, 200000 // total)
        times: dict[str, list[float]] = {name: [] for name in variants}
        for _ in range(rounds):
            for name, call in variants.items():
                comm.Barrier()
                start = MPI.Wtime()
                for _ in range(repeated):
                    call(own, out)
                times[name].append(comm.allreduce((MPI.Wtime() - start) / repeated, MPI.MAX))
        wanted = np.empty_like(own)
        by_hand(own, wanted)
        rondo.prefix_sum(own, comm, out=out)
        assert np.allclose(out, wanted, rtol=1e-10)
        if comm.rank == 0:
            hand, ours, copy, alone = (1e3 * statistics.median(times[name]) for name in variants)
            possible = alone / 2 + copy
            print(f"{total:10} {hand:12.4f} {ours:11.4f} {hand / ours:14.2f} {possible / ours:8.2f}", flush=True)
        total *= 10


def main() -> None:
    """Starts itself on all ranks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich", help="which of the libraries in tests/mpi_libraries.py")
    parser.add_argument("--largest", type=int, default=10**8)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--rank", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank:
        measure(arguments.largest, arguments.rounds)
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from mpi_libraries import LIBRARIES  # noqa: PLC0415

    mpi = LIBRARIES[arguments.mpi]
    own = [sys.executable, __file__, "--rank", "--largest", arguments.largest, "--rounds", arguments.rounds]
    command = mpi.command(RANKS, {"MPI4PY_LIBMPI": str(mpi.shared_library), "OMP_NUM_THREADS": "1"}, own)
    raise SystemExit(subprocess.run(list(map(str, command)), check=False).returncode)


if __name__ == "__main__":
    main()
