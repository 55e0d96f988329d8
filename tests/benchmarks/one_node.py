# SPDX-License-Identifier: BSD-3-Clause
"""Collectives between the ranks of one node: each library natively and under Rondo as it is by default, side by side.

Medians over rounds in which all take turns. Ranks start together; up to 4 KiB, also a call of many in a row. `of
native`: Rondo's time as a part of the faster library's, on the MPI where Rondo is faster. `by_hand` is an allreduce of
one int with a line of memory for each rank and no library at all: the least that can be measured. The last lines say
for each library and collective what served the calls, and whether Rondo took at most 1.05 times as long as the library
alone: in the median over all sizes, and at worst. docs/benchmarks/tables/nodes.md shows what it wrote
with --csv docs/benchmarks/data/one-node-2.csv (a minute).
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rondo.launching import mpi_library
from rondo.launching.installation import DEFAULT_RULES, preload_library
from rondo.launching.mpi_library import ABI_OF, MpiLibrary

MOST_OF_NATIVE = 1.05
BY_HAND = "by_hand"
COLLECTIVES = ("allreduce", "bcast", "reduce", "scan", "exscan", "allgather", "reduce_scatter", "barrier")


@dataclass(frozen=True)
class Subject:
    """The program, compiled for one library."""

    name: str
    library: MpiLibrary
    program: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.library.environment}

    def words(self, environment: dict[str, str]) -> list[str]:
        """What starts ranks of a program that have so much more in their environment."""
        if self.library.name == "openmpi":
            options = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
            return [str(self.library.launcher), "--oversubscribe", *options]
        options = [word for name, value in environment.items() for word in ("-genv", name, value)]
        return [str(self.library.launcher), *options]


def compiled(mpi: str, directory: Path) -> Subject:
    library = mpi_library.find(mpi, os.environ)
    subject = Subject(mpi.rsplit("/", 1)[-1], library, directory / mpi.replace("/", "-"))
    compiler = library.compiler.with_name(library.compiler.name.replace("mpicxx", "mpicc"))
    source = Path(__file__).with_suffix(".c")
    words = [str(compiler), "-O2", str(source), "-o", str(subject.program)]
    subprocess.run(words, check=True, env=subject.environment)
    return subject


def command(
    subject: Subject, environment: dict[str, str] | None, arguments: argparse.Namespace, milliseconds: int
) -> list[str]:
    """`environment`: of Rondo; None without it."""
    preloaded = {}
    if environment is not None:
        preloaded = {**environment, "LD_PRELOAD": str(preload_library(ABI_OF[subject.library.name]))}
    words = [*subject.words(preloaded), "-n", str(arguments.ranks)]
    sizes = [str(arguments.shortest), str(arguments.longest)]
    by_hand = [BY_HAND] if environment is None else []
    return [*words, str(subject.program), *sizes, str(milliseconds), *arguments.collectives, *by_hand]


def served(subject: Subject, environment: dict[str, str], arguments: argparse.Namespace) -> dict[str, str]:
    """For each collective the algorithms that serve it here, by Rondo's report."""
    with tempfile.TemporaryDirectory() as directory:
        words = command(subject, {**environment, "RONDO_REPORT": directory}, arguments, 1)
        subprocess.run(words, stdout=subprocess.DEVNULL, timeout=300, check=True, env=subject.environment)
        report = json.loads(next(Path(directory).glob("*.json")).read_text())
    names: dict[str, list[str]] = {}
    for entry in report["entries"]:
        if entry["reason"] != "empty":
            names.setdefault(entry["collective"], []).append(entry["algorithm"])
    way = "shared memory" if report.get("shared_memory", {"messages": 0})["messages"] else "messages"
    return {
        collective: " and ".join(sorted(set(each))) + ("" if set(each) == {"native"} else f" through {way}")
        for collective, each in names.items()
    }


def judge(library: str, collective: str, ratios: dict[int, float], how: str) -> str:
    """Whether Rondo is as fast as the library, from the ratios by size."""
    worst = max(ratios, key=lambda size: ratios[size])
    median = statistics.median(ratios.values())
    met = "met" if ratios[worst] <= MOST_OF_NATIVE else "met by most" if median <= MOST_OF_NATIVE else "missed"
    return (
        f"{library:8} {collective:14} {median:5.2f} of native, at worst {ratios[worst]:.2f} ({worst} B); "
        f"at most {MOST_OF_NATIVE}: {met}; {how}"
    )


