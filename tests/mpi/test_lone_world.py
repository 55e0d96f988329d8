# SPDX-License-Identifier: BSD-3-Clause
"""Processes that a launcher has started together, but each of which is a world of one rank, say so: one of them, once.

Slurm is not here: its variables are set by hand, as `srun` sets them for each of its tasks. It is in
tests/packaging/test_slurm.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest
from launching import launch
from mpi_libraries import LIBRARIES, MpiLibrary, preload_library, reason_to_skip
from rondo.profiling import reading
from test_spawning import that_spawns

pytestmark = pytest.mark.parallel

WARNING = "processes belong together, but each is alone in MPI_COMM_WORLD"
PROFILER = "librondo_profile_"


def started(mpi: MpiLibrary, variables: Mapping[str, str], *before: object) -> str:
    """What a process says that is started without a launcher, or with what stands before it; skips if it fails."""
    run = launch([*before, mpi.compile("hello.c")], {**os.environ, **mpi.environment, **variables}, 60)
    if run.returncode != 0:
        natively = launch(
            [*before, mpi.compile("hello.c")],
            {**os.environ, **mpi.environment, **variables, "LD_PRELOAD": ""},
            60,
        )
        if natively.returncode != 0:
            pytest.skip(f"{mpi.name} does not start so: {natively.stderr.strip()[-200:]}")
    assert "ranks add up to 0" in run.check().stdout
    return run.stderr


def step(size: int, rank: int) -> dict[str, str]:
    """Of a task of srun."""
    return {"SLURM_NTASKS": str(size), "SLURM_STEP_NUM_TASKS": str(size), "SLURM_PROCID": str(rank)}


@pytest.mark.parametrize("kind", ["rondo", "profile"])
def test_one_of_several_lone_processes_says_so(mpi: MpiLibrary, kind: str, tmp_path) -> None:
    library = preload_library(mpi.abi)
    if kind == "profile":
        library = library.with_name(library.name.replace("librondo_", PROFILER))
    preload = {"LD_PRELOAD": str(library), "RONDO_PROFILE": str(tmp_path)}
    said = [started(mpi, {**step(3, rank), **preload}) for rank in range(3)]
    assert [each.count(WARNING) for each in said] == [1, 0, 0]
    if kind == "profile":
        missing = reading.read(tmp_path, []).missing
        assert any("3 processes were each alone in MPI_COMM_WORLD: if they belong" in each for each in missing)
    assert f"rondo: warning: SLURM_STEP_NUM_TASKS says that 3 {WARNING}: the launcher does not speak with " in said[0]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"SLURM_NTASKS": "4", "SLURM_PROCID": "0"},  # in a batch script, without srun
        step(1, 0),
        {**step(4, 0), "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},  # mpirun -n 1 in a step
        {"SLURM_STEP_NUM_TASKS": "many", "SLURM_PROCID": "0"},
        {"SLURM_STEP_NUM_TASKS": "4"},
    ],
    ids=["alone", "batch", "step of one", "launcher in a step", "no number", "no rank"],
)
def test_a_process_that_is_rightly_alone_says_nothing(mpi: MpiLibrary, variables: dict[str, str]) -> None:
    assert "alone" not in started(mpi, {**variables, "LD_PRELOAD": str(preload_library(mpi.abi))})


@pytest.mark.parametrize("ranks", [1, 2])
def test_ranks_of_the_right_launcher_say_nothing(mpi: MpiLibrary, ranks: int) -> None:
    assert "alone" not in mpi.run_under_rondo([mpi.compile("hello.c")], ranks).check().stderr


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_a_single_process_that_was_spawned_says_nothing(mpi: MpiLibrary) -> None:
    mpi = that_spawns(mpi)
    run = mpi.run_under_rondo([mpi.compile("spawning.c")], 2, timeout=40, environment=step(3, 0)).check()
    assert "alone" not in run.stderr


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_a_launcher_of_another_library_is_noticed(mpi: MpiLibrary) -> None:
    if reason_to_skip("mpich") is not None:
        pytest.skip(reason_to_skip("mpich"))
    hydra = LIBRARIES["mpich"]
    command = hydra.command(3, {"LD_PRELOAD": str(preload_library(mpi.abi))}, [mpi.compile("hello.c")])
    run = launch(command, {**os.environ, **hydra.environment, **mpi.environment}, 60).check()
    assert run.stdout.count("ranks add up to 0") == 3
    assert run.stderr.count(WARNING) == 1
    assert f"PMI_SIZE says that 3 {WARNING}: the launcher does not speak with Open MPI" in run.stderr
