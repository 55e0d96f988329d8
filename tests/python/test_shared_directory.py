# SPDX-License-Identifier: BSD-3-Clause
"""Where ranks leave what they write: the working directory need not be writable. Not even root can write into /proc."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rondo.comparing import outputs
from rondo.errors import Error
from rondo.launching import installation, shared_directory

UNWRITABLE = "/proc"


@pytest.fixture
def state(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "rondo"


def test_the_first_place_that_can_be_written_is_taken(tmp_path, state, monkeypatch):
    file = tmp_path / "results" / "file.json"
    file.parent.mkdir()
    monkeypatch.chdir(tmp_path)
    assert shared_directory.new(".rondo-x-", "this", file).parent == tmp_path
    monkeypatch.chdir(UNWRITABLE)
    assert shared_directory.new(".rondo-x-", "this", file).parent == file.parent
    assert shared_directory.new(".rondo-x-", "this").parent == state
    monkeypatch.setenv("XDG_STATE_HOME", UNWRITABLE)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    assert shared_directory.new(".rondo-x-", "this").parent == tmp_path / "temporary"
    monkeypatch.setattr("tempfile.tempdir", f"{UNWRITABLE}/none")
    with pytest.raises(
        Error, match=r"^cannot make a directory for this: /proc: No such .*; /proc/rondo: .*; /proc/none"
    ):
        shared_directory.new(".rondo-x-", "this", Path(UNWRITABLE) / "file.json")


def test_a_working_directory_that_was_removed_is_none(tmp_path, state, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert shared_directory.new(".rondo-x-", "this").parent == state


def test_outputs_that_differ_are_kept_where_they_can_be(tmp_path, state, monkeypatch):
    monkeypatch.chdir(UNWRITABLE)
    for number, text in enumerate(("one", "other")):
        (tmp_path / str(number)).write_text(text)
    kept = tmp_path / "kept"
    kept.mkdir()
    found = outputs.Outputs(["-"], tmp_path, kept / "out.json")
    found.take("native", tmp_path / "0")
    found.take("rondo", tmp_path / "1")
    assert [each.read_text() for each in found.differences[0].kept] == ["one", "other"]
    assert {each.parent.parent for each in found.differences[0].kept} == {kept}


@pytest.fixture
def program(mpi) -> Path:
    if not (installation.LIBRARIES / f"librondo_{mpi.abi}.so").is_file():
        pytest.skip(f"no preload library for {mpi.abi} in {installation.LIBRARIES}")
    return mpi.compile("hello.c")


@pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True)
@pytest.mark.parametrize(
    "words",
    [
        ("run", "--report"),
        ("profile", "--output"),
        ("compare", "--runs", "1", "--warmup", "0", "--output"),
    ],
    ids=lambda words: words[0],
)
def test_commands_run_where_nothing_can_be_written(mpi, program, tmp_path, state, words):
    command = [sys.executable, "-m", "rondo", *words, tmp_path / "out.json", "--", *mpi.command(2, {}, [program])]
    result = subprocess.run(
        [*map(str, command)],
        cwd=UNWRITABLE,
        env={**os.environ, **mpi.environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["ranks"] if words[0] == "compare" else len(found["ranks"])) == 2
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".rondo")] == []
