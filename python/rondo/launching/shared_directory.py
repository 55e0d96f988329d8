# SPDX-License-Identifier: BSD-3-Clause
"""Directories for what ranks write: in the working directory, for ranks on other nodes see that too."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rondo.errors import Error


def new(prefix: str, what: str) -> Path:
    """A new directory, its name beginning with the prefix; Error, which says what it is for, if there can be none."""
    here = Path.cwd()
    try:
        return Path(tempfile.mkdtemp(prefix=prefix, dir=here))
    except OSError as error:
        raise Error(f"cannot make a directory for {what} in {here}: {error.strerror}") from None
