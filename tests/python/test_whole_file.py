# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written in one go, and what is no file."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from rondo.errors import Error

from rondo import whole_file


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    whole_file.write(file, b"new")
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    file.write_text("old")
    link.symlink_to("file")
    whole_file.write(link, b"new")
    assert link.is_symlink()
    assert file.read_text() == "new"


def test_a_new_file_takes_no_place_of_another(tmp_path: Path) -> None:
    file = tmp_path / "file"
    assert whole_file.write_new(file, b"first")
    assert not whole_file.write_new(file, b"second")
    assert file.read_text() == "first"
    assert list(tmp_path.iterdir()) == [file]


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    whole_file.write(pipe, b"content")
    reader.join(30)
    assert read == [b"content"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_that_is_full_is_an_error() -> None:
    with pytest.raises(Error, match="cannot write /dev/full: No space left on device"):
        whole_file.write(Path("/dev/full"), b"content")
    assert not Path("/dev/full").is_file()
