# SPDX-License-Identifier: BSD-3-Clause
"""Collectives between the ranks of one node with a processor for each: every choice that may win there, beside native.

Ranks share memory. Each launch forces one choice on each collective; all take turns, round by round. Lengths are those
of whole vectors in bytes. Ranks start together; up to 4 KiB, also a call of many in a row. For a machine on which
nothing can be installed: it needs a built tree (`make install`), and of Python nothing but what comes with it. The
programs can be compiled elsewhere beforehand (--compile). `--csv` writes the median over the rounds of each choice.
With `--guarded CALLS`, so many equal calls of a kind follow one another (a tenth from 256 KiB on), natively and under
the rules: not guarded, guarded in a first run, which learns, and in the next one, which knows.

    python3 tests/benchmarks/whole_node.py --compile
    python3 tests/benchmarks/whole_node.py --ranks 4,8,16 --csv whole-node.csv
    python3 tests/benchmarks/whole_node.py --ranks 16 --rules tuning/default.rules
    python3 tests/benchmarks/whole_node.py --ranks 16 --rules tuning/default.rules --guarded 10000
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CANDIDATES = {
    "allreduce": (
        "recursive_doubling",
        "recursive_multiplying:radix=4",
        "recursive_multiplying:radix=8",
        "halving_doubling",
        "circulant",
        "ring",
        "binary_tree",
    ),
    "bcast": (
        "binomial",
        "k_ported:ports=3",
        "k_ported:ports={others}",
        "scatter_allgather",
        "linear_pipeline:segment=32Ki",
        "pipelined_binary_tree:segment=32Ki",
        "circulant:segment=64Ki",
    ),
    "reduce": (
        "binomial",
        "halving_doubling",
        "butterfly",
        "linear_pipeline:segment=32Ki",
        "pipelined_binary_tree:segment=32Ki",
        "ring",
        "circulant:segment=64Ki",
    ),
    "scan": (
        "doubling",
        "linear_pipeline:segment=1Ki",
        "linear_pipeline:segment=16Ki",
        "doubly_pipelined_tree:segment=16Ki",
        "pipelined_binary_tree:segment=16Ki",
        "two_tree:segment=16Ki",
    ),
    "exscan": (
        "cyclic_doubling",
        "doubling_123",
        "two_op_doubling",
        "broadcast",
        "linear_pipeline:segment=1Ki",
        "linear_pipeline:segment=16Ki",
        "doubly_pipelined_tree:segment=16Ki",
    ),
    "allgather": ("recursive_doubling", "bruck", "ring", "circulant", "all_broadcast"),
    "reduce_scatter": ("pairwise", "recursive_halving", "butterfly", "circulant", "ring"),
    "alltoall": ("pairwise", "linear", "k_ported:ports=4", "bruck", "bruck:radix=4"),
    "gather": ("binomial", "linear", "k_ported:ports=3"),
    "scatter": ("binomial", "linear", "k_ported:ports=3"),
    "alltoallv": ("pairwise", "linear", "k_ported:ports=4"),
    "gatherv": ("linear", "linear:ports=4", "linear:ports=64"),
    "scatterv": ("linear", "linear:ports=4", "linear:ports=64"),
    "barrier": ("dissemination", "dissemination:radix=4", "dissemination:radix={ranks}", "tree", "tree:radix={ranks}"),
}
UNGUARDED, FIRST, NEXT = GUARDED = ("not guarded", "first run", "next run")
GUARDED_BYTES = (8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20)
Key = tuple[int, str, str, int, str, str]  # ranks, library, collective, bytes, start, choice


def launches(ranks: int, arguments: argparse.Namespace) -> Iterator[dict[str, str]]:
    """For each launch: what it chooses for each collective that it measures."""
    collectives = arguments.collectives
    yield dict.fromkeys(collectives, "native")
    if arguments.rules is not None:
        for choice in GUARDED if arguments.guarded else ("rules",):
            yield dict.fromkeys(collectives, choice)
        return
    for number in range(max(len(CANDIDATES[each]) for each in collectives)):
        yield {
            each: CANDIDATES[each][number].format(ranks=ranks, others=ranks - 1)
            for each in collectives
            if number < len(CANDIDATES[each])
        }


def program_of(library: Path, directory: Path) -> Path:
    return directory / f"one_node-{library.name}"


def preload_library(library: Path) -> Path:
    return ROOT / "build/release" / f"librondo_{'openmpi' if 'openmpi' in library.name else 'mpich'}.so"


def compile_programs(arguments: argparse.Namespace) -> None:
    arguments.programs.mkdir(parents=True, exist_ok=True)
    for library in arguments.mpi:
        source = Path(__file__).with_name("one_node.c")
        program = program_of(library, arguments.programs)
        subprocess.run([str(library / "bin/mpicc"), "-O2", str(source), "-o", str(program)], check=True)


def rondo(arguments: argparse.Namespace, choices: dict[str, str]) -> dict[str, str]:
    """What tells Rondo how to choose."""
    if arguments.rules is not None:
        return {"RONDO_SHARED_MEMORY": "auto", "RONDO_RULES": str(arguments.rules.resolve())}
    return {"RONDO_SHARED_MEMORY": "on", **{f"RONDO_{name.upper()}": choice for name, choice in choices.items()}}


def run(arguments: argparse.Namespace, library: Path, ranks: int, choices: dict[str, str]) -> Iterator[tuple[str, ...]]:
    """Words of each line that the program prints: collective, bytes, how ranks start, microseconds."""
    (how, *more) = set(choices.values())
    environment = {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_osc": "^ucx",  # which complains where there is no such network
        "LD_LIBRARY_PATH": str(library / "lib"),  # the program may come from another machine
    }
    words = [str(library / "bin/mpiexec"), "-n", str(ranks)]
    if more or how != "native":
        environment |= rondo(arguments, choices) | ({"RONDO_GUARD": "exact"} if how in (FIRST, NEXT) else {})
        words += ["env", f"LD_PRELOAD={preload_library(library)}"]
    words.append(str(program_of(library, arguments.programs)))
    if arguments.guarded:
        words += ["calls", str(arguments.guarded)]
        words += [f"{name}:{size}" for name in choices for size in (GUARDED_BYTES if name != "barrier" else (0,))]
    else:
        words += ["4", str(arguments.longest), str(arguments.milliseconds), *choices]
    found = subprocess.run(
        words, env=environment, stdout=subprocess.PIPE, text=True, timeout=arguments.timeout, check=False
    )
    if found.returncode != 0:
        print(f"{library.name}, {ranks} ranks, {choices}: ended with {found.returncode}", file=sys.stderr)
    for line in found.stdout.splitlines():
        if len(line.split()) == 4:
            yield tuple(line.split())


def write(path: Path, times: dict[Key, list[float]]) -> None:
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["ranks", "library", "collective", "bytes", "start", "choice", "microseconds"])
        for key, values in times.items():
            lines.writerow([*key, f"{statistics.median(values):.4g}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collectives", nargs="*", default=list(CANDIDATES), metavar="COLLECTIVE")
    parser.add_argument("--ranks", default="4,8,16", help="numbers of ranks, as 4,8,16")
    parser.add_argument(
        "--mpi",
        action="append",
        type=Path,
        metavar="DIRECTORY",
        help="a library with its bin and lib; several times (default: those that make install has fetched)",
    )
    parser.add_argument("--rules", type=Path, metavar="FILE", help="measure what these rules choose, and nothing else")
    parser.add_argument("--guarded", type=int, metavar="CALLS", help="what the guard makes of --rules")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no round after that")
    parser.add_argument("--milliseconds", type=int, default=8, help="for each length, in each round")
    parser.add_argument("--longest", type=int, default=16 << 20, help="bytes; each length is four times the one before")
    parser.add_argument("--timeout", type=int, default=60, help="seconds that a launch may take")
    parser.add_argument("--programs", type=Path, default=ROOT / "build/whole_node", help="where the programs are")
    parser.add_argument("--compile", action="store_true", help="compile the programs, and measure nothing")
    parser.add_argument("--csv", type=Path, default=Path("whole-node.csv"), metavar="FILE")
    arguments = parser.parse_args()
    if arguments.guarded and arguments.rules is None:
        parser.error("--guarded needs --rules")
    arguments.mpi = [
        each.resolve() for each in arguments.mpi or (ROOT / ".toolchain/mpich", ROOT / ".toolchain/openmpi")
    ]
    if arguments.compile or not all(program_of(each, arguments.programs).exists() for each in arguments.mpi):
        compile_programs(arguments)
    if arguments.compile:
        return 0
    times: dict[Key, list[float]] = {}
    start = time.monotonic()
    for number in range(arguments.rounds):
        for ranks in map(int, arguments.ranks.split(",")):
            if time.monotonic() - start > arguments.seconds:
                print("no time left", file=sys.stderr)
                return 0
            for library in arguments.mpi:
                with tempfile.TemporaryDirectory() as learned:
                    os.environ["RONDO_LEARNED"] = learned
                    for choices in launches(ranks, arguments):
                        for collective, size, how, microseconds in run(arguments, library, ranks, choices):
                            key = (ranks, library.name, collective, int(size), how, choices[collective])
                            times.setdefault(key, []).append(float(microseconds))
                write(arguments.csv, times)
                print(
                    f"round {number + 1}, {ranks} ranks, {library.name}: {time.monotonic() - start:.0f} s", flush=True
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
