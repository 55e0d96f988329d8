# SPDX-License-Identifier: BSD-3-Clause
"""Random calls, each repeated many times, without a report: the way of calls that users' programs take."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary
from rondo.launching.installation import DEFAULT_RULES
from test_guard import RULES

from rondo import _core

pytestmark = pytest.mark.parallel

KINDS = 60
COLLECTIVES = [each["name"] for each in _core.collectives() if each["has_data"]]
ALGORITHMS = {name: [each["name"] for each in _core.algorithms(name)] for name in COLLECTIVES}
MOST_ALGORITHMS = max(map(len, ALGORITHMS.values()))
LIBRARIES = ["mpich", "openmpi", "impi"]
SEEDS = [pytest.param(seed, marks=[] if seed == 0 else pytest.mark.soak) for seed in range(8)]


@pytest.mark.parametrize("mpi", ["mpich", "openmpi", "impi"], indirect=True)
@pytest.mark.parametrize("guard", ["off", "exact", "free"])
@pytest.mark.parametrize("seed", SEEDS)
def test_results_are_right_however_often_calls_are_repeated(
    mpi: MpiLibrary, guard: str, seed: int, tmp_path: Path
) -> None:
    rules, directory = tmp_path / "all.rules", tmp_path / "learned"
    rules.write_text(RULES + "barrier -> dissemination\n")
    directory.mkdir()
    ranks = 2 + (seed + ["off", "exact", "free"].index(guard)) % 4
    known = {"RONDO_REPORT": "", "RONDO_GUARD": guard, "RONDO_LEARNED": str(directory)}
    known |= {"RONDO_RULES": str(rules if seed % 3 else DEFAULT_RULES)} if ranks == 2 else {"RONDO_RULES": str(rules)}
    command = [mpi.compile("random_calls.cpp"), str(seed), str(KINDS)]
    for _ in ("first run", "next run"):  # which knows what the first has learned
        run = mpi.run_under_rondo(command, ranks, environment=known, timeout=150).check()
        assert run.stdout.startswith("failures 0\n"), run.stdout
        assert not run.stderr, run.stderr


@pytest.mark.parametrize(
    ("number", "mpi", "seed"),
    [
        pytest.param(number, mpi, seed, marks=[] if (number + i) % 3 == 0 and seed == 0 else pytest.mark.soak)
        for number in range(MOST_ALGORITHMS)
        for i, mpi in enumerate(LIBRARIES)
        for seed in range(3)
    ],
    indirect=["mpi"],
)
def test_every_algorithm_serves_repeated_calls_that_nobody_looks_at_again(
    mpi: MpiLibrary, number: int, seed: int
) -> None:
    """Each launch forces one algorithm on each collective that has so many. Half of the calls are of whole vectors."""
    chosen = {name: names[number] for name, names in ALGORITHMS.items() if number < len(names)}
    ranks, nodes = [(4, "2x2"), (5, "2,3"), (3, "2,1"), (6, "3x2")][(number + seed) % 4]
    known = {f"RONDO_{name.upper()}": choice for name, choice in chosen.items()}
    known |= {"RONDO_REPORT": "", "RONDO_NODES": nodes, "RONDO_SHARED_MEMORY": ["on", "off"][(number + seed) % 2]}
    command = [mpi.compile("random_calls.cpp"), str(seed), str(3 * KINDS), *chosen]
    output = mpi.run_under_rondo(command, ranks, environment=known, timeout=150).check().stdout
    counted = {name: int(figure) for name, figure in (line.split() for line in output.splitlines())}
    assert counted["failures"] == 0
    assert counted["again"] > counted["calls"] / 10


@pytest.mark.parametrize(
    ("mpi", "ranks", "nodes"),
    [("mpich", 16, "4x4"), ("openmpi", 8, "8x1"), ("impi", 6, "3x2"), ("openmpi", 6, "3,2,1"), ("mpich", 8, "2x4")],
    indirect=["mpi"],
)
def test_what_the_model_chooses_on_several_nodes_gives_the_native_results(
    mpi: MpiLibrary, ranks: int, nodes: str
) -> None:
    known = {"RONDO_REPORT": "", "RONDO_GUARD": "off", "RONDO_RULES": str(DEFAULT_RULES), "RONDO_NODES": nodes}
    command = [mpi.compile("random_calls.cpp"), "1", str(KINDS)]
    run = mpi.run_under_rondo(command, ranks, environment=known | {"RONDO_MACHINE": "standard"}, timeout=150).check()
    assert run.stdout.startswith("failures 0\n"), run.stdout
    assert not run.stderr, run.stderr


# Five ranks of one node: there Intel MPI's own MPI_Bcast goes wrong before an MPI_Allreduce of 40 bytes to 4 KiB.
@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_the_library_s_own_broadcasts_are_right_between_those_of_rondo(mpi: MpiLibrary, tmp_path: Path) -> None:
    rules = tmp_path / "bcast.rules"
    rules.write_text("bcast -> binomial\n")
    known = {"RONDO_REPORT": "", "RONDO_GUARD": "free", "RONDO_RULES": str(rules)}
    command = [mpi.compile("random_calls.cpp"), "2", "40", "bcast"]
    run = mpi.run_under_rondo(command, 5, environment=known, timeout=150).check()
    assert run.stdout.startswith("failures 0\n"), run.stdout


@pytest.mark.parametrize("mpi", LIBRARIES, indirect=True)
def test_ranks_that_meet_spoil_no_broadcast_of_the_library(mpi: MpiLibrary) -> None:
    run = mpi.run_under_rondo([mpi.compile("bcast_before_meeting.c")], 5, exscan="doubling_123").check()
    assert run.stdout == "wrong 0\n"
    assert run.report.calls("exscan")["doubling_123"] > 0
