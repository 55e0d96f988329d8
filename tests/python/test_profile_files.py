# SPDX-License-Identifier: BSD-3-Clause
"""Waiting by its definition, and ranks' files that are none."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rondo.profiling import image, reading, sites, waiting

ENTRIES = {0: 1.0, 1: 4.0, 2: 2.0, 3: 3.0}


@pytest.mark.parametrize(
    ("function", "root", "complete"),
    [
        ("MPI_Allreduce", -1, [4, 4, 4, 4]),
        ("MPI_Alltoallv_c", -1, [4, 4, 4, 4]),
        ("MPI_Reduce", 0, [4, 4, 4, 4]),
        ("MPI_Bcast", 2, [2, 4, 2, 3]),
        ("MPI_Bcast_c", 1, [4, 4, 4, 4]),
        ("MPI_Scan", -1, [1, 4, 4, 4]),
    ],
)
def test_ranks_wait_for_those_on_whom_they_depend(function: str, root: int, complete: list[float]) -> None:
    assert waiting.complete_at(function, root, ENTRIES) == dict(enumerate(complete))


@pytest.mark.parametrize(
    ("function", "root", "others"),
    [("MPI_Allreduce", -1, [1, 1, 1, 1]), ("MPI_Bcast", 2, [2, 1, 2, 3]), ("MPI_Scan", -1, [0, 1, 1, 1])],
)
def test_the_rank_is_known_that_a_rank_waits_for(function: str, root: int, others: list[int]) -> None:
    assert waiting.awaited(function, root, ENTRIES) == dict(enumerate(others))


@pytest.mark.parametrize(
    ("complete", "split"), [(3.0, (2.0, 1.0)), (0.5, (0.0, 3.0)), (9.0, (3.0, 0.0)), (1.0, (0.0, 3.0))]
)
def test_waiting_and_moving_are_the_call(complete: float, split: tuple[float, float]) -> None:
    assert waiting.split(1.0, 4.0, complete) == split


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it was never begun"),
        (bytes(458752), "it was never begun"),
        (b"something else" * 1000, "there is no profile in it"),
        (b"rondo profile 7\0" + bytes(458736), "another version of Rondo (format 7)"),
        (image.MAGIC + bytes(5000), "cut off: 5016 of 458752 bytes"),
    ],
    ids=["empty", "zeros", "another", "version", "half"],
)
def test_file_that_is_none_is_named_with_the_reason(content: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "3-host-1.profile").write_bytes(content)
    profile = reading.read(tmp_path, ["app"])
    assert profile.ranks == profile.lines == []
    assert any("3-host-1.profile" in each and reason in each for each in profile.missing)


def test_sampled_calls_stand_for_those_between() -> None:
    def weight(number: int) -> int:
        return image.Sample(0, 0, 0, 0, number, 0).stands_for

    assert [weight(number) for number in (0, 255, 256, 511, 512, 1023, 1024)] == [1, 1, 2, 2, 4, 4, 8]


def test_stripped_library_gives_no_name_of_a_function_that_only_lies_before(tmp_path: Path) -> None:
    source, library = tmp_path / "steps.c", tmp_path / "libsteps.so"
    source.write_text(
        "int shown(int x) { return x + 1; }\n"
        "__attribute__((noinline)) static int hidden(int x) { return x * 3; }\n"
        "int also_shown(int x) { return hidden(x) + 2; }\n"
    )
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    listed = subprocess.run(["nm", library], check=True, capture_output=True, text=True).stdout
    (offset,) = (int(each, 16) + 1 for each in re.findall(r"^(\w+) t hidden$", listed, re.MULTILINE))
    site = image.Site(offset, str(library), "", (), "")
    (found,) = sites.resolve([site], [])
    assert found.function == "hidden"
    subprocess.run(["strip", library], check=True)
    missing: list[str] = []
    (found,) = sites.resolve([site], missing)
    assert (found.function, found.module, found.offset) == ("", "libsteps.so", offset)
    assert missing == ["call sites in libsteps.so have no line: no debug information, which compilers write with -g"]
    missing.clear()
    sites.resolve([site._replace(frames=("steps.py:3 in step",))], missing)
    assert missing == []  # the frame says where it is
    (found,) = sites.resolve([site._replace(symbol="known")], [])  # by the dynamic linker, who knows its end
    assert found.function == "known"


def test_a_profile_that_cannot_be_written_ends_with_another_code(
    rondo: Callable[..., Any], installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installed / "librondo_profile_mpich.so").touch()
    monkeypatch.chdir(tmp_path)
    for program, code in (("rmdir gone", 4), ("rmdir gone; exit 7", 7)):
        (tmp_path / "gone").mkdir()
        ended = rondo("profile", "--output", "gone/p.json", "--abi", "mpich", "--", "sh", "-c", program)
        assert ended.exit_code == code
        assert f"cannot write {tmp_path}/gone/p.json" in ended.stderr
