# SPDX-License-Identifier: BSD-3-Clause
"""Rules files as commands name them."""

from __future__ import annotations

from pathlib import Path

from rondo.errors import Error
from rondo.launching import installation

NO_RULES = "none"
VARIABLE = "RONDO_RULES"


def find(named: str | None) -> Path | None:
    """The path of the rules that are named, else of those that come with Rondo; None for none."""
    if named == NO_RULES:
        return None
    return Path(named) if named is not None else installation.DEFAULT_RULES


def shown(rules: Path | None) -> str:
    """The name of a rules file for people."""
    return rules.name if rules == installation.DEFAULT_RULES else str(rules)


def read(path: Path) -> str:
    """The text of a rules file; Error if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        hint = " (--rules none does without)" if path == installation.DEFAULT_RULES else ""
        raise Error(f"cannot read the rules {path}: {error.strerror}{hint}") from None
    except UnicodeDecodeError:
        raise Error(f"cannot read the rules {path}: not a text file") from None
