# SPDX-License-Identifier: BSD-3-Clause
"""A launcher of another MPI than the program's is refused, with the one that fits; real libraries, all pairs."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from mpi_libraries import LIBRARIES
from rondo.launching import launcher

LAUNCHERS = {name: library for name, library in LIBRARIES.items() if name != "mpiabi"}  # which has MPICH's


@pytest.mark.parametrize("starter", LAUNCHERS)
def test_every_launcher_starts_programs_of_its_family_and_refuses_others(rondo, installed, mpi, starter, monkeypatch):
    library = LAUNCHERS[starter]
    if library.missing():
        pytest.skip(library.missing())
    for name, value in {**mpi.environment, **library.environment}.items():
        monkeypatch.setenv(name, value)
    path, program = library.prefix / library.launcher, mpi.compile("hello.c")
    result = rondo("run", "--dry-run", "--", path, "-n", "2", program)
    if library.is_openmpi == mpi.is_openmpi:
        assert result.exit_code == 0, result.stderr
        return
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"{path} is the launcher of {'Open MPI' if library.is_openmpi else 'MPICH or Intel MPI'}, " in result.stderr
    fitting = re.search(r"every rank would run alone; start it with (\S+)$", result.stderr.strip())
    assert fitting is not None, result.stderr
    kind = launcher.kind_of(fitting[1], os.environ)
    assert kind is (launcher.Kind.OPENMPI if mpi.is_openmpi else launcher.Kind.HYDRA)
    beside = Path(shutil.which(fitting[1]) or fitting[1]).resolve().parent
    assert beside == mpi.prefix.resolve()


def test_mvapich_s_launcher_starts_programs_of_mpich_s_family(rondo, installed, stand_in_program, stand_in_launcher):
    path = stand_in_launcher("unknown", "mpirun_rsh")
    mpich, openmpi = (stand_in_program(library, library) for library in ("libmpi.so.12", "libmpi.so.40"))
    assert rondo("run", "--dry-run", "--", path, "-np", "2", "a", "b", mpich).exit_code == 0
    assert "is the launcher of MVAPICH, but " in rondo("run", "--", path, "-np", "2", "a", "b", openmpi).stderr


def test_prrte_and_slurm_start_programs_of_any_mpi(rondo, installed, stand_in_program, stand_in_launcher):
    app = stand_in_program("libmpi.so.12")
    for kind, name in (("openmpi", "prterun"), ("srun", "srun"), ("unknown", "jsrun")):
        result = rondo("run", "--dry-run", "--", stand_in_launcher(kind, name), "-n", "2", app)
        assert result.exit_code == 0, result.stderr


def test_a_named_abi_is_held_against_the_launcher_too(rondo, installed, stand_in_launcher):
    path = stand_in_launcher("openmpi", "mpirun")
    result = rondo("run", "--abi", "mpich", "--", path, "-n", "2", "./wrapper")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        f"rondo: {path} is the launcher of Open MPI, but --abi names MPICH or one of its family: every rank would run "
        "alone; start it with "
    )
