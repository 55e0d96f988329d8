# SPDX-License-Identifier: BSD-3-Clause
"""What users say about all calls of a collective, above the rules."""

from __future__ import annotations

from rondo import _core
from rondo.errors import Error


def variable_of(collective: str) -> str:
    """The environment variable by which a rank learns what to do with a collective."""
    return f"RONDO_{collective.upper()}"


def checked(collective: str, choice: str, given_as: str) -> str:
    """The choice with every setting written out; Error if it is wrong."""
    try:
        text: str = _core.check_choice(collective, choice)
    except ValueError as error:
        raise Error(f"{given_as}: {error}") from None
    return text
