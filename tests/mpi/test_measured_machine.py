# SPDX-License-Identifier: BSD-3-Clause
"""The first program on several nodes measures what messages cost there; the next ones know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mpi_libraries import LIBRARIES, TOOLCHAIN, reason_to_skip
from rondo.machine import machine

RONDO = Path(sys.executable).with_name("rondo")
CLUSTER = "2x2:5ms:50Mbit"
SECONDS = 120


def run(library: str, program: Path, directory: Path, guard: str = "exact") -> str:
    """Runs a program on an emulated cluster, of whose figures Rondo is told nothing. What it says on standard error."""
    words = [RONDO, "run", "--cluster", CLUSTER, "--mpi", str(TOOLCHAIN / library), "--guard", guard]
    words += ["--learned", str(directory), "--", "env", "-u", machine.VARIABLE, str(program)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    if "does not let" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
    assert "ranks add up to 6" in result.stdout
    return result.stderr


@pytest.mark.parametrize("library", ["mpich", "openmpi"])
def test_is_measured_once_by_the_first_program(library: str, tmp_path: Path) -> None:
    if reason := reason_to_skip(library):
        pytest.skip(reason)
    program, directory = LIBRARIES[library].compile("hello.c"), tmp_path / "learned"
    assert "messages between nodes were measured, once" in run(library, program, directory)
    (file,) = directory.glob("*.machine")
    text, figures = file.read_text(), machine.read(file)
    # Nothing can be faster than the network; a busy machine may be much slower.
    assert 5e-3 <= figures.alpha < 0.1
    assert 8 / 50e6 * 0.8 < figures.beta < 8 / 50e6 * 10
    assert figures.alpha_inside is not None
    assert figures.alpha_inside < figures.alpha
    assert "measured" not in run(library, program, directory)
    assert file.read_text() == text


def test_is_not_measured_where_the_user_says_what_holds(tmp_path: Path) -> None:
    if reason := reason_to_skip("mpich"):
        pytest.skip(reason)
    directory = tmp_path / "learned"
    directory.mkdir()
    run("mpich", LIBRARIES["mpich"].compile("hello.c"), directory, "off")
    assert not list(directory.glob("*.machine"))
