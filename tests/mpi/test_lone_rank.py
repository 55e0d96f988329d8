# SPDX-License-Identifier: BSD-3-Clause
"""What one rank finds out alone never keeps the others waiting, where natively they would not wait."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from launching import Run
from mpi_libraries import FORCED, FORCED_ALL_TO_ALL, FORCED_PARTS_OF_THE_ROOT, LIBRARIES, MpiLibrary

pytestmark = pytest.mark.parallel

RANKS = 3
# What every library reports on the odd rank, and only there.
REPORTED = ["bcast, no such root", "bcast, uncommitted datatype", "reduce, one buffer at the root"]
# And what Open MPI does not survive where it is told not to check arguments.
REPORTED_OR_FATAL = ["scatter, no such root", "scatterv, no such root"]
UNCOMMITTED_OUTPUT = [
    f"{each}, uncommitted datatype for the output" for each in ("gather", "gatherv", "scatter", "scatterv")
]
# What every library carries out.
TAKEN = [
    "scatter, more room at the root",
    "scatterv, more room at the root",
    "alltoallv, elements of no bytes",
    "gatherv, elements of no bytes",
    "gatherv, one place for all",
]
# What Open MPI carries out.
TAKEN_BY_OPENMPI = [
    "allgather, uncommitted datatype for the output",
    "allreduce, one buffer",
    "exscan, no input",
    "exscan, no output at rank 0",
    "exscan, one buffer",
    "reduce_scatter_block, one buffer",
    "scan, one buffer",
    *UNCOMMITTED_OUTPUT,
]
# And what it carries out when it is told not to check arguments, besides all that it reports otherwise.
UNCHECKED = [*REPORTED, *TAKEN_BY_OPENMPI, "allgather, uncommitted datatype for the input"]
CHECK_NOTHING = {"OMPI_MCA_mpi_param_check": "0"}


def lines(run: Run) -> list[str]:
    """What the program prints, without warnings of the transport about messages that nobody received."""
    return [line for line in run.stdout.splitlines() if line.startswith("rank ")]


def check(
    mpi: MpiLibrary, cases: list[str], environment: dict[str, str], forced: dict[str, str] | None = None
) -> list[str]:
    command = [mpi.compile("lone_rank.cpp"), *cases]
    native = mpi.run(command, RANKS, environment, timeout=20).check()
    if forced is None:
        forced = FORCED | FORCED_ALL_TO_ALL | FORCED_PARTS_OF_THE_ROOT
    by_name = {} if "RONDO_RULES" in environment else forced
    run = mpi.run_under_rondo(command, RANKS, environment=environment, timeout=20, **by_name).check()
    # Open MPI spoils a result where it does not look at its arguments. Rondo need not.
    assert lines(run) == [line.replace("wrong", "right") for line in lines(native)]
    for collective, algorithm in forced.items():
        if any(case.startswith(f"{collective},") for case in cases):
            assert run.report.calls(collective)[algorithm] > 0
    return lines(run)


# Intel MPI itself does not survive the next call.
@pytest.mark.parametrize("mpi", [name for name in LIBRARIES if name != "impi"], indirect=True)
def test_odd_call_of_one_rank_ends_as_natively(mpi: MpiLibrary) -> None:
    reported = REPORTED + REPORTED_OR_FATAL + ([] if mpi.is_openmpi else UNCOMMITTED_OUTPUT)
    said = check(mpi, reported + TAKEN + (TAKEN_BY_OPENMPI if mpi.is_openmpi else []), {})
    assert len([line for line in said if re.search("rank 2, .*class [1-9]", line)]) == 2 * len(reported)


# MPICH can be told to check nothing only when it is built.
@pytest.mark.parametrize("mpi", [name for name, each in LIBRARIES.items() if each.is_openmpi], indirect=True)
def test_odd_call_of_one_rank_is_carried_out_where_the_library_checks_nothing(mpi: MpiLibrary) -> None:
    said = check(mpi, UNCHECKED, CHECK_NOTHING)
    assert len(said) == 3 * RANKS * len(UNCHECKED)
    assert all(line.endswith("class 0, right") for line in said)


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_one_buffer_for_both_is_taken_where_the_library_does_not_compare(mpi: MpiLibrary) -> None:
    cases = ["exscan, one buffer", "reduce_scatter_block, one buffer"]  # of others MPICH itself copies the buffer
    said = check(mpi, cases, {"MPIR_CVAR_COLL_ALIAS_CHECK": "0"})
    assert all(line.endswith("class 0, right") for line in said)


# Lengths on which two ranks disagree, which every library carries out, or reports to the one that awaits less.
MISMATCHED = [
    "alltoallv, less than rank 0 awaits",
    "gatherv, less than the root awaits",
    "scatterv, less than awaited",
    "scatterv, more than awaited",
]


def test_lengths_on_which_two_ranks_disagree_end_as_natively(mpi: MpiLibrary) -> None:
    said = check(mpi, MISMATCHED, {})
    reported = [line for line in said if re.search("class [1-9]", line)]
    assert len(reported) == 2
    assert all(line.startswith("rank 2, scatterv, more than awaited") for line in reported)


# Natively libraries differ: nobody else waits, in any case.
def test_other_length_for_itself_fails_there_alone(mpi: MpiLibrary) -> None:
    command = [mpi.compile("lone_rank.cpp"), "alltoallv, more for itself"]
    said = lines(mpi.run_under_rondo(command, RANKS, timeout=20, **FORCED_ALL_TO_ALL).check())
    assert len([line for line in said if re.search("rank 2, alltoallv.* class [1-9]", line)]) == 2
    assert len([line for line in said if line.endswith("class 0, right")]) == 3 * RANKS - 2


@pytest.mark.parametrize("case", ["alltoallv, more than rank 0 awaits", "gatherv, more than the root awaits"])
def test_more_than_one_rank_awaits_fails_there_alone(mpi: MpiLibrary, case: str) -> None:
    command = [mpi.compile("lone_rank.cpp"), case]
    run = mpi.run_under_rondo(command, RANKS, timeout=20, **FORCED_ALL_TO_ALL, **FORCED_PARTS_OF_THE_ROOT)
    if not mpi.is_openmpi and run.returncode != 0:
        assert not run.timed_out
        assert run.returncode < 128  # by MPI_Abort, not by a signal
        # See test_error_handling.py. Natively they survive. Open MPI's own alltoallv does not come back.
        pytest.xfail(f"under Rondo {mpi.name} aborts: it raises errors of MPI_Testsome on MPI_COMM_WORLD")
    said = lines(run.check())
    assert len([line for line in said if re.search(f"rank 0, {case}.* class [1-9]", line)]) == 2
    assert len([line for line in said if line.endswith("class 0, right")]) == 3 * RANKS - 2


@pytest.mark.parametrize("mpi", ["mpich", "mpiabi", "openmpi"], indirect=True)
def test_negative_count_of_one_rank_ends_as_natively(mpi: MpiLibrary) -> None:
    said = check(mpi, ["bcast, negative count"] + (["exscan, negative count"] if mpi.is_openmpi else []), {})
    assert all(re.search("class 0, right" if "good call" in line else "class [1-9]", line) for line in said[-3:])


def test_scans_take_an_operator_of_which_ranks_say_different_things(mpi: MpiLibrary, tmp_path: Path) -> None:
    ordered = {"scan": "doubling", "exscan": "doubling_123"}
    rules = tmp_path / "by_operator.rules"
    rules.write_text(
        "".join(f"{each} commutative = yes -> linear_pipeline\n{each} -> {ordered[each]}\n" for each in ordered)
    )
    cases = [f"{each}, operator that commutes elsewhere" for each in ordered]
    said = check(mpi, cases, {"RONDO_RULES": str(rules)}, ordered)
    assert all(line.endswith("class 0, right") for line in said)


@pytest.mark.parametrize(
    "case",
    ["allgather, too much", "alltoall, too much", "gather, too much at the root", "gatherv, too much at the root"],
)
def test_part_that_is_too_long_fails_on_that_rank_alone(mpi: MpiLibrary, case: str) -> None:
    command = [mpi.compile("lone_rank.cpp"), case]
    forced = FORCED_ALL_TO_ALL | FORCED_PARTS_OF_THE_ROOT
    run = mpi.run_under_rondo(command, RANKS, timeout=20, **forced).check()
    assert len(re.findall(f"rank [01], {case}.* class 0, right", run.stdout)) == 2 * 2
    assert len(re.findall(f"rank 2, {case}.* class [1-9]", run.stdout)) == 2
    assert run.stdout.count("good call: class 0, right") == RANKS
