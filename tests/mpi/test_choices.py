# SPDX-License-Identifier: BSD-3-Clause
"""rondo_choose: a program changes algorithms while it runs."""

from __future__ import annotations

import pytest
from mpi_libraries import MpiLibrary

pytestmark = pytest.mark.parallel

RANKS = 3


def test_program_changes_algorithms_while_it_runs(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("choices.c", "-ldl")], RANKS, exscan="one_doubling").check()
    # Before the first choice, and after giving the decision back, the environment's.
    assert run.report.calls("exscan") == {
        "one_doubling": 3 * RANKS,
        "doubling_123": 10 * RANKS,
        "linear_pipeline": 10 * RANKS,
        "two_op_doubling": 10 * RANKS,
        "native": 11 * RANKS,
    }
    said = dict(line.split(": ", 1) for line in run.stdout.splitlines())
    assert said["before MPI_Init"].startswith("1: Rondo has nothing to do with this process: MPI is not initialised")
    assert said["refused"].startswith("1: linear_pipeline needs at most ")
    assert said["unknown"] == "1: exscan has no algorithm 'doubling_132'; did you mean 'doubling_123'?"
    assert said["unknown collective"] == "-1: Rondo has no collective 'exscn'; did you mean 'exscan'?"
    assert said["short"] == "1: exscan "
    assert said["nodes"] == (
        "1: full_lane uses nodes, which Rondo finds in MPI_Init if it is asked to: "
        "start with RONDO_EXSCAN=full_lane, or with RONDO_NODES"
    )


@pytest.mark.parametrize(
    ("where", "forced"), [({"RONDO_NODES": "2,1"}, "one_doubling"), ({}, "leaders")], ids=["imposed", "asked for"]
)
def test_program_chooses_an_algorithm_that_uses_nodes(mpi: MpiLibrary, where: dict[str, str], forced: str) -> None:
    run = mpi.run_under_rondo([mpi.compile("choices.c", "-ldl")], RANKS, environment=where, exscan=forced).check()
    assert run.report.calls("exscan")["full_lane"] == RANKS


@pytest.mark.parametrize("word", ["off", "0", "False"])
def test_program_cannot_choose_where_rondo_is_off(mpi: MpiLibrary, word: str) -> None:
    run = mpi.run_under_rondo([mpi.compile("choices.c", "-ldl")], RANKS, environment={"RONDO": word})
    assert run.returncode != 0
    assert "Rondo is switched off (RONDO_DISABLE)" in run.stdout
