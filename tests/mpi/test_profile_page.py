# SPDX-License-Identifier: BSD-3-Clause
"""From a program to a page: `rondo profile`, what it says at the end, and `rondo report`."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from launching import launch
from mpi_libraries import MpiLibrary, preload_library
from rondo.machine import machine
from rondo.profiling.profile import read

RANKS = 4
RONDO = [sys.executable, "-m", "rondo"]


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_program_is_profiled_and_its_page_written(mpi: MpiLibrary, tmp_path: Path) -> None:
    preload_library(mpi.abi)
    figures = tmp_path / "config" / "rondo" / "machine"
    machine.write(figures, machine.Machine(alpha=1e-6, beta=1e-10, overhead=1e-7, gamma=1e-10).text())
    patience = mpi.patience if len(os.sched_getaffinity(0)) < RANKS else {}
    program = mpi.command(RANKS, patience, [mpi.compile("profile_kinds.c")])
    environment = {**os.environ, **mpi.environment, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    there = ["env", "-C", tmp_path, *RONDO]
    run = launch([*there, "profile", "--", *program], environment, 60).check()
    assert "profile_kinds.c:" in run.stderr
    assert re.search(r"\d+\.\d% of\s+the\s+run\s+in\s+collectives;", run.stderr)
    assert "Nothing is predicted of" in run.stderr  # on one node
    assert "wrote" in run.stderr
    profile = read(tmp_path / "profile.json")
    assert profile.machine == figures.read_text()
    assert profile.cluster == ""
    launch([*there, "report", "profile.json"], environment, 60).check()
    page = (tmp_path / "report.html").read_text()
    for expected in ("profile_kinds.c:", "MPI_Reduce_scatter", "row", "MPI_Comm_split", "on one node", "MPI_Wait"):
        assert expected in page
