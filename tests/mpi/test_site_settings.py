# SPDX-License-Identifier: BSD-3-Clause
"""What a site configures holds in programs of its users, and each job leaves one file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mpi_libraries import MpiLibrary
from rondo.launching import jobs
from site_preload import run_on_site
from test_profiler import CALLS

pytestmark = pytest.mark.parallel

TWO_LIBRARIES = pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
RANKS = 3


def configuration(folder: Path, text: str) -> dict[str, str]:
    """The variables of a process that reads this configuration."""
    path = folder / "config"
    path.write_text(text)
    return {"RONDO_CONFIG": str(path)}


@TWO_LIBRARIES
def test_the_configuration_decides_and_users_stand_above_it(mpi: MpiLibrary, tmp_path: Path) -> None:
    variables = configuration(tmp_path, "exscan = doubling_123\nscan = doubling\n")
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment=variables, scan="linear_pipeline").check()
    assert run.stderr == ""
    assert run.report.calls("exscan") == {"doubling_123": CALLS["exscan"] * RANKS}
    assert run.report.calls("scan") == {"linear_pipeline": CALLS["scan"] * RANKS}


@TWO_LIBRARIES
@pytest.mark.parametrize(
    ("text", "expected", "reports"),
    [
        ("exscan = doubling_123\nguards = off\n", ":2: there is no setting 'guards'; did you mean 'guard'?", False),
        ("exscan = doubling_123\nscan = doublin\n", ":2: scan: ", True),
        ("rules = /nowhere.rules\n", ":1: rules: /nowhere.rules: cannot read", True),
    ],
)
def test_a_fault_is_named_once_and_the_job_goes_on(
    mpi: MpiLibrary, tmp_path: Path, text: str, expected: str, reports: bool
) -> None:
    variables = configuration(tmp_path, text)
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment=variables).check()
    assert len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith(f"rondo: {tmp_path}/config{expected}")
    if reports:
        assert set(run.report.calls("scan")) == {"native"}
    else:
        assert run.report.ranks == []


@TWO_LIBRARIES
def test_an_unknown_variable_is_named_once(mpi: MpiLibrary) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment={"RONDO_EXCAN": "x"}).check()
    assert run.stderr == "rondo: RONDO_EXCAN is no variable of Rondo's; did you mean RONDO_EXSCAN?\n"


@TWO_LIBRARIES
@pytest.mark.parametrize("text", ["except_programs = profiled-*\n", "only_programs = lmp cp2k\n", "disable = yes\n"])
def test_programs_that_are_left_out_run_natively(mpi: MpiLibrary, tmp_path: Path, text: str) -> None:
    variables = configuration(tmp_path, f"exscan = doubling_123\n{text}")
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment=variables).check()
    assert (run.stderr, run.report.ranks) == ("", [])
    again = {**variables, "RONDO_DISABLE": "no"}
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment=again).check()
    assert set(run.report.calls("exscan")) == {"doubling_123"}


@TWO_LIBRARIES
@pytest.mark.parametrize("own", [{}, {"RONDO_RULES": "none", "RONDO_JOBS": "none", "RONDO_LEARNED": "none"}])
def test_users_decline_what_the_site_sets(mpi: MpiLibrary, tmp_path: Path, own: dict[str, str]) -> None:
    folder, rules = tmp_path / "jobs", tmp_path / "rules"
    folder.mkdir()
    rules.write_text("exscan -> doubling_123\n")
    variables = configuration(tmp_path, f"rules = {rules}\nguard = exact\njobs = {folder}\nlearned = {folder}\n")
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment={**variables, **own}).check()
    assert run.stderr == ""
    if own:
        assert (set(run.report.calls("exscan")), list(folder.iterdir())) == ({"native"}, [])
    else:
        assert "doubling_123" in run.report.calls("exscan")
        assert list(folder.glob("*.json"))


@TWO_LIBRARIES
def test_a_program_that_is_left_out_cannot_choose(mpi: MpiLibrary, tmp_path: Path) -> None:
    variables = configuration(tmp_path, "except_programs = choices-*\n")
    run = run_on_site(mpi, [mpi.compile("choices.c")], 3, environment=variables)
    assert "this program is left to the MPI library, by except_programs" in run.stdout + run.stderr
    assert run.report.ranks == []


# Open MPI's launcher gives variables to the first program only.
@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_what_is_left_out_on_some_ranks_is_native_on_all(mpi: MpiLibrary, tmp_path: Path) -> None:
    variables = configuration(tmp_path, f"exscan = doubling_123\njobs = {tmp_path}\n")
    other = tmp_path / "other"
    other.write_text("except_programs = *\n")
    program = mpi.compile("profiled.c")
    command = [program, ":", "-n", "1", "env", f"RONDO_CONFIG={other}", program]
    run = run_on_site(mpi, command, RANKS, environment=variables).check()
    assert run.stderr.count("rondo: the ranks were given different RONDO_ variables") == 1
    assert set(run.report.calls("exscan")) == {"native"}
    (job,), _ = jobs.read(tmp_path)
    assert not job.all_ranks, "ranks that do not agree add nothing up"


def test_each_job_leaves_one_file_with_what_all_ranks_did(mpi: MpiLibrary, tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    variables = configuration(tmp_path, f"jobs = {folder}\nexscan = doubling_123\n")
    program = mpi.compile("profiled.c")
    run = run_on_site(mpi, [program], RANKS, environment=variables).check()
    assert run.stderr == ""
    (job,), unreadable = jobs.read(folder)
    assert unreadable == []
    assert (job.all_ranks, job.program, job.rank.size) == (True, str(program.resolve()), RANKS)
    served = {each.collective: (each.by, each.calls) for each in job.sums}
    assert served["exscan"] == ("rondo", CALLS["exscan"] * RANKS)
    assert served["scan"] == ("library", CALLS["scan"] * RANKS)
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_a_job_that_exits_without_finalize_leaves_what_rank_0_did(mpi: MpiLibrary, tmp_path: Path) -> None:
    variables = {"RONDO_JOBS": str(tmp_path), "RONDO_EXSCAN": "doubling_123"}
    run = run_on_site(mpi, [mpi.compile("endings.c"), "leave"], RANKS, environment=variables)
    (job,), _ = jobs.read(tmp_path)
    assert not job.all_ranks, run.stderr
    assert [each.calls for each in job.sums if each.collective == "exscan"] == [12]


@TWO_LIBRARIES
def test_where_no_file_can_be_left_one_line_says_so(mpi: MpiLibrary) -> None:
    run = run_on_site(mpi, [mpi.compile("profiled.c")], RANKS, environment={"RONDO_JOBS": "/nowhere"}).check()
    assert run.stderr == "rondo: no file of this job in /nowhere: No such file or directory\n"


def test_a_file_stays_short_whatever_the_number_of_ranks(mpi: MpiLibrary, tmp_path: Path) -> None:
    lengths = []
    for ranks in (2, 6):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        run_on_site(mpi, [mpi.compile("profiled.c")], ranks, environment={"RONDO_JOBS": str(folder)}).check()
        (path,) = folder.iterdir()
        lengths.append(path.stat().st_size)
        json.loads(path.read_text())
    assert abs(lengths[0] - lengths[1]) < 200
