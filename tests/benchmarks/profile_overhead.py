# SPDX-License-Identifier: BSD-3-Clause
"""Instructions that `rondo profile` adds to a call, counted by callgrind (valgrind) in the profiler's own code.

One element on two ranks, by overhead.c. A call may cost at most 150 instructions, and 10 for each count where counts
have to be added up. Counted after some thousands of calls, of which few are sampled, as in a program that makes many.

With --program: what a whole program of 2000 calls (guard.c) costs more, from its start to its end, with all files and
samples. One rank alone, for whom nobody waits, natively and profiled in turn: processor time, and instructions of
program, libraries and dynamic linker. Wanted: at most 1% of a run on the emulated cluster.

The exit code says whether all that holds.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overhead import HANDED_ON, LIBRARIES, MOST_INSTRUCTIONS_TO_ADD_A_COUNT, ROOT, measure, own_instructions
from rondo.bench.statistics import summary
from rondo.cluster import cluster
from rondo.launching import mpi_library
from rondo.launching.installation import profile_library

REPETITIONS = 500
BEFORE = 5000
MOST_INSTRUCTIONS = 150
FUNCTIONS = [*HANDED_ON, "comm_rank"]
CALLS = "2000"
PAIRS = 40
MOST_OF_A_RUN = 0.01
CLUSTER = "8x1:1ms:200Mbit"
ADDED_UP = {"allgatherv", "alltoallv", "gatherv", "reduce_scatter", "scatterv"}


def most(function: str) -> int:
    """Instructions, for two ranks."""
    return MOST_INSTRUCTIONS + (2 * MOST_INSTRUCTIONS_TO_ADD_A_COUNT if function in ADDED_UP else 0)


def measured(library: str, program: Path, function: str) -> float:
    """Instructions per call in the profiler, of the rank with more of them."""
    variables = {"LD_PRELOAD": str(profile_library(library)), "RONDO_PROFILE": str(program.parent)}
    measure(library, program, function, "handed_on", variables, repetitions=REPETITIONS, before=BEFORE)
    profiles = list(program.parent.glob(f"{program.name}-{function}-handed_on.*"))
    counted = max(own_instructions(profile) for profile in profiles)
    for path in [*profiles, *program.parent.glob("*.profile")]:
        path.unlink()
    return counted / REPETITIONS


def processor_seconds(program: Path, environment: dict[str, str]) -> float:
    """Of the user and of the system, of one rank alone."""
    process = subprocess.Popen([program, CALLS], env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"profile_overhead: {program} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def instructions(program: Path, environment: dict[str, str]) -> int:
    """From start to end, of one rank alone."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, CALLS]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", result.stderr)[1])  # type: ignore[index]


def seconds_on_cluster(library: str, program: Path) -> float:
    """Wall time of the program on the emulated cluster, natively."""
    mpi = mpi_library.find(library, os.environ)
    with cluster.opened(CLUSTER) as running:
        words = running.command(mpi, running.shape.ranks, [str(program), CALLS], {})
        environment = {**os.environ, **running.environment(mpi)}
        begin = time.monotonic()
        subprocess.run(words, env=environment, capture_output=True, timeout=120, check=True)
        return time.monotonic() - begin


def of_a_program(library: str, program: Path) -> dict[str, object]:
    """What a rank of the program takes more."""
    ways = {
        "native": dict(os.environ),
        "profiled": {
            **os.environ, "LD_PRELOAD": str(profile_library(library)), "RONDO_PROFILE": str(program.parent)
        },
    }  # fmt: skip
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for pair in range(PAIRS):
        for way in sorted(ways, reverse=pair % 2 == 1):
            seconds[way].append(processor_seconds(program, ways[way]))
        for path in program.parent.glob("*.profile"):
            path.unlink()
    more = summary([after - before for before, after in zip(seconds["native"], seconds["profiled"], strict=True)])
    run = seconds_on_cluster(library, program)
    return {
        "library": library,
        "native_cpu": statistics.median(seconds["native"]),
        "more_cpu": [more.median, more.low, more.high],
        "more_instructions": instructions(program, ways["profiled"]) - instructions(program, ways["native"]),
        "run": run,
        "share": [each / run for each in (more.median, more.low, more.high)],
    }


def program_text(row: dict) -> str:
    """For people."""
    median, low, high = (1e3 * each for each in row["more_cpu"])
    return (
        f"{row['library']:8} a rank of guard {CALLS}: {1e3 * row['native_cpu']:.1f} ms of processor time, profiled "
        f"{median:.2f} ms more [{low:.2f}, {high:.2f}], {row['more_instructions'] / 1e6:.1f} million instructions: "
        f"{100 * row['share'][0]:.3f}% of a run of {row['run']:.2f} s on {CLUSTER}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument("--program", action="store_true", help="what a whole program costs more, instead of calls")
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(FUNCTIONS)}; default: all")
    arguments = parser.parse_args()
    if arguments.program and arguments.functions:
        parser.error("--program is about no FUNCTION")
    if shutil.which("valgrind") is None:
        print("profile_overhead: skipped, no valgrind; install the package valgrind")
        return 0
    # Both libraries refuse things that a benchmark on a small machine cannot avoid: root, more ranks than cores.
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    good = True
    for library in LIBRARIES:
        compiler = ROOT / ".toolchain" / library / "bin" / "mpicc"
        if not compiler.exists():
            print(f"profile_overhead: {library} skipped, not in .toolchain")
            continue
        with tempfile.TemporaryDirectory(prefix="rondo-overhead-") as directory:
            program = Path(directory) / "overhead"
            source = Path(__file__).with_name("overhead.c")
            subprocess.run([str(compiler), "-O2", "-g", str(source), "-o", str(program)], check=True)
            if arguments.program:
                guard = program.with_name("guard")
                source = source.with_name("guard.c")
                subprocess.run([str(compiler), "-O2", str(source), "-o", str(guard)], check=True)
                row = of_a_program(library, guard)
                good = good and row["share"][2] <= MOST_OF_A_RUN
                print(json.dumps(row) if arguments.json else program_text(row))
                continue
            for function in arguments.functions or FUNCTIONS:
                counted = measured(library, program, function)
                good = good and counted <= most(function)
                if arguments.json:
                    print(json.dumps({"library": library, "function": function, "instructions": counted}))
                else:
                    print(f"{library:8} {function:20} {counted:.0f} instructions (at most {most(function)})")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
