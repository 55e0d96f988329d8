# SPDX-License-Identifier: BSD-3-Clause
"""`rondo tune` with real ranks: it measures, writes rules that are sound, goes on, checks them, and a run finds them.

Nothing here says who is fast: the machine may be busy.
"""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from launching import RONDO_THAT_HEEDS, Run, launch
from mpi_libraries import BUILD, MpiLibrary
from rondo.bench import bench, launches, plans, results
from rondo.tune import tuned_files

RONDO = Path(sys.executable).with_name("rondo")
BOTH = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
MPICH = pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
TIMEOUT = 150
FIGURES = "alpha = 1e-6\nbeta = 1e-10\n"
BRIEF = ["--minutes", "0.1", "--collectives", "bcast,barrier", "--bytes", "8,1Ki"]


@pytest.fixture
def home(mpi: MpiLibrary, tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has a machine file and nothing else."""
    (tmp_path / "rondo").mkdir()
    (tmp_path / "rondo" / "machine").write_text(FIGURES)
    kept = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_CACHE_HOME": str(BUILD / "cache")}
    return {**os.environ, **mpi.environment, **mpi.patience, **kept}


def launcher(mpi: MpiLibrary, ranks: object = 2) -> list[object]:
    return ["--", mpi.prefix / mpi.launcher, *mpi.launcher_options, "-n", ranks]


@BOTH
def test_rules_are_written_checked_and_found_by_the_next_run(
    mpi: MpiLibrary, tmp_path: Path, home: dict[str, str]
) -> None:
    run = launch([RONDO, "tune", *BRIEF, *launcher(mpi)], home, TIMEOUT).check()
    assert "2 ranks on 1 node (1x2)" in run.stderr
    assert "not measured" not in run.stderr  # there are no parts of two ranks that have two
    (rules,) = (tmp_path / "rondo" / "tuned").glob("*.rules")
    head = tuned_files.head_of(rules.read_text())
    assert head is not None
    (*_, last) = [results.read(each) for each in sorted(rules.with_suffix(".measured").glob("0*.json"))]
    assert head.library == last.environment.library
    assert {each.wrong() for each in last.configurations} == {0}
    assert "nothing wrong" in launch([RONDO, "rules", "check", rules], home, TIMEOUT).check().stdout

    again = launch([RONDO, "tune", *BRIEF, *launcher(mpi)], home, TIMEOUT).check()
    assert "bcast on 1x2, 2 lengths, 6 repetitions" in run.stderr
    assert "bcast on 1x2, 2 lengths, 6 repetitions" not in again.stderr

    program = mpi.compile("hello.c")
    under_rondo = launch([RONDO, "run", "--report", *launcher(mpi), program], home, TIMEOUT).check()
    assert f"rules: {rules}" in under_rondo.stderr
    other = launch([RONDO, "run", "--report", "--rules", "none", *launcher(mpi), program], home, TIMEOUT).check()
    assert "rules: none" in other.stderr


@BOTH
def test_half_of_the_ranks_are_measured_too(mpi: MpiLibrary, tmp_path: Path, home: dict[str, str]) -> None:
    words = ["--output", tmp_path / "mine.rules"]
    run = launch([RONDO, "tune", *BRIEF, *words, *launcher(mpi, 4)], home, TIMEOUT).check()
    assert "4 ranks on 1 node (1x4)" in run.stderr
    assert "2 ranks on 1 node (1x2)" in run.stderr
    measured = [results.read(each) for each in (tmp_path / "mine.measured").glob("[0-9]*.json")]
    assert {each.environment.ranks for each in measured} == {2, 4}
    assert sum(one.wrong() for each in measured for one in each.configurations) == 0


@MPICH
def test_parts_of_ranks_on_several_nodes(mpi: MpiLibrary) -> None:
    plan = plans.make("allreduce", counts="100", algorithms=["native", "ring"], repetitions=2, warmup=0, seconds=5)
    whole = launches.make((), "3x2:1ms:1Gbit", str(mpi.prefix / mpi.launcher))
    for part, ranks_per_node in {"half": [2, 1], "node": [2], "leaders": [1, 1, 1]}.items():
        measured = bench.run(plan, dataclasses.replace(whole, part=part)).results
        assert measured is not None and measured.complete
        assert measured.environment.ranks_per_node == ranks_per_node
        assert [each.wrong() for each in measured.configurations] == [0, 0]


def check(rules: Path, mpi: MpiLibrary, home: dict[str, str]) -> Run:
    return launch([RONDO, "tune", *BRIEF, "--check", rules, *launcher(mpi)], home, TIMEOUT)


@MPICH
def test_lines_that_no_longer_hold_are_named(mpi: MpiLibrary, tmp_path: Path, home: dict[str, str]) -> None:
    rules = tmp_path / "mine.rules"
    # In segments of a byte it is slower than anything; of the other line nobody can be certain here.
    rules.write_text("bcast bytes > 512 -> linear_pipeline:segment=1\nbcast -> native\n")
    run = check(rules, mpi, home)
    assert run.returncode == 1, run.stderr
    assert f"{rules}:1: no longer holds: bcast bytes > 512 -> linear_pipeline:segment=1" in run.stdout
    assert "bcast of 1Ki on 1x2" in run.stdout
    rules.write_text("exscan -> native\n")
    run = check(rules, mpi, home)
    assert run.returncode == 2
    assert f"no rule of {rules} decides a call of these collectives, lengths and ranks" in run.stderr


@MPICH
def test_several_numbers_of_ranks_are_measured(mpi: MpiLibrary, tmp_path: Path, home: dict[str, str]) -> None:
    words = ["--processes", "2,3", "--output", tmp_path / "mine.rules"]
    launch([RONDO, "tune", *BRIEF, *words, *launcher(mpi, "{p}")], home, TIMEOUT).check()
    processors = len(os.sched_getaffinity(0))
    sharing = {ranks: ", which share memory" if ranks <= processors else "" for ranks in (2, 3)}
    shapes = "; ".join(f"{ranks} ranks on 1 node (1x{ranks}){said}" for ranks, said in sharing.items())
    assert f"ranks: {shapes}\n" in (tmp_path / "mine.rules").read_text()
    asked = json.loads((tmp_path / "mine.measured" / "tune.json").read_text())
    assert asked["figures"].startswith("alpha = 1e-06")
    measured = [results.read(each) for each in (tmp_path / "mine.measured").glob("[0-9]*.json")]
    shared = {each.environment.ranks: each.environment.shared_memory for each in measured}
    assert shared == {ranks: ranks <= processors for ranks in (2, 3)}


@MPICH
def test_an_interrupt_keeps_what_there_is(mpi: MpiLibrary, tmp_path: Path, home: dict[str, str]) -> None:
    words = [*RONDO_THAT_HEEDS, "tune", "--minutes", "2", "--collectives", "bcast,allreduce", "--bytes", "8,1Ki"]
    words += ["--output", tmp_path / "mine.rules", *launcher(mpi)]
    with subprocess.Popen(
        list(map(str, words)), env=home, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        assert running.stderr is not None
        launches_begun = (line for line in running.stderr if "repetitions; " in line)
        assert "bcast" in next(launches_begun)
        assert "allreduce" in next(launches_begun)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        _, said = running.communicate(timeout=TIMEOUT)
    assert running.returncode == 130, said
    if "nothing was measured often enough for a rule" not in said:  # on a busy machine few repetitions count
        assert f"wrote {tmp_path / 'mine.rules'}" in said
        check = launch([RONDO, "rules", "check", tmp_path / "mine.rules"], home, TIMEOUT).check()
        assert "nothing wrong" in check.stdout
    assert len(list((tmp_path / "mine.measured").glob("0*.json"))) >= 1


@MPICH
def test_a_launcher_that_fails_is_reported_and_nothing_is_written(
    mpi: MpiLibrary, tmp_path: Path, home: dict[str, str]
) -> None:
    words = [RONDO, "tune", *BRIEF, "--output", tmp_path / "mine.rules"]
    run = launch([*words, *launcher(mpi), "-wdir", "/missing"], home, TIMEOUT)
    assert run.returncode not in (0, 1), run.stderr
    assert "nothing was measured" in run.stderr
    assert not (tmp_path / "mine.rules").exists()
