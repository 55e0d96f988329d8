# SPDX-License-Identifier: BSD-3-Clause
"""What the guard costs, and what it saves: collectives as applications call them, on an emulated cluster or one node.

The same program natively; under rules that choose algorithms some three times slower than the library's, and under the
default rules: each without the guard, with it in a first run that learns, and in the next one that knows. Medians of
interleaved runs, each relative to native. Wanted: slow rules at most 1.05 of native in the first run with `--guard
free`, and in the next run in any case; with the default rules at most 1.01 in the next; of what the default rules gain,
at least 0.95 is kept. docs/benchmarks/guard.md shows what it wrote with --csv docs/benchmarks/data/guard-*.csv.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rondo.cluster import cluster
from rondo.launching import mpi_library
from rondo.launching.installation import DEFAULT_RULES, preload_library
from rondo.launching.mpi_library import MpiLibrary

SLOW_RULES = """
allreduce  -> ring
bcast      -> scatter_allgather
reduce     -> ring
exscan     -> two_tree
allgather  -> ring
"""
"""On 8 ranks two to five times as many rounds as the library's; none lets ranks run ahead."""
NATIVE = "native"
UNGUARDED, FIRST, NEXT = "not guarded", "first run", "next run"
MOST_SECONDS = 300.0
SECONDS_TO_END = 15.0
"""After its figure. Debian's MPICH 4.0.2 may wait for ever in MPI_Finalize, with Rondo or without."""


@dataclass(frozen=True)
class Bench:
    """Where programs run: on a cluster, or here."""

    library: MpiLibrary
    running: cluster.Cluster | None
    ranks: int
    directory: Path
    """For what belongs to these measurements alone."""
    program: Path

    @property
    def preload(self) -> dict[str, str]:
        """Puts Rondo before the library."""
        return {"LD_PRELOAD": str(preload_library(mpi_library.ABI_OF[self.library.name]))}

    def seconds(self, variables: Mapping[str, str], *arguments: str) -> float:
        """What the program prints. `variables` are for the ranks."""
        words = [str(self.program), *arguments]
        environment = {**os.environ, **self.library.environment}
        if self.running is not None:
            command = self.running.command(self.library, self.ranks, words, variables)
            environment |= self.running.environment(self.library)
        else:
            command = [str(self.library.launcher), *self._options(variables), "-n", str(self.ranks), *words]
        return float(_first_line(command, environment))

    def _options(self, variables: Mapping[str, str]) -> list[str]:
        if self.library.name == "openmpi":
            return ["--oversubscribe", *(word for each in variables.items() for word in ("-x", "=".join(each)))]
        return [word for name, value in variables.items() for word in ("-genv", name, value)]


def _first_line(command: list[str], environment: Mapping[str, str]) -> str:
    """Of what a command prints; it ends soon after that, or is ended."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
        assert process.stdout is not None
        line = process.stdout.readline()
        signal.setitimer(signal.ITIMER_REAL, SECONDS_TO_END)
        code = process.wait()
        signal.setitimer(signal.ITIMER_REAL, 0)
    if not line or code not in (0, -signal.SIGKILL):
        raise SystemExit(f"{command[0]} ended with exit code {code}, after {line!r}")
    return line


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments, with those that all benchmarks of this program have."""
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument("--cluster", action="append", help="a shape, or `none` for this node; may be repeated")
    parser.add_argument("--ranks", type=int, default=2, help="without a cluster")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--kind", choices=["mixed", "long"], default="mixed", help="of calls; see guard.c")
    arguments = parser.parse_args()
    arguments.cluster = arguments.cluster or ["8x1:1ms:200Mbit"]
    return arguments


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes compete for the processors."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in loops:
            each.kill()
        for each in loops:
            each.wait()


