# SPDX-License-Identifier: BSD-3-Clause
"""What the guard costs, and what it saves: collectives as applications call them, on an emulated cluster.

The same program natively; under rules that choose algorithms some three times slower than the library's, and under the
default rules: each without the guard, with it in a first run that learns, and in the next one that knows. Medians of
interleaved runs, each relative to native. Wanted: slow rules at most 1.05 of native in the first run, 1.01 in the next;
of what the default rules gain, at least 0.95 is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from rondo.cluster import cluster
from rondo.launching import mpi_library
from rondo.launching.installation import DEFAULT_RULES, preload_library

SLOW_RULES = """
allreduce  -> ring
bcast      -> linear_pipeline
reduce     -> linear_pipeline
exscan     -> linear_pipeline
allgather  -> ring
"""
FIRST, NEXT = "first run", "next run"
WAYS = {
    "native": None,
    **{f"{rules} rules, {how}": (rules, how) for rules in ("slow", "default") for how in ("not guarded", FIRST, NEXT)},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument("--cluster", default="8x1:1ms:200Mbit")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--guard", choices=["exact", "free"], default="exact")
    arguments = parser.parse_args()
    library = mpi_library.find(arguments.mpi, os.environ)
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as directory, cluster.opened(arguments.cluster) as running:
        slow = Path(directory) / "slow.rules"
        slow.write_text(SLOW_RULES)
        rules = {"slow": slow, "default": DEFAULT_RULES}
        program = Path(directory) / "guard"
        compiler = library.compiler.with_name(library.compiler.name.replace("mpicxx", "mpicc"))
        subprocess.run([str(compiler), "-O2", str(Path(__file__).with_name("guard.c")), "-o", str(program)], check=True)
        preload = str(preload_library(mpi_library.ABI_OF[library.name]))
        for _ in range(arguments.runs):
            for way, under in WAYS.items():
                variables = {}
                if under is not None:
                    variables = {"LD_PRELOAD": preload, "RONDO_RULES": str(rules[under[0]])}
                if under is not None and under[1] in (FIRST, NEXT):
                    learned = Path(directory) / under[0]
                    if under[1] == FIRST:
                        shutil.rmtree(learned, ignore_errors=True)
                        learned.mkdir()
                    variables |= {"RONDO_GUARD": arguments.guard, "RONDO_LEARNED": str(learned)}
                words = running.command(library, running.shape.ranks, [str(program), str(arguments.calls)], variables)
                output = subprocess.run(
                    words,
                    capture_output=True,
                    text=True,
                    timeout=300,
                    check=True,
                    env={**os.environ, **running.environment(library)},
                ).stdout
                times.setdefault(way, []).append(float(output))
    medians = {way: statistics.median(each) for way, each in times.items()}
    for way, seconds in medians.items():
        row = {"way": way, "seconds": seconds, "of_native": seconds / medians["native"]}
        print(json.dumps(row) if arguments.json else f"{way:24} {seconds:9.3f} s  {row['of_native']:6.3f} of native")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
