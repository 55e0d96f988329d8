# SPDX-License-Identifier: BSD-3-Clause
"""`rondo doctor` on this machine, and on machines that lack something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mpi_libraries import LIBRARIES, MpiLibrary, reason_to_skip

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.launching import checkup

NO_SLOTS = """#!/bin/sh
[ "$1" = --version ] && echo "HYDRA build details:" && exit 0
echo "no slots" >&2
exit 7
"""
EACH_ALONE = """#!/bin/bash
[ "$1" = --version ] && echo "HYDRA build details:" && exit 0
while [ "$1" = -genv ]; do export "$2=$3"; shift 3; done
[ "$1" = -n ] && shift 2
"$@" & "$@" & wait
"""


def doctor(*words: object, **variables: str) -> tuple[int, dict[str, list[dict[str, str]]]]:
    """Exit code, and the findings by what they are about."""
    command = [sys.executable, "-m", "rondo", "doctor", "--json", *map(str, words)]
    result = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.stdout, result.stderr
    found: dict[str, list[dict[str, str]]] = {}
    for each in json.loads(result.stdout):
        found.setdefault(each["about"], []).append(each)
    return result.returncode, found


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_a_machine_with_an_mpi_is_well(mpi: MpiLibrary) -> None:
    code, found = doctor("--", mpi.prefix / "mpiexec")
    assert code == 0
    assert {"Rondo", "MPI", "launcher", "processors", "memory", "emulated cluster", "tuned rules"} <= set(found)
    assert {"clock", "shared memory"} <= set(found)
    about = ("MPI", "launcher", "Rondo", "program")
    assert [each["state"] for name in about for each in found[name]] == ["good"] * len(about)
    assert found["program"][0]["says"].startswith("2 ranks of ")
    assert found["program"][0]["says"].endswith(" find each other, and all have Rondo")
    assert {"mpich": "MPICH", "openmpi": "Open MPI"}[mpi.name] in found["MPI"][0]["says"]


def test_ranks_that_are_each_alone_are_noticed(tmp_path: Path) -> None:
    """By a launcher that says it is MPICH's, and starts processes that do not meet."""
    if (reason := reason_to_skip("mpich")) is not None:
        pytest.skip(reason)
    prefix = tmp_path / "mpich"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(LIBRARIES["mpich"].prefix.parent / "lib")
    launcher = prefix / "bin" / "mpiexec"
    launcher.write_text(EACH_ALONE)
    launcher.chmod(0o755)
    code, found = doctor("--", launcher)
    assert code == 1
    assert found["launcher"][0]["state"] == "good"
    assert (found["program"][0]["state"], found["program"][0]["says"]) == (
        "wrong", "2 ranks, and each was alone in its world"
    )  # fmt: skip


def test_no_mpi_is_wrong(tmp_path: Path) -> None:
    code, found = doctor(PATH=str(tmp_path))
    assert code == 1
    assert found["MPI"][0]["state"] == "wrong"
    assert "on PATH" in found["MPI"][0]["says"]
    assert "launcher" not in found


def test_a_launcher_that_starts_nothing_is_wrong_and_its_own_words_are_shown(tmp_path: Path) -> None:
    fails = tmp_path / "mpiexec"
    fails.write_text(NO_SLOTS)
    fails.chmod(0o755)
    code, found = doctor("--", fails)
    assert code == 1
    (launcher,) = found["launcher"]
    assert launcher["state"] == "wrong"
    assert "ends with 7: no slots" in launcher["says"]
    assert "more ranks than processors" in launcher["advice"]


def test_what_is_no_launcher_is_said_to_be_none() -> None:
    code, found = doctor("--", sys.executable)
    assert code == 1
    assert "is no launcher" in found["MPI"][0]["says"]


def test_variables_that_every_run_heeds_are_named(tmp_path: Path) -> None:
    _, found = doctor(PATH=str(tmp_path), RONDO_GUARD="off")
    assert any("RONDO_GUARD=off" in each["says"] for each in found["environment"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_nobody_may_write_into_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o500)
    code, found = doctor(XDG_STATE_HOME=str(tmp_path / "state"))
    assert code == 1
    assert found["what was learned"][0]["state"] == "wrong"


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
def test_a_compiler_of_another_mpi_than_the_launcher_is_noticed(mpi: MpiLibrary) -> None:
    path = f"{mpi.prefix}{os.pathsep}{os.environ['PATH']}"
    _, found = doctor("--", "mpiexec", PATH=path)
    assert [each["state"] for each in found["compiler"]] == ["good"]
    other = LIBRARIES["openmpi" if mpi.name == "mpich" else "mpich"]
    if reason_to_skip(other.name) is not None:
        pytest.skip("one MPI library alone")
    _, found = doctor("--", other.prefix / "mpiexec", PATH=path)
    assert [each["state"] for each in found["compiler"]] == ["worth knowing"]
    assert "would run alone" in found["compiler"][0]["advice"]


def test_a_small_shared_directory_and_a_slow_clock_are_worth_knowing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkup, "LEAST_SHARED", 1 << 62)
    monkeypatch.setattr(checkup, "SLOW_CLOCK", 0.0)
    found = {each.about: each for each in checkup.findings((), {"PATH": "/none"})}
    for about, word in (("shared memory", "--shm-size"), ("clock", "clocksource=tsc")):
        assert found[about].state is checkup.State.WORTH_KNOWING
        assert word in found[about].advice
    monkeypatch.setattr(checkup, "SHARED", str(tmp_path / "none"))
    found = {each.about: each for each in checkup.findings((), {"PATH": "/none"})}
    assert "No such file" in found["shared memory"].says
