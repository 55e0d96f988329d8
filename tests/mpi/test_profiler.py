# SPDX-License-Identifier: BSD-3-Clause
"""Rondo and a profiling tool in one process: the tool sees each call of the program once, and Rondo serves it."""

from __future__ import annotations

import pytest
from mpi_libraries import FORCED, PROGRAMS, MpiLibrary, Run

pytestmark = pytest.mark.parallel

CALLS = {"bcast": 4, "exscan": 10, "reduce": 3, "scan": 5}
RANKS = 2


def check(run: Run) -> None:
    lines = sorted(run.check().stdout.splitlines())
    counted = ", ".join(f"{calls} {collective}s" for collective, calls in CALLS.items())
    assert lines == [f"tool on rank {rank}: {counted}" for rank in range(RANKS)]
    for collective, calls in CALLS.items():
        assert run.report.calls(collective) == {FORCED[collective]: calls * RANKS}


@pytest.mark.parametrize("order", ["{rondo}:{tool}", "{tool}:{rondo}"])
def test_preloaded_tool_sees_every_call_once(mpi: MpiLibrary, order: str) -> None:
    tool = mpi.compile("profiler.c", "-shared", "-fPIC")
    preloads = order.replace("{tool}", str(tool))
    check(mpi.run_under_rondo([mpi.compile("profiled.c")], RANKS, **FORCED, environment={"LD_PRELOAD": preloads}))


def test_tool_inside_the_program_sees_every_call_once(mpi: MpiLibrary) -> None:
    program = mpi.compile("profiled.c", str(PROGRAMS / "profiler.c"))
    check(mpi.run_under_rondo([program], RANKS, **FORCED))
