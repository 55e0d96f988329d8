# SPDX-License-Identifier: BSD-3-Clause
"""Whether a launcher starts programs of an MPI: one of another MPI starts every rank as a program of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from rondo.errors import Error
from rondo.launching.abi import Mpi
from rondo.launching.launcher import MPI_OF, CommandLine, Kind, kind_of

NAMES = {"mpich": "MPICH or one of its family", "openmpi": "Open MPI", "mpiabi": "an MPI with the standard interface"}
LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.mpich", "mpiexec.openmpi", "mpiexec.hydra")
OF_ANY_MPI = ("prterun", "prun")  # PRRTE's own: they start whatever speaks PMIx


def check(line: CommandLine, abi: str, program: str | None, mpi: Mpi | None, environment: Mapping[str, str]) -> None:
    """Error if the launcher is of another MPI than the program, with the launcher that fits.

    Nothing where the launcher's MPI cannot be told, as of srun. `program` and `mpi` are None if only the ABI is known.
    """
    if line.kind not in MPI_OF or Path(line.words[0]).name in OF_ANY_MPI:
        return
    beside = list(_beside(mpi, environment))
    wanted = abi if abi in MPI_OF.values() else MPI_OF[beside[0][1]] if beside else MPI_OF[line.kind]
    if wanted == MPI_OF[line.kind]:
        return
    uses = f"{program} uses {NAMES[abi]} ({mpi.library})" if mpi is not None else f"--abi names {NAMES[abi]}"
    if mpi is not None and mpi.guessed:
        uses = f"mpi4py of {program} loads {NAMES[abi]} ({mpi.library})"
    on_path = [(path, kind) for name in LAUNCHERS for path, kind in _launcher(name, environment)]
    fitting = next((path for path, kind in [*beside, *on_path] if MPI_OF.get(kind) == wanted), None)
    advice = f"start it with {_shortest(fitting, environment)}" if fitting else "start it with the mpiexec of that MPI"
    if mpi is not None and mpi.guessed:
        advice += f", or say that the program uses another MPI: --abi {MPI_OF[line.kind]}"
    raise Error(
        f"{line.words[0]} is the launcher of {line.kind.value}, but {uses}: every rank would run alone; {advice}"
    )


def _beside(mpi: Mpi | None, environment: Mapping[str, str]) -> Iterator[tuple[Path, Kind]]:
    """The launchers that were installed with an MPI library, or beside it."""
    if mpi is None or mpi.path is None:
        return
    known = mpi.abi if mpi.abi in MPI_OF.values() else None
    # .../lib/libmpi.so.12, and Debian's /usr/lib/x86_64-linux-gnu/libmpich.so.12
    for prefix in [*mpi.path.absolute().parents[1:3], *mpi.path.resolve().parents[1:4]]:
        for name in LAUNCHERS:
            for path, kind in _launcher(str(prefix / "bin" / name), environment):
                if kind in MPI_OF and known in (MPI_OF[kind], None):
                    yield path, kind


def _launcher(name: str, environment: Mapping[str, str]) -> Iterator[tuple[Path, Kind]]:
    path = shutil.which(name, path=environment.get("PATH"))
    if path is None:
        return
    try:
        yield Path(path), kind_of(path, environment)
    except Error:  # of an MPI that Rondo does not know
        return


def _shortest(path: Path, environment: Mapping[str, str]) -> str:
    """As one would type it."""
    found = shutil.which(path.name, path=environment.get("PATH"))
    if found is not None and Path(found).resolve() == path.resolve():
        return path.name
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
