# SPDX-License-Identifier: BSD-3-Clause
"""Not all ranks of a job have Rondo: nobody waits for those who have none, and the library has all calls."""

from __future__ import annotations

import pytest
from mpi_libraries import FORCED, MpiLibrary, Run
from test_profiler import CALLS

pytestmark = pytest.mark.parallel

RANKS = 3
WITHOUT = 'case "${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}}" in {ranks}) {what};; esac; exec "$@"'
SAYS = "rondo: not all ranks of this job have Rondo, or some came to MPI_Init more than ten seconds after the others"
REASON = "not all ranks have Rondo"
NO_PRELOAD = "unset LD_PRELOAD"


def without(ranks: str, program: str, what: str = NO_PRELOAD) -> list[str]:
    """The command of a program some of whose ranks have no Rondo. `ranks`: a pattern of the shell."""
    return ["bash", "-c", WITHOUT.format(ranks=ranks, what=what), "bash", program]


def lines(run: Run) -> list[str]:
    # Debian's MPICH names requests that were not returned; these lines are left out.
    return sorted(each for each in run.stdout.splitlines() if "UCX  WARN" not in each)


def check(run: Run, native: Run, ranks_with_rondo: int) -> None:
    assert lines(run) == lines(native)
    assert 1 <= run.stderr.count(SAYS) <= 2
    assert len(run.report.ranks) == ranks_with_rondo
    for collective, calls in CALLS.items():
        assert run.report.native_reasons(collective) == {REASON: calls * ranks_with_rondo}


# Ten seconds are waited for in each.
@pytest.mark.parametrize(
    ("rank", "what"),
    [
        (0, "export RONDO=off"),
        (RANKS - 1, NO_PRELOAD),
        pytest.param(0, NO_PRELOAD, marks=pytest.mark.soak),
        pytest.param(RANKS - 1, "export RONDO=off", marks=pytest.mark.soak),
    ],
)
def test_a_rank_without_rondo_keeps_nobody_waiting(mpi: MpiLibrary, rank: int, what: str) -> None:
    program = mpi.compile("profiled.c")
    words = without(str(rank), program, what)
    check(mpi.run_under_rondo(words, RANKS, **FORCED).check(), mpi.run([program], RANKS).check(), RANKS - 1)


@pytest.mark.parametrize(("ranks", "size"), [("0", 3), ("[024]", 5)])
def test_what_the_program_does_on_the_world_goes_on(mpi: MpiLibrary, ranks: str, size: int) -> None:
    program = mpi.compile("new_communicators.c")
    arguments = ["nonblocking"] if mpi.is_openmpi else []  # nonblocking collectives end MPICH's jobs: decision 0051
    run = mpi.run_under_rondo([*without(ranks, program), *arguments], size, **FORCED).check()
    assert lines(run) == lines(mpi.run([program, *arguments], size).check())
    if mpi.is_openmpi or ranks == "0":
        assert 1 <= run.stderr.count(SAYS) <= 2, "the first rank that has Rondo"


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_a_rank_that_is_late_in_mpi_init_agrees_with_the_others(mpi: MpiLibrary) -> None:
    program = mpi.compile("profiled.c")
    late = mpi.compile("late_start.c", "-shared", "-fPIC", "-ldl")
    run = mpi.run_under_rondo([program], RANKS, **FORCED, environment={"LD_PRELOAD": f"{{rondo}}:{late}"})
    check(run.check(), mpi.run([program], RANKS).check(), RANKS)
