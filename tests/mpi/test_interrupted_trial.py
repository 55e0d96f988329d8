# SPDX-License-Identifier: BSD-3-Clause
"""A rank that ends in the middle of a trial: the program ends as natively, and what was known before is kept whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from launching import Run, launch
from mpi_libraries import MpiLibrary, preload_library
from rondo.tune import seen_calls

from rondo.selection import learned

RANKS = 3
PROGRAM = "interrupted_trial.c"
KNOWN = "bcast -> circulant\nallreduce -> recursive_doubling\n"
OTHER = "bcast -> binomial\nallreduce -> ring\n"
TIMEOUT = 90

pytestmark = [
    pytest.mark.parametrize("mpi", ["mpich", "openmpi"], indirect=True),
    pytest.mark.parametrize("ending", ["abort", "kill"]),
    # Calls of broadcasts and sums alternate: of each, none, one, two or three were made.
    pytest.mark.parametrize(
        "before", [pytest.param(each, marks=[] if each == 3 else pytest.mark.soak) for each in range(1, 7)]
    ),
]


class Place:
    """Where runs keep what they learn."""

    def __init__(self, mpi: MpiLibrary, directory: Path) -> None:
        self.mpi = mpi
        self.learned = directory / "learned"
        self.rules = directory / "mine.rules"
        self.config = directory

    def run(self, rules: str, options: Sequence[str], ending: str, before: int) -> Run:
        preload_library(self.mpi.abi)
        self.rules.write_text(rules)
        command = self.mpi.command(RANKS, self.mpi.patience, [self.mpi.compile(PROGRAM), ending, before])
        words = [sys.executable, "-m", "rondo", "run", *options, "--guard", "exact", "--learned", self.learned]
        environment = {**os.environ, **self.mpi.environment, "XDG_CONFIG_HOME": str(self.config)}
        return launch([*words, "--rules", self.rules, "--", *command], environment, TIMEOUT)

    def known(self, rules: str, options: Sequence[str]) -> dict[str, bytes]:
        """What is kept of a program that ends well. On a busy machine the first one may find out nothing."""
        for _ in range(5):
            self.run(rules, options, "finalize", 0).check()
            if self.learned.is_dir() and learned.files(self.learned):
                break
        return self.content()

    def content(self) -> dict[str, bytes]:
        """Of the directory, but of the lock."""
        return {each.name: each.read_bytes() for each in self.learned.iterdir() if each.suffix != ".lock"}


def native(mpi: MpiLibrary, ending: str, before: int) -> Run:
    return mpi.run([mpi.compile(PROGRAM), ending, before], RANKS, mpi.patience, timeout=TIMEOUT)


def test_the_program_ends_as_natively_and_verdicts_stay(
    mpi: MpiLibrary, ending: str, before: int, tmp_path: Path
) -> None:
    place = Place(mpi, tmp_path)
    known = place.known(KNOWN, [])
    assert len(known) == 1
    run = place.run(OTHER, [], ending, before)
    assert not run.timed_out
    assert run.returncode == native(mpi, ending, before).returncode != 0
    assert place.content() == known


def test_the_same_while_it_learns(mpi: MpiLibrary, ending: str, before: int, tmp_path: Path) -> None:
    place = Place(mpi, tmp_path)
    known = place.known(OTHER, ["--learn"])
    assert len(known) == 2
    run = place.run(OTHER, ["--learn"], ending, before)
    assert not run.timed_out
    assert run.returncode == native(mpi, ending, before).returncode != 0
    (file,) = learned.files(place.learned)
    seen = seen_calls.path_beside(file)
    assert {**place.content(), seen.name: b""} == {**known, seen.name: b""}  # which may say more now, and is whole
    assert seen_calls.read(file).calls == msgspec.json.decode(known[seen.name], type=seen_calls.Seen).calls
