# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo report` is given: whatever Rondo has written. Files say by their content what they are."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterable
from pathlib import Path

import msgspec

from rondo import _core
from rondo.errors import Error
from rondo.launching import jobs

EXPECTED = "expected a file of rondo bench, profile, compare or run --report, or another one that Rondo has written"
MAP_FILE = "map.json"


class Kind(enum.Enum):
    """Of a file; the value is what people call it."""

    RESULTS = "results of rondo bench"
    PROFILE = "a profile of rondo profile"
    COMPARISON = "a comparison of rondo compare"
    RUN = "a report of rondo run"
    MAP = "a map of rondo bench --map"
    JOB = "what a job has left for rondo jobs"


SIGNS = {
    Kind.RESULTS: {"environment", "configurations"},
    Kind.PROFILE: {"ranks", "communicators", "lines"},
    Kind.COMPARISON: {"rivals", "verdicts"},
    Kind.RUN: {"ranks", "entries", "cut_short"},
    Kind.MAP: {"question", "library", "cells"},
    Kind.JOB: {"sums", "rank", "all_ranks"},
}
"""Members of the JSON object that only files of this kind have."""


def expanded(paths: Iterable[Path]) -> list[Path]:
    """With the files of directories in place of these: the map, or all results. Error if there are none.

    Directories of jobs stay: they may hold any number of files, some of which nobody can read.
    """
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
        elif (path / MAP_FILE).exists():
            found.append(path / MAP_FILE)
        elif inside := [each for each in sorted(path.glob("*.json")) if _is_of(Kind.RESULTS, each)]:
            found += inside
        elif any(_is_of(Kind.JOB, each) for each in jobs.files_in(path)):
            found.append(path)
        else:
            raise Error(f"{path} holds no results of rondo bench or rondo tune, and no files of jobs")
    return list(dict.fromkeys(found))


def _is_of(wanted: Kind, path: Path) -> bool:
    with contextlib.suppress(Error):
        return path.is_file() and kind(path) is wanted
    return False


def shown_by(path: Path) -> tuple[str, ...] | None:
    """The words of the command that shows a file that becomes no page: of rules, of verdicts, of a machine's figures.

    None if it is none of these.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    verdicts, complaints, proposals = _core.read_verdicts(text)
    if (verdicts or proposals) and not complaints:
        return ("learned", "show", str(path))
    for read, words in ((_core.read_machine, ("calibrate", "--show")), (_check_rules, ("rules", "check"))):
        with contextlib.suppress(ValueError):
            read(text, str(path))
            return (*words, str(path))
    return None


def _check_rules(text: str, name: str) -> None:
    if "->" not in text:
        raise ValueError("no rule")
    _core.check_rules(text, name)


def kind(path: Path) -> Kind:
    """What a file holds, or a directory of jobs. Error if it cannot be read, is cut off, or holds something else."""
    if path.is_dir():
        return Kind.JOB
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror}") from None
    try:
        members = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        raise Error(f"{path} holds other JSON; {EXPECTED}") from None
    except msgspec.DecodeError as error:
        if not content:
            raise Error(f"{path} is empty; {EXPECTED}") from None
        ends_in_a_number = f"(byte {len(content)})" in str(error)
        if content.lstrip()[:1] == b"{" and ("truncated" in str(error) or ends_in_a_number):
            raise Error(f"{path} is cut off after {len(content)} bytes: its end is missing") from None
        raise Error(f"{path} holds no JSON ({error}); {EXPECTED}") from None
    for each, signs in SIGNS.items():
        if signs <= members.keys():
            return each
    raise Error(f"{path} holds other JSON; {EXPECTED}")


def one_kind(paths: list[Path]) -> Kind:
    """What all files hold; Error if they differ."""
    kinds = {path: kind(path) for path in paths}
    first, *_ = kinds.items()
    for path, each in kinds.items():
        if each is not first[1]:
            raise Error(
                f"{first[0]} holds {first[1].value}, {path} {each.value}; expected files of one kind: make two pages"
            )
    return first[1]
