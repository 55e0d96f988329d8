# SPDX-License-Identifier: BSD-3-Clause
"""No trial changes a bit of a result in its run, whatever MPI library and Rondo make of overflows, NaN and zeros."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from launching import Run
from mpi_libraries import ROOT, MpiLibrary
from test_guard import COMPARED, calls

RANKS = 2
# Not in the order in which the libraries reduce.
RULES = "allreduce -> recursive_doubling\nreduce -> binomial\nscan -> doubling\n"
LIBRARIES = ["mpich", "openmpi", "impi", "mpiabi"]


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, str]:
    rules, directory = tmp_path / "all.rules", tmp_path / "learned"
    rules.write_text(RULES)
    directory.mkdir()
    return {"RONDO_RULES": str(rules), "RONDO_GUARD": "exact", "RONDO_LEARNED": str(directory)}


def reductions_in(run: Run) -> int:
    """How many operators on types: none of these gave other results than before."""
    found = re.search(r"^(\d+) reductions, 0 changes$", run.check().stdout, re.MULTILINE)
    assert found, run.stdout
    return int(found[1])


@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_results_of_all_operators_on_all_types_stay_the_same(mpi: MpiLibrary, guarded: dict[str, str]) -> None:
    run = mpi.run_under_rondo([mpi.compile("same_bits.cpp")], RANKS, environment=guarded, timeout=120)
    assert reductions_in(run) > 270
    assert calls(run, "allreduce")[COMPARED] > 1000


EXTREMES = [
    ("MPI_UNSIGNED_CHAR", "MPI_SUM"),
    ("MPI_INT8_T", "MPI_SUM"),
    ("MPI_SHORT", "MPI_SUM"),
    ("MPI_UINT16_T", "MPI_SUM"),
    ("MPI_OFFSET", "MPI_MAX"),
    ("MPI_DOUBLE", "MPI_MAX"),
    ("MPI_FLOAT", "MPI_MIN"),
    ("MPI_DOUBLE_INT", "MPI_MAXLOC"),
]


# MPICH's own minima and maxima change with the default rules, which leave some to it: after some calls it has shared
# memory ready.
@pytest.mark.parametrize(
    ("mpi", "rules"), [("openmpi", "all"), ("openmpi", "default"), ("mpich", "all")], indirect=["mpi"]
)
@pytest.mark.parametrize(("datatype", "operator"), EXTREMES)
def test_results_stay_the_same_where_one_trial_is_about_all_communicators(
    mpi: MpiLibrary, rules: str, datatype: str, operator: str, guarded: dict[str, str]
) -> None:
    if rules == "default":
        guarded["RONDO_RULES"] = str(ROOT / "tuning" / "default.rules")
    run = mpi.run_under_rondo([mpi.compile("same_bits.cpp"), datatype, operator], RANKS, environment=guarded)
    assert reductions_in(run) == 1


# A reduction whose result is the same whoever computes it is taken back at once where the library is faster. In a
# comparison of such calls the library's results count, too.
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
@pytest.mark.parametrize(
    ("datatype", "operator", "keeps_bits"),
    [
        ("MPI_INT", "MPI_SUM", True),
        ("MPI_LONG", "MPI_MAX", True),
        ("MPI_INT8_T", "MPI_MIN", True),
        ("MPI_UNSIGNED_SHORT", "MPI_BXOR", True),
        ("MPI_C_BOOL", "MPI_LOR", True),
        ("MPI_2INT", "MPI_MAXLOC", True),
        ("MPI_DOUBLE", "MPI_MAX", False),
        ("MPI_FLOAT_INT", "MPI_MINLOC", False),
    ],
)
def test_who_computes_integers_does_not_matter(
    mpi: MpiLibrary, datatype: str, operator: str, keeps_bits: bool, guarded: dict[str, str]
) -> None:
    run = mpi.run_under_rondo([mpi.compile("same_bits.cpp"), datatype, operator], RANKS, environment=guarded)
    assert reductions_in(run) == 1
    assert (COMPARED in calls(run, "allreduce")) == keeps_bits


# One rank has the vector instructions that saturate, and one has not.
@pytest.mark.skipif("avx2" not in Path("/proc/cpuinfo").read_text(), reason="needs a processor with AVX2")
@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_nothing_is_taken_back_at_once_where_ranks_compute_differently(
    mpi: MpiLibrary, guarded: dict[str, str]
) -> None:
    as_one_rank = ["bash", "-c", '[ "$OMPI_COMM_WORLD_RANK" = 1 ] && export OMPI_MCA_op=^avx; exec "$@"', "bash"]
    for datatype, operator in (("MPI_UNSIGNED_CHAR", "MPI_SUM"), ("MPI_INT", "MPI_SUM"), ("MPI_BYTE", "MPI_BOR")):
        command = [*as_one_rank, mpi.compile("same_bits.cpp"), datatype, operator]
        run = mpi.run_under_rondo(command, RANKS, environment=guarded)
        assert reductions_in(run) == 1
        assert COMPARED not in calls(run, "allreduce")
