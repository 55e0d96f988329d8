# SPDX-License-Identifier: BSD-3-Clause
"""Prefix sums of distributed arrays: rondo_prefix, in programs that link with Rondo, with and without `rondo run`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mpi_libraries import ROOT, MpiLibrary, preload_library

from rondo import _core

pytestmark = pytest.mark.parallel

EVERY_DAY = ["mpich", "openmpi", "impi"]
EVERY_DAY_CHOICES = ["chain", "broadcast", "doubling_123"]
# What ranks 0, 1 and 2 are told. Who stands before a rank that fails needs nothing of it.
ERRORS = {
    "before MPI_Init": "error",
    "right": "success, success, success",
    "negative count on rank 1": "success, count, count",
    "no buffer on rank 1": "success, buffer, buffer",
    "no buffer on rank 1, with total": "buffer, buffer, buffer",
    "overlap on rank 0": "buffer, buffer, buffer",
    "undefined operator": "op, op, op",
    "operator that reduces nothing": "op, op, op",
    "null operator": "op, op, op",
    "null datatype": "type, type, type",
    "struct with an operator of MPI": "op, op, op",
    "no place for the total": "arg, arg, arg",
    "no place for the total on rank 1": "arg, arg, arg",
    "total in place on rank 2": "arg, arg, arg",
    "more elements than there are addresses": "success, count, count",
    "null communicator": "comm, comm, comm",
    "inter-communicator": "comm, comm, comm",
    "other datatypes on rank 1": "success, type, type",
    "exclusive on rank 1": "success, type, type",
    "no memory on rank 1": "success, no memory, no memory",
    "shorter datatypes on rank 1": "success, type, type",
    "null operator on rank 1": "success, op, op",
    "undefined operator on rank 1, with total": "op, op, op",
    "null datatype on rank 1": "success, type, type",
    "total on rank 0 alone": "type, type, type",
    "no total on rank 0": "success, type, type",
    "total on rank 1 alone": "success, type, type",
    "no total on rank 1": "type, type, type",
    "total on rank 2 alone": "success, success, type",
    "no total on rank 2": "type, type, type",
    "no memory for anything": "success, success, success",
    "right again": "success, success, success",
    "sums": "success, success, success",
    "2100 communicators": "success",
    "after MPI_Finalize": "error",
}


def linked(mpi: MpiLibrary, source: str | Path) -> Path:
    """A program that is linked with Rondo's library for prefix sums."""
    library = preload_library(mpi.abi).with_name(f"librondo-prefix-{mpi.abi}.so")
    return mpi.compile(source, f"-I{ROOT / 'include'}", str(library), f"-Wl,-rpath,{library.parent}")


def check(mpi: MpiLibrary, ranks: int, *arguments: str, preloaded: bool = False, **environment: str) -> None:
    command = [linked(mpi, "prefix_sums.cpp"), *arguments]
    run = mpi.run_under_rondo if preloaded else mpi.run
    output = run(command, ranks, environment=environment, timeout=300).check().stdout
    checked, failures = (int(number) for number in re.findall(r"^(?:checked|failures) (\d+)$", output, re.MULTILINE))
    assert failures == 0
    assert checked > 1000


@pytest.mark.parametrize("mpi", EVERY_DAY, indirect=True)
def test_sums_are_those_of_a_loop(mpi: MpiLibrary) -> None:
    check(mpi, 3, "5003", "brief")


@pytest.mark.soak
@pytest.mark.parametrize("ranks", [1, 2, 4, 5, 6, 7, 8, 9])
def test_sums_are_those_of_a_loop_everywhere(mpi: MpiLibrary, ranks: int) -> None:
    check(mpi, ranks, "200003" if ranks <= 4 else "20011")  # more ranks than that crowd two processors


@pytest.mark.soak
@pytest.mark.parametrize("mpi", EVERY_DAY, indirect=True)
@pytest.mark.parametrize("rank", [0, 1])
def test_more_elements_than_an_int_counts(mpi: MpiLibrary, rank: int) -> None:
    output = mpi.run([linked(mpi, "prefix_long.c"), str(rank)], 2, timeout=300).check().stdout
    lines = [f"rank {each}: {2**31 + 7 if each == rank else 5} elements, 0 wrong" for each in range(2)]
    assert sorted(output.splitlines()) == lines


@pytest.mark.parametrize("mpi", ["openmpi"], indirect=True)
def test_sums_are_the_same_under_rondo_run(mpi: MpiLibrary) -> None:
    check(mpi, 2, "1001", "brief", preloaded=True)


def choices() -> list[str]:
    """All by which totals may travel."""
    return ["chain", *(each["name"] for each in _core.algorithms("exscan") if not each["uses_nodes"])]


@pytest.mark.parametrize("mpi", ["mpich", pytest.param("openmpi", marks=pytest.mark.soak)], indirect=True)
@pytest.mark.parametrize(
    "choice", [pytest.param(name, marks=[] if name in EVERY_DAY_CHOICES else pytest.mark.soak) for name in choices()]
)
def test_totals_travel_by_every_algorithm(mpi: MpiLibrary, choice: str) -> None:
    check(mpi, 5, "101", "brief", RONDO_PREFIX=choice)


@pytest.mark.parametrize("mpi", EVERY_DAY, indirect=True)
def test_failures_are_told_on_every_rank_that_needs_the_result(mpi: MpiLibrary) -> None:
    run = mpi.run([linked(mpi, "prefix_errors.cpp")], 3).check()
    assert dict(line.split(": ") for line in run.stdout.splitlines()) == ERRORS
    assert "rondo: a prefix sum before MPI_Init\n" in run.stderr


@pytest.mark.parametrize("mpi", EVERY_DAY, indirect=True)
@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("count", "rondo: rondo_prefix on rank 1: a negative count"),
        ("operator", "rondo: rondo_prefix_total on rank 1: the operator is null, or not defined on the datatype"),
        ("kinds", "rondo: rondo_prefix on rank 1: ranks differ in datatype, operator or exclusive, or only some want"),
    ],
)
def test_a_program_that_ends_is_told_whose_fault_it_was(mpi: MpiLibrary, wrong: str, complaint: str) -> None:
    run = mpi.run([linked(mpi, "prefix_abort.c"), wrong], 2)
    assert run.returncode != 0
    assert complaint in run.stderr + run.stdout


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
@pytest.mark.parametrize(
    ("choice", "complaint"),
    [
        ("chian", "exscan has no algorithm 'chian'; expected one of: "),
        ("native", "a prefix sum is never native; an algorithm for exscan was expected, or chain"),
        ("full_lane", "full_lane uses nodes, of which a prefix sum knows nothing"),
    ],
)
def test_wrong_choices_are_named(mpi: MpiLibrary, choice: str, complaint: str) -> None:
    run = mpi.run([linked(mpi, "prefix_totals.c")], 2, {"RONDO_PREFIX": choice}).check()
    assert run.stderr.startswith("rondo: RONDO_PREFIX: ")
    assert complaint in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_ranks_with_different_choices_use_none_of_them(mpi: MpiLibrary) -> None:
    program = linked(mpi, "prefix_totals.c")
    differing = ["sh", "-c", f'RONDO_PREFIX=$([ "$PMI_RANK" = 0 ] && echo chain || echo one_doubling) exec {program}']
    assert mpi.run(differing, 4).check().stdout == mpi.run([program], 4).check().stdout
