# SPDX-License-Identifier: BSD-3-Clause
"""Which calls the rules left to the library in earlier runs with --learn: a file beside that of the verdicts.

The guard says nothing of such calls. Whoever changes the file holds the lock of the verdicts meanwhile: two runs that
end at once lose nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from rondo import _core
from rondo.errors import Error
from rondo.selection import learned

SUFFIX = ".calls.json"


class Calls(msgspec.Struct, frozen=True, order=True):
    """That the rules left to the library in an earlier run."""

    collective: str
    lowest: int
    """Bytes of the shortest."""
    highest: int
    """The same of the longest."""


class Seen(msgspec.Struct):
    """What reports of earlier runs have shown."""

    ranks_on: list[int] = []
    """Of each node, in the last of them."""
    calls: list[Calls] = []
    shared_memory: bool = False
    """Whether ranks of a node passed messages through memory that they share, in the last of them."""


def path_beside(verdicts: Path) -> Path:
    """Where it is, of a file of verdicts."""
    return verdicts.with_name(verdicts.name.removesuffix(learned.SUFFIX) + SUFFIX)


def verdicts_beside(seen: Path) -> Path:
    """The other way round."""
    return seen.with_name(seen.name.removesuffix(SUFFIX) + learned.SUFFIX)


def read(verdicts: Path) -> Seen:
    """What was seen, of a file of verdicts; nothing if that cannot be read."""
    with contextlib.suppress(OSError, msgspec.DecodeError):  # it is found out again
        return msgspec.json.decode(path_beside(verdicts).read_bytes(), type=Seen)
    return Seen()


def change(verdicts: Path, changed: Callable[[Seen], Seen]) -> None:
    """Reads it, and writes what becomes of it; Error if that is lost."""
    with learned.locked(verdicts):
        path, content = path_beside(verdicts), msgspec.json.encode(changed(read(verdicts))) + b"\n"
        error = _core.write_shared(str(path), content)
        if error:
            raise Error(f"cannot write {path}: {os.strerror(error)}; what was learned is lost")


def forget(verdicts: Path, collective: str | None) -> int:
    """Forgets the calls of a collective, None: of all; how many ranges of lengths these were."""
    if not path_beside(verdicts).exists():
        return 0
    before: list[Calls] = []

    def without(seen: Seen) -> Seen:
        before.extend(each for each in seen.calls if collective in (None, each.collective))
        return Seen(seen.ranks_on, [each for each in seen.calls if each not in before], seen.shared_memory)

    change(verdicts, without)
    return len(before)


def add(source: Path, target: Path) -> None:
    """Adds what is beside one file of verdicts to what is beside another."""
    if not path_beside(source).exists():
        return
    other = read(source)
    change(
        target,
        lambda seen: Seen(
            seen.ranks_on or other.ranks_on,
            merged([*seen.calls, *other.calls]),
            seen.shared_memory if seen.ranks_on else other.shared_memory,
        ),
    )


def merged(calls: Sequence[Calls]) -> list[Calls]:
    """Ranges that overlap become one, in each class of a report."""
    found: list[Calls] = []
    for each in sorted(set(calls)):
        last = found[-1] if found else None
        if last is not None and last.collective == each.collective and each.lowest <= last.highest:
            found[-1] = Calls(each.collective, last.lowest, max(last.highest, each.highest))
        else:
            found.append(each)
    return found
