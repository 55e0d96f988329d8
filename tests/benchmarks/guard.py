# SPDX-License-Identifier: BSD-3-Clause
"""What the guard costs, and what it saves: collectives as applications call them, on an emulated cluster or one node.

The same program natively; under rules that choose algorithms some three times slower than the library's, and under the
default rules: each without the guard, with it in a first run that learns, and in the next one that knows. Medians of
interleaved runs, each relative to native. Wanted: slow rules at most 1.05 of native in the first run, 1.01 in the next,
and so with the default rules in the next; of what the default rules gain, at least 0.95 is kept.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
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
bcast      -> linear_pipeline
reduce     -> linear_pipeline
exscan     -> linear_pipeline
allgather  -> ring
"""
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
    parser.add_argument("--cluster", default="8x1:1ms:200Mbit", help="a shape, or `none` for this node")
    parser.add_argument("--ranks", type=int, default=2, help="without a cluster")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--kind", choices=["mixed", "long"], default="mixed", help="of calls; see guard.c")
    return parser.parse_args()


@contextlib.contextmanager
def opened(arguments: argparse.Namespace, mpi: str) -> Iterator[Bench]:
    """The program, compiled, and where it runs."""
    library = mpi_library.find(mpi, os.environ)
    place = cluster.opened(arguments.cluster) if arguments.cluster != "none" else contextlib.nullcontext()
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
        ratio = statistics.median(ours / native for ours, native in zip(seconds, times[NATIVE], strict=True))
        row = {"way": way, "seconds": statistics.median(seconds), "of_native": ratio}
        line = f"{way:28} {row['seconds']:9.3f} s  {ratio:6.3f} of native"
        print(json.dumps(row) if arguments.json else line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--guard", choices=["exact", "free"], default="exact")
    parser.add_argument("--rules", action="append", choices=["slow", "default"], help="only these")
    parser.add_argument("--next", action="store_true", help="only native and the next run")
    arguments = parsed(parser)
    times: dict[str, list[float]] = {NATIVE: []}
    with opened(arguments, arguments.mpi) as bench:
        slow = bench.directory / "slow.rules"
        slow.write_text(SLOW_RULES)
        rules = {"slow": slow, "default": DEFAULT_RULES}
        for turn in range(arguments.runs):
            times[NATIVE].append(bench.seconds({}, str(arguments.calls), arguments.kind))
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
                    seconds = bench.seconds(variables, str(arguments.calls), arguments.kind)
                    if not arguments.next or how == NEXT:
                        times.setdefault(f"{which} rules, {how}", []).append(seconds)
    show(times, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
