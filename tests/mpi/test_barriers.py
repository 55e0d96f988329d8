# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Barrier on real libraries: a rank that comes late holds all others back, whatever serves the call."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import LIBRARIES, ROOT, MpiLibrary

from rondo import _core

pytestmark = pytest.mark.parallel

RANKS = 4
IN_A_ROW = 60  # as barriers.c has it
CHOICES = [each["name"] for each in _core.algorithms("barrier")] + ["dissemination:radix=3", "tree:radix=64"]
MOST = ["mpich", "openmpi", "mpiabi"]


def check(mpi: MpiLibrary, choice: str, ranks: int, **variables: str) -> None:
    program = mpi.compile("barriers.c")
    run = mpi.run_under_rondo([program], ranks, environment=variables, barrier=choice, timeout=100).check()
    assert run.stdout == "failures 0\n"
    # Of each rank: on the world, reversed, and the half, which may be one rank's.
    halves = [(ranks + 1) // 2, ranks // 2]
    served = sum(size * (size + IN_A_ROW) for size in [ranks, ranks, *halves] if size > 1)
    assert run.report.calls("barrier")[choice.partition(":")[0]] == served
    reasons = run.report.native_reasons("barrier")
    assert reasons.keys() == {"empty", "inter-communicator", "one process"}
    assert reasons["empty"] == reasons["inter-communicator"] == ranks


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("mpi", MOST, indirect=True)
def test_late_rank_holds_all_others_back(mpi: MpiLibrary, choice: str) -> None:
    check(mpi, choice, RANKS)


@pytest.mark.parametrize(
    ("choice", "mpi"), [(choice, MOST[(i + 1) % len(MOST)]) for i, choice in enumerate(CHOICES)], indirect=["mpi"]
)
def test_late_rank_holds_all_others_back_through_shared_memory(mpi: MpiLibrary, choice: str) -> None:
    check(mpi, choice, 2 if choice == "dissemination" else 4, RONDO_SHARED_MEMORY="on")


@pytest.mark.parametrize("mpi", [name for name in LIBRARIES if name not in MOST], indirect=True)
def test_other_libraries_hold_all_ranks_back(mpi: MpiLibrary) -> None:
    check(mpi, "dissemination", 3)


@pytest.mark.parametrize("mpi", MOST, indirect=True)
def test_leaders_meet_for_their_nodes(mpi: MpiLibrary) -> None:
    check(mpi, "leaders", 6, RONDO_NODES="3,2,1")


@pytest.mark.parametrize("mpi", [*MOST[:2], "impi"], indirect=True)
@pytest.mark.parametrize("shared_memory", ["on", "off"])
def test_rules_that_come_with_rondo_serve_two_ranks_that_share_memory(mpi: MpiLibrary, shared_memory: str) -> None:
    variables = {"RONDO_RULES": str(ROOT / "tuning/default.rules"), "RONDO_SHARED_MEMORY": shared_memory}
    run = mpi.run_under_rondo([mpi.compile("barriers.c")], 2, environment=variables).check()
    assert run.stdout == "failures 0\n"
    served = shared_memory == "on"
    assert (run.report.calls("barrier")["dissemination"] > 0) == served
    assert (run.report.native_reasons("barrier")["no rule"] > 0) != served


@pytest.mark.parametrize("mpi", MOST[:1], indirect=True)
def test_rules_see_no_bytes(mpi: MpiLibrary, tmp_path: Path) -> None:
    rules = tmp_path / "some.rules"
    rules.write_text("barrier bytes > 0 -> dissemination\nbarrier bytes = 0, processes >= 3 -> tree\n")
    run = mpi.run_under_rondo([mpi.compile("barriers.c")], 3, environment={"RONDO_RULES": str(rules)}).check()
    assert run.stdout == "failures 0\n"
    assert run.report.calls("barrier")["tree"] == 2 * 3 * (3 + IN_A_ROW)
    assert run.report.calls("barrier")["dissemination"] == 0
