# SPDX-License-Identifier: BSD-3-Clause
"""Communicators with ranks of another program are left to the library: those ranks may not have Rondo."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from launching import ranks_of
from mpi_libraries import ROOT, MpiLibrary

pytestmark = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
LAUNCH = "import json, sys, launching; launching.launch(*json.load(sys.stdin))"


def that_spawns(mpi: MpiLibrary) -> MpiLibrary:
    if not mpi.is_openmpi:
        return mpi
    # Its shared memory does not reach spawned ranks.
    return replace(mpi, environment={**mpi.environment, "OMPI_MCA_btl": "self,sm,tcp"})


def wait_for_ranks(program: Path, ranks: int) -> None:
    deadline = time.monotonic() + 30
    while len(ranks_of(program)) != ranks:
        assert time.monotonic() < deadline, f"{len(ranks_of(program))} processes of {program}"
        time.sleep(0.1)


def test_spawned_ranks_are_left_to_the_library(mpi: MpiLibrary) -> None:
    mpi = that_spawns(mpi)
    run = mpi.run_under_rondo([mpi.compile("spawning.c")], 2, timeout=40, allreduce="ring").check()
    said = [line for line in run.stdout.splitlines() if line.startswith("rank ")]
    assert sorted(said) == [f"rank {rank} of 3: 2 right, 3 in its own world" for rank in range(2)]
    assert run.report.native_reasons("allreduce")["processes of several programs"] >= 2 * 2
    assert run.report.calls("allreduce")["ring"] == 2


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv (util-linux)")
def test_spawned_ranks_end_when_the_tests_are_killed(mpi: MpiLibrary) -> None:
    mpi = that_spawns(mpi)
    program = mpi.compile("spawning.c")
    command = [str(word) for word in mpi.command(2, {}, [program, "endlessly"])]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    tests = subprocess.Popen([sys.executable, "-c", LAUNCH], env=environment, stdin=subprocess.PIPE, text=True)
    try:
        json.dump([command, {**os.environ, **mpi.environment}, 100], tests.stdin)
        tests.stdin.close()
        wait_for_ranks(program, 3)
        directory = Path(f"/proc/{ranks_of(program)[0]}/cwd").resolve()
    finally:
        tests.kill()
        tests.wait()
    wait_for_ranks(program, 0)
    shutil.rmtree(directory)
