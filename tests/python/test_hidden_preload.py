# SPDX-License-Identifier: BSD-3-Clause
"""No command measures Rondo in the place of the MPI library: a preload of Rondo that is there already is refused."""

from __future__ import annotations

import pytest

LIBRARIES = ("/a/librondo_mpich.so", "/a/other.so:/b/librondo_profile_openmpi.so", "/a/other.so  /b/librondo_mpiabi.so")
MEASURING = {
    "bench": ("bench", "exscan"),
    "map": ("bench", "--map", "exscan", "--processes", "2"),
    "tune": ("tune",),
    "calibrate": ("calibrate",),
}
RANKS = {"map": "{p}"}
RUNNING = {"profile": ("profile",), "compare": ("compare",)}
ON_CLUSTER = ("--cluster", "2x1:1ms:1Gbit")


@pytest.fixture
def mpiexec(stand_in_launcher, tmp_path, monkeypatch):
    """A launcher that only knows its version, in a directory of its own."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return stand_in_launcher("hydra")


def refused(result) -> bool:
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("rondo: LD_PRELOAD names a library of Rondo ("), result.stderr
    return "librondo_" in result.stderr.partition(")")[0]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("command", [*MEASURING, *RUNNING])
@pytest.mark.usefixtures("installed")
def test_an_inherited_one(rondo, mpiexec, monkeypatch, command, library):
    monkeypatch.setenv("LD_PRELOAD", library)
    program = [] if command in MEASURING else ["true"]
    words = {**MEASURING, **RUNNING}[command]
    assert refused(rondo(*words, "--", mpiexec, "-n", RANKS.get(command, "2"), *program))
    assert refused(rondo(*words, *ON_CLUSTER, *(["--", *program] if program else [])))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("command", [*MEASURING, *RUNNING])
@pytest.mark.usefixtures("installed")
def test_one_that_the_launcher_is_told_of(rondo, mpiexec, stand_in_program, command, library):
    program = [] if command in MEASURING else [stand_in_program("libmpi.so.12")]
    words = {**MEASURING, **RUNNING}[command]
    assert refused(
        rondo(*words, "--", mpiexec, "-genv", "LD_PRELOAD", library, "-n", RANKS.get(command, "2"), *program)
    )


@pytest.mark.parametrize("command", RUNNING)
@pytest.mark.usefixtures("installed")
def test_one_that_stands_before_the_program(rondo, mpiexec, stand_in_program, command):
    preload = f"LD_PRELOAD={LIBRARIES[0]}"
    words = [mpiexec, "-n", "2", "env", preload, stand_in_program("libmpi.so.12")]
    assert refused(rondo(command, "--", *words))
    assert refused(rondo(command, "--abi", "mpich", "--", *words))


@pytest.mark.parametrize("command", [*MEASURING, *RUNNING])
@pytest.mark.usefixtures("installed")
def test_other_preloads_are_the_user_s_own(rondo, mpiexec, stand_in_program, monkeypatch, command):
    monkeypatch.setenv("LD_PRELOAD", "/a/rondo_like.so:/librondo_mpich/other.so")
    program = [] if command in MEASURING else [stand_in_program("libmpi.so.12")]
    result = rondo(*{**MEASURING, **RUNNING}[command], "--", mpiexec, "-n", RANKS.get(command, "2"), *program)
    assert "LD_PRELOAD names" not in result.stderr
