# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written in one go: a reader finds the old content or the new, never half of one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from rondo.errors import Error


def write_new(path: Path, content: bytes) -> bool:
    """Writes a file that is not there yet. False if it is, whoever made it; OSError if it cannot be written."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_bytes(content)
        try:
            os.link(partial, path)  # never in place of another file
        except FileExistsError:
            return False
        except OSError:  # a file system without links
            if path.exists():
                return False
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return True


def can_write(path: Path) -> bool:
    """Whether a file of that name can be written: it is there and may be, or it can be made."""
    return os.access(path if path.exists() else path.parent, os.W_OK)


def write(path: Path, content: bytes, hint: str = "") -> None:
    """Writes the file, in place of one that is there. Error if it cannot be; the hint says what to do then.

    What is no file (a pipe, a terminal, a device) is written to, and stays. So does a symbolic link, and a file in a
    directory that takes no other.
    """
    partial = None
    try:
        if path.exists() and not (path.is_file() and os.access(path.resolve().parent, os.W_OK)):
            path.write_bytes(content)
            return
        file = path.resolve()
        partial = file.with_name(f".{path.name}.{os.getpid()}.partial")
        partial.write_bytes(content)
        partial.replace(file)
    except OSError as error:
        if partial is not None:
            with contextlib.suppress(OSError):  # it may be below a file
                partial.unlink(missing_ok=True)
        raise Error(f"cannot write {path}: {error.strerror}{hint}") from None
