# SPDX-License-Identifier: BSD-3-Clause
"""What Rondo has started, or has the library keep, is gone when a communicator goes, and when MPI does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from launching import Run
from mpi_libraries import FORCED, ROOT, MpiLibrary, preload_library

# An algorithm for every collective in which a rank may go on without the others. Where all are known to be on one node,
# ranks wait for each other before the first call: in vain for a second, and then they go on.
RULES = """
bcast nodes = 1 -> binomial
reduce nodes = 1 -> binomial
scan nodes = 1 -> doubling
exscan nodes = 1 -> doubling_123
scatter nodes = 1 -> binomial
gather nodes = 1 -> binomial
"""
LIBRARIES = ["mpich", "openmpi", "impi"]
WAYS = [
    ("world", "finalize"),
    ("dup", "free"),
    ("dup", "disconnect"),
    ("split", "free"),
    ("split", "disconnect"),
    ("dup", "hasty"),
    ("split", "hasty"),
]
# Natively nobody goes on without the others in these: nobody can free the communicator before all have come.
MEETS_NATIVELY = {
    ("mpich", "reduce"),
    ("mpiabi", "reduce"),
    *((mpi, each) for mpi in ("mpich", "mpiabi", "impi") for each in ("scan", "exscan")),
}
LATE = 1500
"""Milliseconds: half a second after the others have gone on."""
PROMPT = 500
"""Milliseconds: what a call may take where nobody is waited for, on a busy machine."""


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, str]:
    rules = tmp_path / "all.rules"
    rules.write_text(RULES)
    return {"RONDO_RULES": str(rules), "RONDO_GUARD": "free"}


def run_late(mpi: MpiLibrary, guarded: dict[str, str], ranks: int, *arguments: object) -> tuple[float, float]:
    """How many milliseconds the call took at most: a rank that came in time, and the late one."""
    command = [mpi.compile("late_ranks.c"), *arguments]
    variables = {**guarded, "RONDO_PATIENCE_US": "0"}  # to sleep a moment in each of many calls adds up
    variables["RONDO_NODES"] = f"1x{ranks}"  # else ranks that share processors would not wait for each other at first
    run = mpi.run_under_rondo(command, ranks, environment=variables, timeout=30).check()
    assert run.stderr == ""
    times = re.findall(r"^(\d+) (\d+) (\d+)$", run.stdout, re.MULTILINE)
    assert times and all(wrong == "0" for _, _, wrong in times), run.stdout
    return max(float(waited) for waited, _, _ in times), max(float(late) for _, late, _ in times)


def each_day(mpi: str, collective: str, way: tuple[str, str]) -> bool:
    """All ways of a broadcast, with two libraries in turn, and one of each library and collective."""
    turn = ("mpich", "openmpi")[WAYS.index(way) % 2]
    return (collective == "bcast" and mpi == turn) or (mpi, collective, way) in {
        ("impi", "bcast", ("split", "hasty")),
        ("mpiabi", "bcast", ("dup", "free")),
        ("openmpi", "reduce", ("dup", "free")),
        ("openmpi", "scan", ("split", "free")),
        ("mpich", "scatter", ("dup", "disconnect")),
        ("mpich", "gather", ("world", "finalize")),
        ("openmpi", "exscan", ("dup", "hasty")),
        ("impi", "scatter", ("split", "disconnect")),
    }


@pytest.mark.parametrize(
    ("mpi", "collective", "way"),
    [
        pytest.param(
            mpi,
            collective,
            way,
            id=f"{mpi}-{collective}-{'-'.join(way)}",
            marks=[] if each_day(mpi, collective, way) else pytest.mark.soak,
        )
        for mpi in [*LIBRARIES, "mpiabi"]
        for collective in ("bcast", "reduce", "scan", "exscan", "scatter", "gather")
        for way in WAYS
        if way[1] != "hasty" or (mpi, collective) not in MEETS_NATIVELY
    ],
    indirect=["mpi"],
)
def test_a_late_rank_finds_nothing_left_on_its_communicator(
    mpi: MpiLibrary, collective: str, way: tuple[str, str], guarded: dict[str, str]
) -> None:
    waited, late = run_late(mpi, guarded, 3 if way[0] == "split" else 2, collective, *way, LATE, 0, 1)
    assert waited > 900  # in vain, for the late rank
    assert late < PROMPT


# What it has to know was said before they went on: they need not call MPI again for it.
@pytest.mark.parametrize(
    ("collective", "mpi"),
    [
        ("bcast", "mpich"),
        ("gather", "openmpi"),
        ("bcast", "impi"),
        *(
            pytest.param(*each, marks=pytest.mark.soak)
            for each in (("gather", "mpich"), ("bcast", "openmpi"), ("gather", "impi"))
        ),
    ],
    indirect=["mpi"],
)
def test_a_late_rank_does_not_wait_for_those_who_compute(
    mpi: MpiLibrary, collective: str, guarded: dict[str, str]
) -> None:
    _, late = run_late(mpi, guarded, 3, collective, "world", "finalize", LATE, 3000, 1)
    assert late < PROMPT


# So late that it comes only when the others have given up to hear of it, in MPI_Finalize.
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_a_rank_may_come_when_others_are_in_finalize(mpi: MpiLibrary, guarded: dict[str, str]) -> None:
    _, late = run_late(mpi, guarded, 3, "bcast", "world", "finalize", 3500, 0, 1)
    assert late < PROMPT


# Who comes late to many of them waits for nobody, and those who have gone on keep only so much of what they have not
# heard. (Open MPI lets nobody go on natively where so many messages wait for a rank.)
@pytest.mark.parametrize("mpi", ["mpich", "impi"], indirect=True)
def test_a_rank_may_be_late_on_many_communicators(mpi: MpiLibrary, guarded: dict[str, str]) -> None:
    waited, late = run_late(mpi, guarded, 3, "bcast", "split", "free", 3500, 0, 120)
    assert waited < 3000 + PROMPT
    assert late < PROMPT


KINDS = ["communicators", "groups", "keys", "types", "handlers", "requests"]


def counted(run: Run, ranks: int) -> list[dict[str, tuple[int, int]]]:
    """Of each rank: how many of a kind it has left, and had made."""
    lines = re.findall(r"^rank \d+ left ([\d -]+) of ([\d ]+)$", run.check().stdout, re.MULTILINE)
    assert len(lines) == ranks, run.stdout
    numbers = ([[int(word) for word in part.split()] for part in line] for line in lines)
    return [dict(zip(KINDS, zip(left, made, strict=True), strict=True)) for left, made in numbers]


def check_that_nothing_is_left(run: Run, ranks: int, *made: str) -> None:
    of_ranks = counted(run, ranks)
    for rank in of_ranks:
        assert {kind: left for kind, (left, _) in rank.items()} == dict.fromkeys(KINDS, 0)
    assert all(any(rank[kind][1] > 0 for rank in of_ranks) for kind in made)


def counter(mpi: MpiLibrary) -> Path:
    return mpi.compile("handle_counter.c", "-shared", "-fPIC", "-ldl")


@pytest.mark.parallel
@pytest.mark.parametrize("mpi", [*LIBRARIES, "mpiabi"], indirect=True)
@pytest.mark.parametrize(
    ("ranks", "command"),
    [
        pytest.param(3, ["guarded.c", "24", "0", "3"], id="trials"),
        pytest.param(3, ["late_ranks.c", "bcast", "world", "finalize", LATE, 0, 1], id="late"),
        pytest.param(3, ["late_ranks.c", "bcast", "split", "free", LATE, 0, 1], id="late-on-a-part"),
    ],
)
def test_all_that_the_library_has_made_is_given_back(
    mpi: MpiLibrary, ranks: int, command: list[object], guarded: dict[str, str]
) -> None:
    variables = {**guarded, "LD_PRELOAD": f"{{rondo}}:{counter(mpi)}", "RONDO_SHARED_MEMORY": "off"}
    run = mpi.run_under_rondo([mpi.compile(str(command[0])), *command[1:]], ranks, environment=variables)
    check_that_nothing_is_left(run, ranks, "communicators", "groups", "keys", "handlers", "requests")


@pytest.mark.parallel
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_all_is_given_back_of_many_communicators(mpi: MpiLibrary) -> None:
    variables = {"LD_PRELOAD": f"{{rondo}}:{counter(mpi)}", "RONDO_SHARED_MEMORY": "off"}
    command = [mpi.compile("many_communicators.cpp", "-ldl"), "churn", "700"]  # more than there are contexts
    run = mpi.run_under_rondo(command, 2, environment=variables, **FORCED)
    check_that_nothing_is_left(run, 2, "communicators", "groups", "keys")
    assert run.report.calls("exscan") == {FORCED["exscan"]: 2 * 700}


@pytest.mark.parallel
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_all_is_given_back_of_prefix_sums(mpi: MpiLibrary) -> None:
    library = preload_library(mpi.abi).with_name(f"librondo-prefix-{mpi.abi}.so")
    between = counter(mpi)
    flags = [f"-I{ROOT / 'include'}", library, between, f"-Wl,-rpath,{library.parent}:{between.parent}"]
    run = mpi.run([mpi.compile("prefix_totals.c", *map(str, flags))], 3)
    check_that_nothing_is_left(run, 3, "communicators", "groups", "keys", "types", "requests")
