# SPDX-License-Identifier: BSD-3-Clause
"""Runs an ordinary MPI program as it is, natively and under Rondo, in turn. `make demo` runs this inside .venv.

    python scripts/demo.py                        with the mpicc on PATH, or the MPICH in .toolchain if it is no use
    python scripts/demo.py --mpicc /opt/bin/mpicc with your own
    python scripts/demo.py --python               the Python program, too
    python scripts/demo.py --cluster none         without the emulated cluster, on this machine as one node

Where the kernel lets its user make namespaces, the ranks run on an emulated cluster (see `rondo cluster --help`), one
on each node: then its network decides, as on a real cluster, and not how many cores this machine has. Elsewhere there
are as many ranks as Rondo serves on one node, two: they share memory, and the program takes more steps.

The program is examples/particle_filter (in C, and in Python through mpi4py). `rondo compare` runs it. Its outputs must
be identical; the exit code says whether they were.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import setup
from rondo.cluster import cluster, shapes
from rondo.comparing import trials
from rondo.errors import Error
from rondo.launching import mpi_library

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
SHAPE = "8x1:2ms:200Mbit"
LOCAL_RANKS = 2  # for which the default rules choose something on one node
OUTPUT = "survivors"
RUN_SECONDS = 60  # of a few: Debian 12's MPICH may hang on an emulated cluster


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

    cluster: cluster.Cluster | None = None
    """None: this machine as it is, as one node."""

    def __str__(self) -> str:
        """For people."""
        return f"an emulated cluster, {self.cluster.shape}" if self.cluster else f"{LOCAL_RANKS} ranks of this machine"

    @property
    def steps(self) -> int:
        """Of the program. A trial of the guard takes four calls; on one node a step takes a thousandth of the time."""
        return 5 if self.cluster else 200

    @property
    def runs(self) -> int:
        """Of each. Four can prove a difference; short ones are disturbed more."""
        return 4 if self.cluster else 8

    def comparison(self, subject: Subject, runs: int | None) -> list[str]:
        """The command that compares."""
        words = [str(Path(sys.executable).with_name("rondo")), "compare", "--same", OUTPUT]
        words += ["--runs", str(runs or self.runs), "--warmup", "1"]  # in which the guard learns
        words += ["--timeout", str(RUN_SECONDS)]
        program = [*subject.program, OUTPUT, str(self.steps)]
        if self.cluster is not None:
            return [*words, "--cluster", self.cluster.name, "--mpi", str(subject.library.launcher), "--", *program]
        crowded = ["--oversubscribe"] if subject.library.name == "openmpi" else []
        return [*words, "--", str(subject.library.launcher), *crowded, "-n", str(LOCAL_RANKS), *program]


def compiler(named: str | None) -> Path:
    """The mpicc that is named, or on PATH and usable, or that this checkout has set up."""
    own, why = setup.own_mpi(named)
    wanted = own or str(setup.TOOLCHAIN / setup.DEMO_LIBRARY / "bin" / "mpicc")
    if why:
        print(f"demo: {why}, so this runs with {wanted}", flush=True)
    found = shutil.which(wanted)
    if found is None:
        raise DemoError(f"there is no {wanted}; for an MPICH in .toolchain, run: python3 scripts/setup.py mpi mpich")
    return Path(found).absolute()


def compiled(mpicc: Path, directory: Path) -> list[str]:
    target = directory / "particle_filter"
    command = [str(mpicc), "-O2", str(EXAMPLES / "particle_filter.c"), "-o", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise DemoError(f"{' '.join(command)} failed\n{result.stderr}")
    return [str(target)]


def subjects(mpicc: Path, directory: Path, with_python: bool) -> list[Subject]:
    """The C program, and the Python program if that is wanted, with one MPI library."""
    library = mpi_library.find(str(setup.launcher_of(mpicc)), os.environ)
    program = compiled(mpicc, directory)
    found = [Subject(f"C, {mpicc}", library, program, {})]
    if with_python:
        linked = subprocess.run(["ldd", *program], capture_output=True, text=True, check=False).stdout
        path = re.search(r"libmpi\S* => (\S+)", linked)
        variables = {"MPI4PY_LIBMPI": path[1]} if path else {}
        script = [sys.executable, str(EXAMPLES / "particle_filter.py")]
        found.append(Subject("Python, mpi4py", library, script, variables))
    return found


def compare(subject: Subject, place: Place, runs: int | None, directory: Path) -> int:
    """The exit code of the comparison, which shows what it finds."""
    words = place.comparison(subject, runs)
    print(f"\ndemo: {subject.name}, unmodified:\n  {shlex.join(words)}", flush=True)
    learned = {"XDG_STATE_HOME": str(directory)}  # nothing of the demonstration's stays
    environment = {**os.environ, **subject.library.environment, **subject.environment, **learned}
    return subprocess.run(words, env=environment, cwd=directory, check=False).returncode


def compare_somewhere(subject: Subject, place: Place, runs: int | None, directory: Path) -> tuple[int, Place]:
    """As compare, and where that was: on this machine if a run fails, or hangs, on the emulated cluster."""
    code = compare(subject, place, runs, directory)
    if code != trials.FAILED or place.cluster is None:
        return code, place
    here = Place()
    print(f"demo: not on an emulated cluster, so once more on {here}", file=sys.stderr)
    return compare(subject, here, runs, directory), here


@contextlib.contextmanager
def place_for(shape: str) -> Iterator[Place]:
    """An emulated cluster, or this machine as it is where that cannot be."""
    with contextlib.ExitStack() as stack:
        place = Place()
        if shape != "none":
            try:
                place = Place(stack.enter_context(cluster.start(shapes.parse(shape))))
            except Error as error:
                print(f"demo: no emulated cluster here ({error}); this machine is one node instead", file=sys.stderr)
        yield place


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", help="MPI compiler to use; mpiexec must be beside it")
    parser.add_argument("--python", action="store_true", help="run the Python program, too")
    parser.add_argument("--cluster", default=SHAPE, help="shape of the emulated cluster (%(default)s), or none")
    parser.add_argument("--runs", type=int, help="of each (4; 8 on one node)")
    arguments = parser.parse_args()
    for variable in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
        os.environ.update({variable: "1", f"{variable}_CONFIRM": "1"})
    try:
        with (
            tempfile.TemporaryDirectory(prefix="rondo-demo-", dir="/tmp") as name,
            place_for(arguments.cluster) as place,
        ):
            directory = Path(name)
            found = subjects(compiler(arguments.mpicc), directory, arguments.python)
            print(f"demo: examples/particle_filter, natively and under Rondo in turn, on {place}", flush=True)
            codes = []
            for subject in found:
                code, used = compare_somewhere(subject, place, arguments.runs, directory)
                codes.append(code)
    except (DemoError, Error) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    if used.cluster is not None:
        print("demo: real MPI libraries; the network's speed is emulated")
    elif len(os.sched_getaffinity(0)) < LOCAL_RANKS:
        print(f"demo: {LOCAL_RANKS} ranks share a core: times show that it works, not how fast it is elsewhere")
    else:
        print("demo: the ranks shared the memory of one node; what Rondo gains between nodes is not shown here")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
