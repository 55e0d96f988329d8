# SPDX-License-Identifier: BSD-3-Clause
"""Runs an ordinary MPI program as it is, natively and under Rondo, side by side. `make demo` runs this inside .venv.

    python scripts/demo.py                        C with mpicc on PATH, if any; Python with the MPICH in .toolchain
    python scripts/demo.py --mpicc /opt/bin/mpicc with your own
    python scripts/demo.py --cluster none         without the emulated cluster, all ranks on this machine

Where the kernel lets anybody make namespaces, the ranks run on an emulated cluster (see `rondo cluster --help`), one on
each node: then its network decides, as on a real cluster, and not how many cores this machine has.

The program is examples/particle_filter (in C, and in Python through mpi4py). Its outputs must be identical; the exit
code says whether they were.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rondo.cluster import cluster, shapes
from rondo.errors import Error
from rondo.launching import mpi_library

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
RUN_SECONDS = 120
# A difference is named only if the two have no time in common. By chance that happens in 2 of 70 cases with four runs
# of each, in 2 of 20 with three.
REPETITIONS = 4
SHAPE = "8x1:2ms:200Mbit"
LOCAL_RANKS = 4
STEPS = 6
SECONDS_A_RUN = 3


class DemoError(Exception):
    """Something that keeps the demonstration from running; the message says what."""


@dataclass
class Subject:
    """One program with one MPI library."""

    name: str
    library: mpi_library.MpiLibrary
    program: list[str]
    environment: dict[str, str]


@dataclass
class Place:
    """Where the programs run."""

    ranks: int
    repetitions: int
    cluster: cluster.Cluster | None = None

    def native(self, subject: Subject) -> list[str]:
        if self.cluster is not None:
            return self.cluster.command(subject.library, self.ranks, subject.program)
        crowded = ["--oversubscribe"] if subject.library.name == "openmpi" else []
        return [str(subject.library.launcher), *crowded, "-n", str(self.ranks), *subject.program]

    def under_rondo(self, subject: Subject, report: Path) -> list[str]:
        rondo = [str(Path(sys.executable).with_name("rondo")), "run", "--report", str(report)]
        if self.cluster is not None:
            launcher = str(subject.library.launcher)
            return [*rondo, "--cluster", self.cluster.name, "--mpi", launcher, "--", *subject.program]
        return [*rondo, "--", *self.native(subject)]

    def environment(self, subject: Subject) -> dict[str, str]:
        ours = self.cluster.environment(subject.library) if self.cluster is not None else dict(os.environ)
        return {**ours, **subject.library.environment, **subject.environment}


def compiled(mpicc: Path, directory: Path) -> list[str]:
    target = directory / f"particle_filter-{mpicc.parent.parent.name}"
    command = [str(mpicc), "-O2", str(EXAMPLES / "particle_filter.c"), "-o", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise DemoError(f"{' '.join(command)} failed\n{result.stderr}")
    return [str(target)]


def subjects(mpicc: str | None, directory: Path) -> list[Subject]:
    """The C program with the user's MPI, or with MPICH where there is none, and the Python program with MPICH.

    The MPI that the user names is the only one.
    """
    prefix = ROOT / ".toolchain" / "mpich"
    own = mpicc or shutil.which("mpicc")
    found = []
    if own is not None and not Path(own).is_relative_to(prefix):
        compiler = Path(own).absolute()
        library = mpi_library.find(str(compiler.parent / "mpiexec"), os.environ)
        found.append(Subject(f"C, {compiler}", library, compiled(compiler, directory), {}))
    if mpicc is not None:
        return found
    if not (prefix / "bin" / "mpicc").exists():
        raise DemoError("no MPICH in .toolchain; run: python3 scripts/setup.py mpi mpich")
    library = mpi_library.find(str(prefix), os.environ)
    script = [sys.executable, str(EXAMPLES / "particle_filter.py")]
    variables = {"MPI4PY_LIBMPI": str(prefix / "lib" / "libmpi.so.12")}
    if not found:
        found.append(Subject("C, MPICH", library, compiled(prefix / "bin" / "mpicc", directory), {}))
    found.append(Subject("mpi4py, MPICH", library, script, variables))
    return found


def run(words: list[str], environment: dict[str, str], directory: Path) -> float:
    """Seconds that the slowest rank spent in MPI_Exscan, as the program says."""
    try:
        result = subprocess.run(
            words, env=environment, cwd=directory, capture_output=True, text=True, timeout=RUN_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise DemoError(f"{' '.join(words)} did not end within {RUN_SECONDS} s") from error
    match = re.search(r"([0-9.]+) seconds in MPI_Exscan", result.stdout)
    if result.returncode != 0 or match is None:
        raise DemoError(f"{' '.join(words)} failed\n{result.stdout}{result.stderr}")
    return float(match.group(1))


def served(report: Path) -> dict[str, int]:
    """Calls by algorithm, of the rank with the most."""
    data = json.loads(report.read_text())
    return {entry["algorithm"]: entry["calls"] for entry in data["entries"]}


def compare(subject: Subject, place: Place, directory: Path) -> dict:
    """Native and Rondo in turn, so that whatever else the machine does concerns both."""
    native_output, rondo_output = directory / "native.out", directory / "rondo.out"
    report = directory / "report.json"
    environment = place.environment(subject)
    native_times, rondo_times, identical = [], [], True
    for _ in range(place.repetitions):
        for output in (native_output, rondo_output):
            output.unlink(missing_ok=True)
        native_times.append(run([*place.native(subject), str(native_output), str(STEPS)], environment, directory))
        rondo_times.append(
            run([*place.under_rondo(subject, report), str(rondo_output), str(STEPS)], environment, directory)
        )
        identical = identical and native_output.read_bytes() == rondo_output.read_bytes()
    return {
        "name": subject.name,
        "native": native_times,
        "rondo": rondo_times,
        "identical": identical and native_output.stat().st_size > 0,
        "served": served(report),
    }


def verdict(native: list[float], rondo: list[float]) -> str:
    """What the runs say about speed, and no more than that."""
    if min(len(native), len(rondo)) < REPETITIONS:
        return "too few runs to tell"
    ratio = statistics.median(native) / statistics.median(rondo)
    if max(rondo) < min(native):
        return f"{ratio:.1f} times as fast"
    if max(native) < min(rondo):
        return f"{1 / ratio:.1f} times as slow"
    return "no difference seen"


def spread(seconds: list[float]) -> str:
    return f"{min(seconds):.2f} to {max(seconds):.2f}"


def announce(found: list[Subject], place: Place) -> None:
    """What will happen and how long that takes, before it does."""
    where = "nodes of an emulated cluster" if place.cluster is not None else "ranks of this machine"
    seconds = 2 * place.repetitions * len(found) * SECONDS_A_RUN
    print(f"demo: examples/particle_filter on {place.ranks} {where}, unmodified:")
    for subject in found:
        print(f"demo:   {subject.name}")
    print(
        f"demo: natively and under Rondo in turn, {place.repetitions} runs of each, about {seconds} s in all",
        flush=True,
    )


def show(rows: list[dict], place: Place) -> None:
    title = f"examples/particle_filter on {place.ranks} ranks: seconds in MPI_Exscan in {place.repetitions} runs"
    table = Table(title=title)
    for column in ("program", "native", "Rondo", "Rondo is", "outputs", "calls served by"):
        table.add_column(column, justify="right" if column in ("native", "Rondo") else "left")
    for row in rows:
        table.add_row(
            row["name"],
            spread(row["native"]),
            spread(row["rondo"]),
            verdict(row["native"], row["rondo"]),
            "identical" if row["identical"] else "[bold red]DIFFERENT",
            "\n".join(f"{name}: {calls}" for name, calls in row["served"].items()),
        )
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    if place.cluster is not None:
        console.print(
            f"on an emulated cluster, {place.cluster.shape}: real MPI libraries, the network's speed is emulated"
        )
    elif place.ranks > (os.cpu_count() or 1):
        console.print(
            f"{place.ranks} ranks share {os.cpu_count()} cores: times show that it works, not how fast it is elsewhere."
        )


@contextlib.contextmanager
def place_for(shape: str, ranks: int | None, repetitions: int) -> Iterator[Place]:
    """An emulated cluster, or this machine as it is where that cannot be."""
    with contextlib.ExitStack() as stack:
        running = None
        if shape != "none":
            try:
                running = stack.enter_context(cluster.start(shapes.parse(shape)))
            except Error as error:
                print(f"demo: no emulated cluster here ({error}); all ranks run on this machine", file=sys.stderr)
        if running is not None:
            yield Place(ranks or running.shape.ranks, repetitions, running)
        else:
            yield Place(ranks or LOCAL_RANKS, repetitions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", help="MPI compiler to use instead of those in .toolchain; mpiexec must be beside it")
    parser.add_argument("--cluster", default=SHAPE, help="shape of the emulated cluster (%(default)s), or none")
    parser.add_argument("--ranks", type=int, help=f"all of the cluster; {LOCAL_RANKS} without one")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="runs of each (%(default)s)")
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    try:
        with (
            tempfile.TemporaryDirectory(prefix="rondo-demo-", dir="/tmp") as name,
            place_for(arguments.cluster, arguments.ranks, arguments.repetitions) as place,
        ):
            directory = Path(name)
            found = subjects(arguments.mpicc, directory)
            announce(found, place)
            progress = track(found, "running natively and under Rondo", console=Console(stderr=True), transient=True)
            rows = [compare(subject, place, directory) for subject in progress]
            show(rows, place)
    except (DemoError, Error) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    if not all(row["identical"] for row in rows):
        print("demo: Rondo changed an output", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
