# SPDX-License-Identifier: BSD-3-Clause
"""Directories for what ranks write, where ranks on other nodes see them: in the working directory, if that can be."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from rondo.errors import Error
from rondo.selection import learned


def new(prefix: str, what: str, file: Path | None = None) -> Path:
    """A new directory, its name beginning with the prefix; Error, which says what it is for, if there can be none.

    Where the working directory cannot be written, it is beside `file`, in which the results go.
    """
    return made(what, lambda place: Path(tempfile.mkdtemp(prefix=prefix, dir=place)), file)


def made(what: str, make: Callable[[Path], Path], file: Path | None = None) -> Path:
    """What is made in the first place in which it can be made. Error if there is none."""
    problems = []
    for place in places(file):
        try:
            return make(place)
        except OSError as error:
            problems.append(f"{place}: {error.strerror}")
    raise Error(f"cannot make a directory for {what}: {'; '.join(problems)}")


def places(file: Path | None = None) -> Iterator[Path]:
    """The working directory, that of a file, the user's own, and one that only ranks of this node see."""
    with contextlib.suppress(OSError):  # it was removed
        yield Path.cwd()
    if file is not None:
        yield file.absolute().parent
    own = learned.default_directory(os.environ).parent
    with contextlib.suppress(OSError):  # whoever makes something in it is told why
        own.mkdir(parents=True, exist_ok=True)
    yield own
    yield Path(tempfile.gettempdir())
