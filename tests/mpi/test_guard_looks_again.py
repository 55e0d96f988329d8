# SPDX-License-Identifier: BSD-3-Clause
"""A verdict is not for ever: after many calls the guard looks again, and takes it back if the other is faster now."""

from __future__ import annotations

from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary
from rondo.machine import machine
from test_guard import COMPARED, FEW, TAKEN_BACK, calls

from rondo import _core
from rondo.selection import learned

ROOT = Path(__file__).resolve().parents[2]
CALLS = 2000
BYTES = 1000
RULES = (
    "bcast -> {choice}\nreduce -> binomial\nreduce_scatter -> pairwise\nallreduce -> recursive_doubling\n"
    "barrier -> dissemination\n"
)
VERDICT = (
    "bcast bytes=1000 commutative=no rounding=no processes=2 nodes=1 fewest_on_node=2 most_on_node=2 in_rank_order=yes "
    "shared_memory=no choice={choice} rondo={rondo} library={library} day=9999-01-01\n"
)
BOTH = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)


def kept(tmp_path: Path) -> list[learned.Verdict]:
    return learned.read(learned.files(tmp_path / "learned")[0]).verdicts


def variables(
    mpi: MpiLibrary,
    tmp_path: Path,
    choice: str,
    rondo: float,
    ranks: int = 2,
    *,
    library: float = 0.001,
    in_row: bool = False,
) -> dict[str, str]:
    """Of a run whose verdict about `choice` was made up."""
    rules, directory = tmp_path / "mine.rules", tmp_path / "learned"
    rules.write_text(RULES.format(choice=choice))
    directory.mkdir()
    known = {"RONDO_RULES": str(rules), "RONDO_GUARD": "exact", "RONDO_LEARNED": str(directory)}
    known |= {"RONDO_SHARED_MEMORY": "off"}
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), "1", BYTES], ranks, environment=known).check()
    file = directory / learned.file_name(run.report.ranks[0]["library"], machine.standard().text())
    verdict = VERDICT.format(choice=_core.check_choice("bcast", choice), rondo=rondo, library=library)
    if in_row:
        verdict = verdict.replace(" day=", " alone=0.00099 day=")
    file.write_text(verdict.replace("processes=2", f"processes={ranks}").replace("on_node=2", f"on_node={ranks}"))
    return known


# Broadcasts took so long alone that no disturbance between two of them comes near it.
@BOTH
def test_calls_in_a_row_are_compared_as_they_come(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "linear_pipeline:segment=1", 0.09, library=0.1)
    command = [mpi.compile(ROOT / "tests/benchmarks/one_node.c"), "calls", CALLS, f"bcast:{BYTES}"]
    run = mpi.run_under_rondo(command, 2, environment=known).check()
    found = calls(run, "bcast")
    assert found["linear_pipeline"] < 400  # watched for the third time, at the latest
    assert found[TAKEN_BACK] == CALLS - found["linear_pipeline"] - found[COMPARED]
    (broadcasts,) = {(each.in_row, each.lost) for each in kept(tmp_path) if each.collective == "bcast"}
    assert broadcasts == (True, True)


@BOTH
def test_what_won_by_mistake_is_taken_back(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "linear_pipeline:segment=1", 0.00099, in_row=True)
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), 2 * CALLS, BYTES], 2, environment=known).check()
    assert run.stdout == "failures 0\n"
    found = calls(run, "bcast")
    assert found[COMPARED] in FEW
    assert 2500 < found["linear_pipeline"] < 3000  # a hundred times what the rows cost, and these
    assert found[TAKEN_BACK] == 2 * CALLS - found["linear_pipeline"] - found[COMPARED]
    assert {each.lost for each in kept(tmp_path) if each.collective == "bcast"} == {True}


@BOTH
def test_what_lost_is_tried_again(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "binomial", 0.00101)
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), CALLS, BYTES], 2, environment=known).check()
    assert run.stdout == "failures 0\n"
    found = calls(run, "bcast")
    assert found[TAKEN_BACK] > 1000
    assert found[COMPARED] >= min(FEW)
    assert found["binomial"] >= found[COMPARED]


