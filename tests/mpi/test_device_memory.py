# SPDX-License-Identifier: BSD-3-Clause
"""Memory of a GPU on one rank: Rondo works on copies. There is no GPU: a stand-in has memory that nobody can touch."""

from __future__ import annotations

import pytest
from mpi_libraries import FORCED, FORCED_ALL_TO_ALL, LIBRARIES, MpiLibrary

# The standard ABI of MPICH is MPICH.
pytestmark = [
    pytest.mark.parallel,
    pytest.mark.parametrize("mpi", [name for name in LIBRARIES if name != "mpiabi"], indirect=True),
]
RANKS = 3
ROUNDS = 5
RUNTIMES = {
    "cuda": ["-Wl,-soname,libcuda.so.1"],
    "rocm": ["-DROCM", "-Wl,-soname,libamdhip64.so.6"],
    "level_zero": ["-DLEVEL_ZERO", "-Wl,-soname,libze_loader.so.1"],
}
# Without a driver, which the loader loads when it is initialised.
LOADER_OF_LEVEL_ZERO = RUNTIMES["level_zero"]
NO_RUNTIME: list[str] = []  # under a name that is none of a runtime's


def command(mpi: MpiLibrary, runtime: str | list[str], *arguments: str) -> list[str]:
    flags = runtime if isinstance(runtime, list) else RUNTIMES[runtime]
    if runtime == "level_zero":
        flags = [*flags, "-Wl,--no-as-needed", str(mpi.compile("libze_stand_in.c", "-shared", "-fPIC"))]
    stand_in = mpi.compile("gpu_stand_in.c", "-shared", "-fPIC", *flags)
    return [mpi.compile("device_memory.cpp", "-ldl"), stand_in, *arguments]


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("when", ["early", "late"])
def test_memory_of_a_device_on_one_rank_is_copied_there(mpi: MpiLibrary, runtime: str, when: str) -> None:
    forced = FORCED | FORCED_ALL_TO_ALL
    program = command(mpi, runtime, str(ROUNDS), when)
    run = mpi.run_under_rondo(program, RANKS, **forced).check()
    for collective, algorithm in forced.items():
        assert set(run.report.calls(collective)) == {algorithm}
    # Without a report, a call like the last one takes a shorter way.
    unreported = mpi.run_under_rondo(program, RANKS, environment={"RONDO_REPORT": ""}, **forced).check()
    for each in (run, unreported):
        assert "failures 0" in each.stdout
        assert "questions 0" not in each.stdout


@pytest.mark.parametrize("runtime", ["cuda", "level_zero"])
def test_a_rank_that_cannot_copy_takes_part_and_fails(mpi: MpiLibrary, runtime: str) -> None:
    program = command(mpi, runtime, "1", "early", "fail")
    run = mpi.run_under_rondo(program, RANKS, timeout=30, **FORCED, **FORCED_ALL_TO_ALL).check()
    assert "failures 0" in run.stdout


@pytest.mark.parametrize("runtime", [NO_RUNTIME, LOADER_OF_LEVEL_ZERO, "level_zero"], ids=["none", "loader", "driver"])
def test_what_cannot_have_memory_is_not_asked(mpi: MpiLibrary, runtime: str | list[str]) -> None:
    run = mpi.run_under_rondo(command(mpi, runtime, "1", "unused"), RANKS, **FORCED, **FORCED_ALL_TO_ALL).check()
    assert ("questions 0" in run.stdout) == (runtime != "level_zero")
    assert "failures 0" in run.stdout