Cell = dict[tuple[str, str], list[float]]  # by library and way


def write(path: Path, times: dict[tuple[str, int, str], Cell]) -> None:
    """A line for each median."""
    with path.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["collective", "bytes", "start", "library", "way", "microseconds"])
        for (collective, size, start), cell in times.items():
            for (library, way), values in cell.items():
                lines.writerow([collective, size, start, library, way, f"{statistics.median(values):.3f}"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collectives", nargs="*", default=list(COLLECTIVES), metavar="COLLECTIVE")
    parser.add_argument("--json", action="store_true", help="one JSON object a row")
    parser.add_argument(
        "--mpi", action="append", metavar="NAME|PATH", help="a library; several times (default: mpich and openmpi)"
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--shortest", type=int, default=4, help="bytes; each size is four times the one before")
    parser.add_argument("--longest", type=int, default=16 << 20, help="bytes")
    parser.add_argument("--milliseconds", type=int, default=40, help="for each size, in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--use", action="append", default=[], metavar="COLLECTIVE=ALGORITHM", help="in place of the rules"
    )
    parser.add_argument(
        "--shared-memory", choices=["auto", "on", "off"], default="auto", help="under Rondo: as RONDO_SHARED_MEMORY"
    )
    parser.add_argument("--rules", type=Path, default=DEFAULT_RULES, metavar="FILE", help="default: Rondo's own")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the medians to it")
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    os.environ.update({"OMPI_MCA_osc": "^ucx"})  # which complains where there is no such network
    rondo = {"RONDO_RULES": str(arguments.rules.resolve()), "RONDO_SHARED_MEMORY": arguments.shared_memory}
    rondo |= {f"RONDO_{name.upper()}": value for name, value in (each.split("=", 1) for each in arguments.use)}
    times: dict[tuple[str, int, str], Cell] = {}
    with tempfile.TemporaryDirectory() as directory:
        subjects = [compiled(each, Path(directory)) for each in arguments.mpi or ("mpich", "openmpi")]
        serving = {each.name: served(each, rondo, arguments) for each in subjects}
        for _ in range(arguments.rounds):
            for subject in subjects:
                for way, environment in (("native", None), ("rondo", rondo)):
                    words = command(subject, environment, arguments, arguments.milliseconds)
                    output = subprocess.run(
                        words, stdout=subprocess.PIPE, text=True, timeout=300, check=True, env=subject.environment
                    ).stdout
                    for line in output.splitlines():
                        collective, size, start, microseconds = line.split()
                        cell = times.setdefault((collective, int(size), start), {})
                        cell.setdefault((subject.name, way), []).append(float(microseconds))
    libraries = [each.name for each in subjects]
    if not arguments.json:
        heads = "".join(f"{library + ' ' + way:>16}" for library in libraries for way in ("native", "rondo"))
        print(f"{'collective':14} {'bytes':>9} {'start':8}{heads}   of native")
    if arguments.csv is not None:
        write(arguments.csv, times)
    for (collective, size, start), cell in times.items():
        found = {key: statistics.median(values) for key, values in cell.items()}
        best = {way: min(found.get((library, way), math.nan) for library in libraries) for way in ("native", "rondo")}
        ratio = best["rondo"] / best["native"]
        if arguments.json:
            row = {f"{library} {way}": value for (library, way), value in found.items()}
            of_native = {} if math.isnan(ratio) else {"of_native": ratio}
            print(json.dumps({"collective": collective, "bytes": size, "start": start, **row, **of_native}))
        else:
            cells = "".join(
                f"{found[library, way]:13.2f} us" if (library, way) in found else f"{'':16}"
                for library in libraries
                for way in ("native", "rondo")
            )
            print(f"{collective:14} {size:9} {start:8}{cells}   " + ("" if math.isnan(ratio) else f"{ratio:9.2f}"))
    for library in libraries if not arguments.json else []:
        for collective in arguments.collectives:
            ratios = {
                size: statistics.median(cell[library, "rondo"]) / statistics.median(cell[library, "native"])
                for (name, size, start), cell in times.items()
                if name == collective and start == "together"
            }
            print(judge(library, collective, ratios, serving[library].get(collective, "native")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
