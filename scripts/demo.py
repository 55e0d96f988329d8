# SPDX-License-Identifier: BSD-3-Clause
"""Runs an ordinary MPI program as it is, natively and under Rondo, side by side. `make demo` runs this inside .venv.

    python scripts/demo.py                        with mpicc on PATH, if any, and the libraries in .toolchain
    python scripts/demo.py --mpicc /opt/bin/mpicc with your own

The program is examples/particle_filter (in C, and in Python through mpi4py). Its outputs must be identical; the exit
code says whether they were.
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
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
RUN_SECONDS = 120


class DemoError(Exception):
    """Something that keeps the demonstration from running; the message says what."""


@dataclass
class Subject:
    """One program with one MPI library."""

    name: str
    launcher: list[str]
    program: list[str]
    environment: dict[str, str]


def mpi_launcher(directory: Path) -> list[str]:
    """The launcher beside a compiler; more ranks than cores, and root, are a matter of course here."""
    launcher = directory / "mpiexec"
    version = subprocess.run([str(launcher), "--version"], capture_output=True, text=True, check=False).stdout
    return [str(launcher), *(["--oversubscribe"] if "Open MPI" in version or "OpenRTE" in version else [])]


def compiled(mpicc: Path, directory: Path) -> list[str]:
    target = directory / f"particle_filter-{mpicc.parent.parent.name}"
    command = [str(mpicc), "-O2", str(EXAMPLES / "particle_filter.c"), "-o", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise DemoError(f"{' '.join(command)} failed\n{result.stderr}")
    return [str(target)]


def subjects(mpicc: str | None, directory: Path) -> list[Subject]:
    """The C program with every library, and the Python program with every library that mpi4py is told to load.

    The MPI that the user has (named, or an mpicc on PATH) comes first; one that is named is the only one.
    """
    own = mpicc or shutil.which("mpicc")
    found = []
    if own is not None:
        compiler = Path(own).absolute()
        found.append(Subject(f"C, {compiler}", mpi_launcher(compiler.parent), compiled(compiler, directory), {}))
    if mpicc is not None:
        return found
    for name, title, library in (("mpich", "MPICH", "libmpi.so.12"), ("openmpi", "Open MPI", "libmpi.so.40")):
        prefix = ROOT / ".toolchain" / name
        if not (prefix / "bin" / "mpicc").exists():
            continue
        launcher = mpi_launcher(prefix / "bin")
        found.append(Subject(f"C, {title}", launcher, compiled(prefix / "bin" / "mpicc", directory), {}))
        script = [sys.executable, str(EXAMPLES / "particle_filter.py")]
        variables = {"MPI4PY_LIBMPI": str(prefix / "lib" / library)}
        found.append(Subject(f"mpi4py, {title}", launcher, script, variables))
    if not found:
        raise DemoError("no MPI library in .toolchain; run: python3 scripts/setup.py mpi")
    return found


def run(command: list[str], environment: dict[str, str], directory: Path) -> float:
    """Seconds that the slowest rank spent in MPI_Exscan, as the program says."""
    words = [str(word) for word in command]
    try:
        result = subprocess.run(
            words,
            env={**os.environ, **environment},
            cwd=directory,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
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


def compare(subject: Subject, ranks: int, repetitions: int, directory: Path) -> dict:
    """Native and Rondo in turn, so that whatever else the machine does concerns both."""
    launch = [*subject.launcher, "-n", str(ranks), *subject.program]
    native_output, rondo_output = directory / "native.out", directory / "rondo.out"
    report = directory / "report.json"
    rondo = [str(Path(sys.executable).with_name("rondo")), "run", "--report", str(report), "--"]
    native_times, rondo_times, identical = [], [], True
    for _ in range(repetitions):
        for output in (native_output, rondo_output):
            output.unlink(missing_ok=True)
        native_times.append(run([*launch, str(native_output)], subject.environment, directory))
        rondo_times.append(run([*rondo, *launch, str(rondo_output)], subject.environment, directory))
        identical = identical and native_output.read_bytes() == rondo_output.read_bytes()
    return {
        "name": subject.name,
        "native": statistics.median(native_times),
        "rondo": statistics.median(rondo_times),
        "identical": identical and native_output.stat().st_size > 0,
        "served": served(report),
    }


def show(rows: list[dict], ranks: int, repetitions: int) -> None:
    table = Table(title=f"examples/particle_filter on {ranks} ranks: seconds in MPI_Exscan, median of {repetitions}")
    for column in ("program", "native", "Rondo", "native / Rondo", "outputs", "calls served by"):
        table.add_column(column, justify="right" if "ative" in column or column == "Rondo" else "left")
    for row in rows:
        table.add_row(
            row["name"],
            f"{row['native']:.3f}",
            f"{row['rondo']:.3f}",
            f"{row['native'] / row['rondo']:.2f}",
            "identical" if row["identical"] else "[bold red]DIFFERENT",
            "\n".join(f"{name}: {calls}" for name, calls in row["served"].items()),
        )
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    if ranks > (os.cpu_count() or 1):
        console.print(
            f"{ranks} ranks share {os.cpu_count()} cores: times show that it works, not how fast it is on a cluster."
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", help="MPI compiler to use instead of those in .toolchain; mpiexec must be beside it")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=5)
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    try:
        with tempfile.TemporaryDirectory(prefix="rondo-demo-", dir="/tmp") as name:
            directory = Path(name)
            found = subjects(arguments.mpicc, directory)
            progress = track(found, "running natively and under Rondo", console=Console(stderr=True), transient=True)
            rows = [compare(subject, arguments.ranks, arguments.repetitions, directory) for subject in progress]
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    show(rows, arguments.ranks, arguments.repetitions)
    if not all(row["identical"] for row in rows):
        print("demo: Rondo changed an output", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