# The root reduces in place, and roots change: what a rank remembers of earlier calls is not what another remembers.
@BOTH
def test_ranks_that_remember_different_calls_look_again_together(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "binomial", 0.00101)
    (file,) = learned.files(tmp_path / "learned")
    reduction = VERDICT.format(choice="binomial", rondo=0.00101, library=0.001).replace(
        "bcast bytes=1000 commutative=no", "{}"
    )
    file.write_text(reduction.format("reduce bytes=16 commutative=yes"))
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), CALLS, BYTES], 2, environment=known).check()
    assert run.stdout == "failures 0\n"
    treated = [
        {(each["algorithm"], each["reason"]): sum(size["calls"] for size in each["classes"]) for each in rank["entries"]
         if each["collective"] == "reduce"}
        for rank in run.report.ranks
    ]  # fmt: skip
    assert treated[0] == treated[1]
    assert treated[0]["native", COMPARED] >= min(FEW)


# Without a report the shortest ways are taken, which a verdict that changes must close on all ranks at once, whatever
# each of them remembers: three communicators and roots, in places that depend on handles.
@BOTH
def test_what_ranks_remember_ends_with_the_verdict(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "linear_pipeline:segment=1", 0.00099, 3)
    known |= {"RONDO_REPORT": ""}
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), 2 * CALLS, BYTES], 3, environment=known, timeout=200)
    assert run.check().stdout == "failures 0\n"


# Nothing is counted by reports, so calls that were lost go the shortest way, however their vectors are divided.
@BOTH
def test_what_lost_is_tried_again_where_each_rank_has_a_count(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "binomial", 0.00101)
    known |= {"RONDO_REPORT": ""}
    (file,) = learned.files(tmp_path / "learned")
    made_up = VERDICT.format(choice="pairwise", rondo=0.00101, library=0.001).replace(
        "bcast bytes=1000 commutative=no", "{}"
    )
    file.write_text(made_up.format("reduce_scatter bytes=32 commutative=yes"))
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), 2 * CALLS, BYTES], 2, environment=known).check()
    assert run.stdout == "failures 0\n"
    days = [each.day for each in learned.read(file).verdicts if each.collective == "reduce_scatter"]
    assert days
    assert "9999-01-01" not in days


# Nothing is counted: the shortest ways are taken, and each rank finds out when to look again from the calls alone.
@BOTH
@pytest.mark.parametrize("guard", ["exact", "free"])
def test_all_ranks_look_again_at_the_same_call(mpi: MpiLibrary, tmp_path: Path, guard: str) -> None:
    rules = tmp_path / "mine.rules"
    rules.write_text(RULES.format(choice="binomial"))
    known = {"RONDO_RULES": str(rules), "RONDO_GUARD": guard, "RONDO_REPORT": ""}
    run = mpi.run_under_rondo([mpi.compile("many_calls.c"), CALLS], 3, environment=known, timeout=150).check()
    assert run.stdout == "failures 0\n"


# What one rank of a part remembers of its calls is not what another remembers. The part takes over the verdict on the
# world, which was made up, so the other look comes after some 1200 calls on every machine.
@BOTH
def test_ranks_of_a_part_look_again_together(mpi: MpiLibrary, tmp_path: Path) -> None:
    known = variables(mpi, tmp_path, "binomial", 0.00101, 3)
    (file,) = learned.files(tmp_path / "learned")
    (verdict,) = learned.read(file).verdicts
    file.write_text(verdict.line.replace("bcast bytes=1000 commutative=no", "reduce bytes=256 commutative=yes") + "\n")
    program = mpi.compile("look_again_on_a_part.c")
    run = mpi.run_under_rondo([program, 2 * CALLS], 3, environment=known).check()
    assert run.stdout == "failures 0\n"
    treated = [
        {(each["algorithm"], each["reason"]): sum(size["calls"] for size in each["classes"]) for each in rank["entries"]
         if each["collective"] == "reduce"}
        for rank in run.report.ranks[:2]
    ]  # fmt: skip
    assert treated[0] == treated[1]
    found = learned.read(file).verdicts
    assert 2 in {each.processes for each in found}  # the part has one of its own: it has looked again
