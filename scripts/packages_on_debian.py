# SPDX-License-Identifier: BSD-3-Clause
"""Tries the tarball on other releases of Debian, as their users would. Needs root, and the tarball in dist.

    python scripts/packages_on_debian.py                 bullseye (glibc 2.31), bookworm, trixie
    python scripts/packages_on_debian.py bullseye        one of them

An ordinary user without network runs a program with that release's own MPICH and Open MPI: by the command (run, bench,
profile, report), and by the site's preload alone. Rondo lies where this user cannot write, beside the Python packages
that benchmarks need. Where the release has an old Python, the command gets another. The Debians are those of
scripts/fresh_debian.py.

Ends with 0; with 1 if something is wrong; with 77 if it cannot be tried here. Nothing is left of it.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import portable
import python_headers
from fresh_debian import UNTRIABLE, Debian, FaultError, Run, UntriableError, fresh, install, require_tools

SUITES = {"bullseye": "3.11", "bookworm": "3.11", "trixie": "3.13"}
"""Releases, and the Python with which the command runs there."""
MPIS = {"mpich": ("mpich", "libmpich-dev"), "openmpi": ("openmpi-bin", "libopenmpi-dev")}
PROGRAM = "examples/particle_filter.c"
CHOSEN = "doubling_123"
SECONDS = 300
OLD_PYTHONS = ("bullseye",)
"""Releases whose own python3 is older than 3.10."""
RONDO, PACKAGES, PYTHON = "/opt/rondo", "/opt/packages", "/opt/python"


def tarball() -> Path:
    """The newest one for x86-64."""
    found = sorted(portable.DIST.glob("*-linux-x86_64.tar.gz"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UntriableError("there is no tarball: make tarball PROCESSORS=x86_64")
    return found[-1]


def unpack(debian: Debian, suite: str) -> dict[str, str]:
    """Puts Rondo there, of root. Returns variables that the command needs there."""
    place = debian.root / RONDO.lstrip("/")
    with tarfile.open(tarball()) as packed:
        packed.extractall(place.parent, filter="data")
    (unpacked,) = (each for each in place.parent.iterdir() if each.name.startswith("rondo-"))
    unpacked.rename(place)
    version = SUITES[suite]
    try:
        portable.install_for(version, "x86_64", debian.root / PACKAGES.lstrip("/"), "bench")
        variables = {"PYTHONPATH": PACKAGES}
        if suite in OLD_PYTHONS:
            python = python_headers.prefix(portable.PYTHONS, version)
            shutil.copytree(python, debian.root / PYTHON.lstrip("/"), symlinks=True)
            variables["RONDO_PYTHON"] = f"{PYTHON}/bin/python{version}"
    except (python_headers.HeadersError, subprocess.CalledProcessError) as lacking:
        raise UntriableError(str(lacking)) from None
    return variables


def tried(debian: Debian, mpi: str, variables: dict[str, str]) -> Iterator[Run]:
    """What a user does with one MPI."""

    def done(*words: str, seen: str = "", unseen: str = "", **more: str) -> Run:
        run = debian.run("user", words, SECONDS, offline=True, variables={**variables, **more})
        run.expect(run.code == 0, "exit code 0")
        run.expect(seen in run.output, f"'{seen}'")
        run.expect(not unseen or unseen not in run.output, f"no '{unseen}'")
        return run

    command, launched = f"{RONDO}/bin/rondo", (f"mpiexec.{mpi}", "-n", "2", "./filter", "out")
    yield done(f"mpicc.{mpi}", "-O2", PROGRAM, "-o", "filter", "-lm")
    yield done(command, "run", "--use", f"exscan={CHOSEN}", "--report=run.json", "--", *launched)
    yield done(command, "report", "run.json", "--output", "run.html")
    yield done("grep", "-c", CHOSEN, "run.html")
    bench = ("exscan", "-a", CHOSEN, "--counts", "1", "--seconds", "5", "--output", "bench.json")
    yield done(command, "bench", *bench, "--", *launched[:3], seen=CHOSEN, unseen="compiling")
    yield done(command, "profile", "--output", "profile.json", "--", *launched)
    yield done(command, "report", "profile.json", "--output", "profile.html")
    left = f"left-{mpi}"
    yield done("mkdir", left)
    preload = {"LD_PRELOAD": f"{RONDO}/lib/librondo.so", "RONDO_EXSCAN": CHOSEN, "RONDO_REPORT": left}
    yield done(*launched, seen="survivors", **preload)
    yield done("grep", "-rl", CHOSEN, left)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", nargs="?", help=f"a release of Debian; without, {', '.join(SUITES)}")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    place, begin = "", time.monotonic()
    try:
        require_tools("--net")
        tarball()
        for suite in [options.suite] if options.suite else SUITES:
            place = f"{suite}: "
            with fresh(suite, [PROGRAM]) as debian:
                variables = unpack(debian, suite)
                install(debian, [package for packages in MPIS.values() for package in packages])
                for mpi in MPIS:
                    for run in tried(debian, mpi, variables):
                        print(f"{place}{run}, as it should be", flush=True)
        print(f"all in {time.monotonic() - begin:.0f} s")
    except UntriableError as reason:
        print(f"packages_on_debian: {place}cannot be tried here: {reason}", file=sys.stderr)
        return UNTRIABLE
    except FaultError as fault:
        print(f"packages_on_debian: {place}{fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
