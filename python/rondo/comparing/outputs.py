# SPDX-License-Identifier: BSD-3-Clause
"""Whether the program writes the same in all runs: files that each run makes, and standard output."""

from __future__ import annotations

import contextlib
import datetime
import filecmp
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.errors import Error
from rondo.launching import shared_directory

STANDARD_OUTPUT = "-"
CHUNK = 1 << 20


@dataclass(frozen=True)
class Difference:
    """Between what two runs have written."""

    file: str
    """As the user named it; `-` is standard output."""
    reference: str
    """The rival of the first run, with which all others are compared."""
    rival: str
    line: int
    """The first that differs, from 1."""
    byte: int
    """The same, in bytes from 0."""
    kept: tuple[Path, Path]
    """Where both are, the reference first."""


class Outputs:
    """What is compared. As a context manager, it leaves the user's files as one run of the reference would.

    A file that was there before is put back; each run begins without it.
    """

    def __init__(self, names: Sequence[str], directory: Path, beside: Path | None = None) -> None:
        """Of these names; the directory is for what is kept until the end.

        What differs is kept in the working directory; beside a file, if that cannot be written.
        """
        self.names = list(dict.fromkeys(names))
        self.differences: list[Difference] = []
        """The first of each file and rival."""
        self.compared = 0
        """Runs."""
        self._directory = directory
        self._beside = beside
        self._before: dict[str, Path] = {}
        self._first: dict[str, tuple[str, Path]] = {}
        self._kept_in: Path | None = None
        for name in self.names:
            path = Path(name)
            if name != STANDARD_OUTPUT and (path.is_dir() or not path.parent.is_dir()):
                what = "is a directory; name the files in it" if path.is_dir() else f"there is no {path.parent}"
                raise Error(f"--same {name}: {what}")

    def __enter__(self) -> Outputs:
        """Itself, with files that are there set aside."""
        for name in self._files():
            if Path(name).exists():
                self._before[name] = self._move(Path(name), f"{_flat(name)}.before")
        return self

    def __exit__(self, *exception: object) -> None:
        """Puts back what was there before, or else what the first run has written."""
        for name in self._files():
            back = self._before.get(name) or self._first.get(name, ("", None))[1]
            if back is not None and back.exists():
                with contextlib.suppress(OSError):
                    Path(name).unlink(missing_ok=True)
                    shutil.copy2(back, name)

    def discard(self) -> None:
        """Removes what an earlier run has written."""
        for name in self._files():
            Path(name).unlink(missing_ok=True)

    def take(self, rival: str, standard_output: Path) -> None:
        """Compares what a run has written with what the first one has. Error if it has not written a file."""
        self.compared += bool(self.names)
        for name in self.names:
            path = standard_output if name == STANDARD_OUTPUT else Path(name)
            if not path.is_file():
                raise Error(f"--same {name}: {rival} has written no such file")
            if name not in self._first:
                self._first[name] = (rival, self._move(path, f"{_flat(name)}.first"))
                continue
            reference, first = self._first[name]
            if (name, rival) not in [(each.file, each.rival) for each in self.differences] and not filecmp.cmp(
                first, path, shallow=False
            ):
                self.differences.append(
                    Difference(name, reference, rival, *_place(first, path), self._keep(name, reference, rival, path))
                )

    def _files(self) -> list[str]:
        return [name for name in self.names if name != STANDARD_OUTPUT]

    def _move(self, path: Path, name: str) -> Path:
        target = self._directory / name
        try:
            shutil.move(path, target)
        except OSError as error:
            raise Error(f"--same {path}: cannot move it into {self._directory}: {error.strerror}") from None
        return target

    def _keep(self, name: str, reference: str, rival: str, path: Path) -> tuple[Path, Path]:
        """Copies of both, where they stay."""
        if self._kept_in is None:
            self._kept_in = shared_directory.made("outputs that differ", _new_directory, self._beside)
        other = rival if rival != reference else f"{rival}-again"
        kept = self._kept_in / f"{_flat(name)}.{reference}", self._kept_in / f"{_flat(name)}.{other}"
        shutil.copyfile(self._first[name][1], kept[0])
        shutil.copyfile(path, kept[1])
        return kept


def _new_directory(place: Path) -> Path:
    path = place / f"compare-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    path.mkdir(exist_ok=True)
    return path


def _flat(name: str) -> str:
    return "standard-output" if name == STANDARD_OUTPUT else name.strip("./").replace("/", "_")


def _place(first: Path, second: Path) -> tuple[int, int]:
    """The line, from 1, and the byte, from 0, of the first difference of two files that differ."""
    lines, position = 1, 0
    with first.open("rb") as one, second.open("rb") as other:
        while True:
            ours, theirs = one.read(CHUNK), other.read(CHUNK)
            shorter = min(len(ours), len(theirs))
            if ours[:shorter] == theirs[:shorter] and len(ours) == len(theirs) and shorter:
                lines += ours.count(b"\n")
                position += shorter
                continue
            place = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
            return lines + ours.count(b"\n", 0, place), position + place
