# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written in one go, and what is no file."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Callable
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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_file_is_written_where_its_directory_takes_no_other() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        directory, file = Path(name), Path(name, "report.json")
        file.touch()
        file.chmod(0o666)
        directory.chmod(0o555)

        def as_nobody() -> bool:
            assert whole_file.can_write(file)
            assert not whole_file.can_write(directory / "other.json")
            whole_file.write(file, b"content")
            return file.read_bytes() == b"content"

        assert by_another_user(as_nobody)
        assert [each.name for each in directory.iterdir()] == ["report.json"]


def by_another_user(check: Callable[[], bool]) -> bool:
    """What a check finds for a user who may nothing in particular."""
    child = os.fork()
    if child == 0:
        try:
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            os._exit(0 if check() else 1)
        except BaseException:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_would_be_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Error, match=r"cannot write .*/file/below: Not a directory"):
        whole_file.write(tmp_path / "file" / "below", b"content")
