# SPDX-License-Identifier: BSD-3-Clause
"""Rondo beside Intel MPI's own autotuner: the program of guard.py, with Intel MPI, on an emulated cluster.

Natively; with the autotuner (I_MPI_TUNING_MODE=auto), which tries the library's algorithms while the program runs and
writes down what it has found, and in the next run, which reads that; under Rondo's default rules with the guard, in the
first run and in the next. So both have seen as many calls. Medians of interleaved runs, each relative to native.
Wanted: Rondo takes at most as long as the autotuner, in the first run and in the next.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from guard import FIRST, NATIVE, NEXT, opened, parsed, show
from rondo.launching.installation import DEFAULT_RULES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments = parsed(parser)
    for shape in arguments.cluster:
        compare(arguments, shape)
    return 0


def compare(arguments: argparse.Namespace, shape: str) -> None:
    """Measures on one shape, and shows it."""
    print(shape, file=sys.stderr, flush=True)
    times: dict[str, list[float]] = {}
    with opened(arguments, "impi", shape) as bench:
        for turn in range(arguments.runs):
            found, learned = bench.directory / f"tuned-{turn}.dat", bench.directory / f"learned-{turn}"
            learned.mkdir()
            guarded = {
                **bench.preload,
                "RONDO_RULES": str(DEFAULT_RULES),
                "RONDO_GUARD": "exact",
                "RONDO_LEARNED": str(learned),
            }
            ways = {
                NATIVE: {},
                f"autotuner, {FIRST}": {"I_MPI_TUNING_MODE": "auto", "I_MPI_TUNING_BIN_DUMP": str(found)},
                f"autotuner, {NEXT}": {"I_MPI_TUNING_BIN": str(found)},
                f"Rondo, {FIRST}": guarded,
                f"Rondo, {NEXT}": guarded,
            }
            for way, variables in ways.items():
                seconds = bench.seconds(variables, str(arguments.calls), arguments.kind)
                times.setdefault(way, []).append(seconds)
                if "I_MPI_TUNING_MODE" in variables and not found.exists():
                    raise SystemExit("Intel MPI's autotuner has written nothing down")
    show(times, arguments)
    if not arguments.json:
        for run in (FIRST, NEXT):
            both = zip(times[f"Rondo, {run}"], times[f"autotuner, {run}"], strict=True)
            ratio = statistics.median(ours / theirs for ours, theirs in both)
            print(f"{run}: Rondo takes {ratio:.3f} of the autotuner's time ({'met' if ratio <= 1 else 'missed'})")


if __name__ == "__main__":
    raise SystemExit(main())