@contextlib.contextmanager
def opened(arguments: argparse.Namespace, mpi: str, shape: str) -> Iterator[Bench]:
    """The program, compiled, and where it runs."""
    library = mpi_library.find(mpi, os.environ)
    place = cluster.opened(shape) if shape != "none" else contextlib.nullcontext()
    with tempfile.TemporaryDirectory() as directory, place as running:
        program = Path(directory) / "guard"
        compiler = library.compiler.with_name(library.compiler.name.replace("mpicxx", "mpicc"))
        source = Path(__file__).with_name("guard.c")
        environment = {**os.environ, **library.environment}
        subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True, env=environment)
        ranks = running.shape.ranks if running is not None else arguments.ranks
        yield Bench(library, running, ranks, Path(directory), program)


def show(times: Mapping[str, list[float]], arguments: argparse.Namespace) -> None:
    """The median of each way, also relative to native: to the native run of the same round."""
    for way, seconds in times.items():
        if len(seconds) < arguments.runs:
            continue  # a first run whose verdicts all next ones know
        ratio = statistics.median(ours / native for ours, native in zip(seconds, times[NATIVE], strict=True))
        row = {"way": way, "seconds": statistics.median(seconds), "of_native": ratio}
        line = f"{way:28} {row['seconds']:9.3f} s  {ratio:6.3f} of native"
        print(json.dumps(row) if arguments.json else line, flush=True)


@dataclass(frozen=True)
class Records:
    """Every run as a row of a CSV file, written when it has ended; of no file, nowhere."""

    file: Path | None
    facts: tuple[object, ...]
    """What all rows begin with, as HEAD names it."""

    HEAD = ("mpi", "cluster", "guard", "kind", "calls", "way", "turn", "seconds")

    def add(self, way: str, turn: int, seconds: float) -> None:
        if self.file is None:
            return
        is_new = not self.file.exists()
        with self.file.open("a", newline="") as target:
            writer = csv.writer(target, lineterminator="\n")
            writer.writerows([self.HEAD] if is_new else [])
            writer.writerow([*self.facts, way, turn, f"{seconds:.6f}"])


def measure(bench: Bench, arguments: argparse.Namespace, records: Records) -> dict[str, list[float]]:
    """Seconds of all ways, in turn."""
    slow = bench.directory / "slow.rules"
    slow.write_text(SLOW_RULES)
    rules = {"slow": slow, "default": DEFAULT_RULES}
    times: dict[str, list[float]] = {}

    def take(way: str, turn: int, variables: Mapping[str, str]) -> None:
        seconds = bench.seconds(variables, str(arguments.calls), arguments.kind)
        times.setdefault(way, []).append(seconds)
        records.add(way, turn, seconds)

    for turn in range(arguments.runs):
        take(NATIVE, turn, {})
        for which in arguments.rules or rules:
            for how in (UNGUARDED, FIRST, NEXT):
                if arguments.next and how != NEXT and not (how == FIRST and turn == 0):
                    continue
                variables = {**bench.preload, "RONDO_RULES": str(rules[which])}
                if how != UNGUARDED:
                    again = turn if not arguments.next else 0  # every first run finds nothing
                    learned = bench.directory / f"{which}-{again}"
                    learned.mkdir(exist_ok=True)
                    variables |= {"RONDO_GUARD": arguments.guard, "RONDO_LEARNED": str(learned)}
                take(f"{which} rules, {how}", turn, variables)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", action="append", help="a name or a launcher; may be repeated")
    parser.add_argument("--guard", choices=["exact", "free"], default="exact")
    parser.add_argument("--rules", action="append", choices=["slow", "default"], help="only these")
    parser.add_argument("--next", action="store_true", help="only native and the next run")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="add a row for each run")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="processes that do nothing but compute")
    arguments = parsed(parser)
    for shape in arguments.cluster:
        for mpi in arguments.mpi or ["mpich"]:
            print(f"{mpi}, {shape}", file=sys.stderr, flush=True)
            facts = (mpi.rsplit("/", 1)[-1], shape, arguments.guard, arguments.kind, arguments.calls)
            with opened(arguments, mpi, shape) as bench, busy(arguments.busy):
                show(measure(bench, arguments, Records(arguments.csv, facts)), arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
