# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries of the tests: compile a program for one, run it natively, run it under Rondo."""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from launching import Run, launch

ROOT = Path(__file__).resolve().parents[1]
TOOLCHAIN = ROOT / ".toolchain"
PROGRAMS = ROOT / "tests" / "mpi"
BUILD = ROOT / "build" / "tests" / "mpi"
# An algorithm for each collective, for tests that leave none to the rules. All ranks have the results of the latter.
FORCED = {"bcast": "binomial", "exscan": "doubling_123", "reduce": "binomial", "scan": "doubling"}
FORCED_ALL_TO_ALL = {
    "allgather": "ring",
    "allreduce": "ring",
    "alltoall": "pairwise",
    "alltoallv": "pairwise",
    "reduce_scatter": "ring",
}
# Collectives whose vectors have a part for each rank: results_of_parts.cpp checks them.
OF_PARTS = {"allgather", "alltoall", "alltoallv", "gather", "gatherv", "reduce_scatter", "scatter", "scatterv"}
FORCED_PARTS_OF_THE_ROOT = {
    "gather": "binomial",
    "gatherv": "linear",
    "scatter": "binomial",
    "scatterv": "linear",
}
# In the programs that check results, Intel MPI's own collectives crash, or give other results than a sequential
# loop: reductions for MPI_REAL16 and for some datatypes with gaps, allgathers from and to MPI_BOTTOM and with types
# mixed among the ranks, gathers.
NATIVELY_WRONG = {"impi": {"allgather", "allreduce", "gather", "reduce"}}
# Crash natively, or are wrong, in what mode "tame" leaves out: MPICH's own MPI_Reduce_scatter writes beside elements
# that do not start at their address; MPI_Allgatherv of MPICH 4.0 on one rank has no displacements.
TAME = {
    "mpich": {"reduce_scatter"},
    "mpiabi": {"reduce_scatter"},
    "impi": {"allreduce", "reduce", "reduce_scatter"},
    "debian_mpich": {"allgather", "reduce", "reduce_scatter"},
}
COMPILER_FLAGS = {
    ".c": ["-std=gnu11", "-O1", "-g", "-Wall"],
    ".cpp": ["-std=c++20", "-O1", "-Wall", "-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"],
    ".f90": ["-O1", "-g", "-fallow-argument-mismatch", "-w"],
}


@dataclass(frozen=True)
class MpiLibrary:
    """How to compile for one MPI library and how to launch."""

    name: str
    abi: str
    prefix: Path
    compilers: Mapping[str, str]  # suffix of the source -> wrapper
    launcher: str
    is_openmpi: bool = False
    launcher_options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)  # of compiler and launcher
    patience: Mapping[str, str] = field(default_factory=dict)  # of ranks, where there are more than cores
    is_made_patient: bool = False  # by testbed/patience.c, where the tests start the ranks themselves
    build: Path = BUILD  # where programs are kept

    @property
    def shared_library(self) -> Path:
        """What mpi4py loads, of a library in .toolchain."""
        return self.prefix.parent / "lib" / ("libmpi.so.40" if self.is_openmpi else "libmpi.so.12")

    def missing(self) -> str | None:
        """Why this library cannot be used, or None."""
        for program in {*self.compilers.values(), self.launcher}:
            if shutil.which(str(self.prefix / program)) is None:
                return f"{self.name}: no {self.prefix / program}"
        return None

    def compile(self, source: str | Path, *flags: str) -> Path:
        """Executable of a source in tests/mpi (or anywhere else); compiled again only after a change."""
        path = PROGRAMS / source
        wrapper = self.prefix / self.compilers[path.suffix]
        others = [Path(flag) for flag in flags if Path(flag).is_file()] + sorted(path.parent.glob("*.hpp"))
        content = b"".join(file.read_bytes() for file in [path, *others])
        key = hashlib.sha256(content + repr((str(wrapper), wrapper.stat().st_mtime, flags)).encode()).hexdigest()[:12]
        target = self.build / self.name / f"{path.stem}-{key}"
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a program that two tests ask for at once is compiled once
            if target.exists():
                return target
            partial = target.with_suffix(f".{os.getpid()}")
            command = [wrapper, *COMPILER_FLAGS[path.suffix], path, "-o", partial, *flags]
            environment = {**os.environ, **self.environment}
            result = subprocess.run(
                command, env=environment, cwd=target.parent, capture_output=True, text=True, check=False
            )
            if result.returncode != 0:
                pytest.fail(f"{path.name} does not compile with {wrapper}\n{result.stderr}", pytrace=False)
            partial.replace(target)
        return target

    def command(self, ranks: int, variables: Mapping[str, str], command: Sequence[object]) -> list[object]:
        """The launcher's command line; the variables reach the ranks only."""
        words: list[object] = [self.prefix / self.launcher, *self.launcher_options]
        for name, value in variables.items():
            words += ["-x", f"{name}={value}"] if self.is_openmpi else ["-genv", name, value]
        return [*words, "-n", str(ranks), *command]

    def run(
        self, command: Sequence[object], ranks: int, environment: Mapping[str, str] | None = None, timeout: float = 60
    ) -> Run:
        variables = dict(environment or {})
        tests_at_once = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        crowded = ranks * tests_at_once > len(os.sched_getaffinity(0))
        if crowded and not self.is_made_patient:
            variables = {**self.patience, **variables}
        elif crowded:
            patience = self.compile(ROOT / "testbed" / "patience.c", "-shared", "-fPIC")
            preloads = [variables.get("LD_PRELOAD", ""), str(patience)]
            variables["LD_PRELOAD"] = ":".join(word for word in preloads if word)
            variables = {"RONDO_PATIENCE_POLLS": "20", "RONDO_PATIENCE_US": "50", **variables}
        return launch(self.command(ranks, variables, command), {**os.environ, **self.environment}, timeout)

    def run_under_rondo(
        self,
        command: Sequence[object],
        ranks: int,
        *,
        environment: Mapping[str, str] | None = None,
        timeout: float = 60,
        **forced: str | None,
    ) -> Run:
        """With the preload library alone, as `rondo run` would; `exscan="doubling_123"` forces an algorithm."""
        variables = dict(environment or {})
        library = str(preload_library(self.abi))
        variables["LD_PRELOAD"] = variables.get("LD_PRELOAD", "{rondo}").replace("{rondo}", library)
        variables |= {f"RONDO_{collective.upper()}": choice for collective, choice in forced.items() if choice}
        with tempfile.TemporaryDirectory(prefix="rondo-report-") as directory:
            run = self.run(command, ranks, {"RONDO_REPORT": directory, **variables}, timeout)
            run.report.ranks = [json.loads(path.read_text()) for path in sorted(Path(directory).glob("*.json"))]
        return run


