# SPDX-License-Identifier: BSD-3-Clause
"""Calls that all differ are right, also where plans have to be forgotten, and are not left to the library for it."""

from __future__ import annotations

import pytest
from mpi_libraries import MpiLibrary

pytestmark = pytest.mark.parallel

RANKS = 3
CALLS = 400
FORCED = {"bcast": "circulant", "allreduce": "ring"}


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize("memory", ["64Mi", "20Ki", "0"])
def test_calls_that_all_differ(mpi: MpiLibrary, memory: str) -> None:
    run = mpi.run_under_rondo(
        [mpi.compile("differing_calls.c"), str(CALLS)], RANKS, **FORCED, environment={"RONDO_PLAN_MEMORY": memory}
    ).check()
    assert run.stdout == "failures 0\n"
    for collective, algorithm in FORCED.items():
        assert run.report.calls(collective)[algorithm] >= 2 * CALLS * RANKS * 0.95  # few are too short for it


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_limit_that_is_no_number_is_said_once(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo(
        [mpi.compile("differing_calls.c"), "5"], 2, **FORCED, environment={"RONDO_PLAN_MEMORY": "much"}
    ).check()
    assert run.stderr.count("RONDO_PLAN_MEMORY: 'much' is not a number") == 1
