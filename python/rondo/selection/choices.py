# SPDX-License-Identifier: BSD-3-Clause
"""Choices as users name them: about all calls of a collective, above the rules; or one algorithm of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rondo import _core
from rondo.bench.results import NATIVE
from rondo.errors import Error

OF_A_FILE = "file:"
"""Before the path of a schedule that another tool has written."""


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


def of_algorithm(algorithm: str, settings: tuple[str, ...] = ()) -> tuple[str, str]:
    """Collective, and choice with all settings, of COLLECTIVE/ALGORITHM; Error if there is no such thing."""
    collective, slash, choice = algorithm.partition("/")
    if not slash:
        known = [
            f"{one['name']}/{each['name']}" for one in _core.collectives() for each in _core.algorithms(one["name"])
        ]
        meant = [each for each in known if algorithm in each.split("/")] or _core.nearest(algorithm, known)
        hint = f"did you mean {' or '.join(meant[:3])}?" if meant else "`rondo list` shows what there is"
        raise Error(f"{algorithm!r} names no algorithm; expected COLLECTIVE/ALGORITHM; {hint}")
    if choice == NATIVE:
        raise Error(f"what the MPI library's own {collective} does is not known; expected one of Rondo's algorithms")
    for each in settings:
        choice += ("," if ":" in choice else ":") + each
    try:
        _core.check_choice(collective, choice)
    except ValueError as error:
        raise Error(str(error)) from None
    return collective, choice


def everywhere(choice: str) -> str:
    """The same, for processes in any working directory."""
    return OF_A_FILE + str(Path(choice.removeprefix(OF_A_FILE)).absolute()) if choice.startswith(OF_A_FILE) else choice


def schedule_in(choice: str) -> dict[str, Any] | None:
    """What `rondo import` says of the schedule, if a choice is one from a file; Error if that is wrong."""
    if not choice.startswith(OF_A_FILE):
        return None
    try:
        found: dict[str, Any] = _core.read_schedule(choice.removeprefix(OF_A_FILE))
    except ValueError as error:
        raise Error(str(error)) from None
    return found