def results_command(mpi: MpiLibrary, collective: str, longest: int = 3001) -> list[object]:
    """A program that checks all results of a collective, a few calls of each kind, and prints what it found.

    `longest`: elements of the longest vector.
    """
    program = "results_of_parts.cpp" if collective in OF_PARTS else "results.cpp"
    tame = ["tame"] if collective == "reduce_scatter" else []  # MPICH's own writes beside the elements of some types
    return [mpi.compile(program), collective, str(longest), "brief", *tame]


def results_of_data(output: str) -> dict[str, str]:
    """What that program printed about the data; how results repeat depends on who combined what."""
    return {name: value for name, value in re.findall(r"^(\w+) (\S+)$", output, re.MULTILINE) if name != "unrepeated"}


def preload_library(abi: str) -> Path:
    """librondo_<abi>.so of the installed package, or of $RONDO_LIBRARY_DIR."""
    directory = os.environ.get("RONDO_LIBRARY_DIR")
    if not directory:
        package = importlib.util.find_spec("rondo")
        if package is None or not package.submodule_search_locations:
            pytest.skip("the package rondo is not installed, and RONDO_LIBRARY_DIR is not set")
        directory = str(Path(package.submodule_search_locations[0]) / "lib")
    library = Path(directory) / f"librondo_{abi}.so"
    if not library.exists():
        pytest.skip(f"no {library}")
    return library.resolve()


# Ranks that poll for messages keep the cores from the ranks that have work: 9 ranks on 2 cores run 10 to 100 times
# faster when whoever waits sleeps. Open MPI and Intel MPI yield when told to. The MPICH wheel sleeps when told to, but
# testbed/patience.c, which Debian's needs, takes a third to a ninth of the processors' time.
PATIENT_MPICH = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "20", "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1"}
# Open MPI refuses to run as root, and more ranks than cores; version 4 and version 5 read different names.
WILLING_OPENMPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1",
    "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "true",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
WRAPPERS = {".c": "mpicc", ".cpp": "mpicxx"}
IMPI = TOOLCHAIN / "impi"
DEBIAN = Path("/usr/bin")

LIBRARIES = {
    library.name: library
    for library in [
        MpiLibrary(
            "mpich",
            "mpich",
            TOOLCHAIN / "mpich/bin",
            WRAPPERS,
            "mpiexec",
            patience=PATIENT_MPICH,
            is_made_patient=True,
        ),
        MpiLibrary(
            "mpiabi",
            "mpiabi",
            TOOLCHAIN / "mpich/bin",
            {".c": "mpicc_abi", ".cpp": "mpicxx_abi"},
            "mpiexec",
            patience=PATIENT_MPICH,
            is_made_patient=True,
        ),
        MpiLibrary(
            "openmpi",
            "openmpi",
            TOOLCHAIN / "openmpi/bin",
            WRAPPERS,
            "mpiexec",
            True,
            environment={**WILLING_OPENMPI, "OMPI_MCA_btl": "self,sm"},
        ),
        MpiLibrary(
            "impi",
            "mpich",
            IMPI / "bin",
            WRAPPERS,
            "mpiexec.hydra",
            environment={
                "I_MPI_ROOT": str(IMPI),
                "LD_LIBRARY_PATH": str(IMPI / "lib"),
                "I_MPI_PIN": "off",
                "I_MPI_FABRICS": "shm",
            },
            patience={"I_MPI_THREAD_YIELD": "3"},
        ),
        MpiLibrary(
            "debian_mpich",
            "mpich",
            DEBIAN,
            {".c": "mpicc.mpich", ".cpp": "mpicxx.mpich", ".f90": "mpif90.mpich"},
            "mpiexec.mpich",
            is_made_patient=True,
        ),
        MpiLibrary(
            "debian_openmpi",
            "openmpi",
            DEBIAN,
            {".c": "mpicc.openmpi", ".cpp": "mpicxx.openmpi", ".f90": "mpif90.openmpi"},
            "mpiexec.openmpi",
            True,
            environment={**WILLING_OPENMPI, "OMPI_MCA_btl": "self,vader"},
        ),
    ]
}


@functools.cache
def reason_to_skip(name: str) -> str | None:
    """Why a library cannot be used on this machine: it is not there, or it does not start."""
    library = LIBRARIES[name]
    reason = library.missing()
    if reason is None:
        run = library.run([library.compile("hello.c")], 2, timeout=30)
        if run.returncode != 0:
            reason = f"{name} does not start two ranks here: {run.stderr.strip()[-300:]}"
    return reason
