# SPDX-License-Identifier: BSD-3-Clause
"""What holds in programs: the site's configuration, and the variables of users above it."""

from __future__ import annotations

import contextlib
import platform
import shutil
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from rondo import _core
from rondo.errors import Error
from rondo.launching import abi

CONFIG = "RONDO_CONFIG"
NO_CONFIG = "none"
UNCONFIGURED = {CONFIG: NO_CONFIG}
"""For programs in which the configuration must not count."""
NATIVELY = {"RONDO_DISABLE": "1"}
"""For programs that must be without Rondo although the site preloads it into all."""
JOBS = "RONDO_JOBS"
FILTERS = ("RONDO_EXCEPT_HOSTS", "RONDO_EXCEPT_PROGRAMS", "RONDO_ONLY_HOSTS", "RONDO_ONLY_PROGRAMS")
HANDED_ON = (JOBS, "RONDO_PLAN_MEMORY", "RONDO_SHARED_MEMORY", *FILTERS)
"""Settings of a configuration that no option of a command stands for."""


@dataclass(frozen=True)
class Setting:
    """One of them, with what holds."""

    variable: str
    key: str
    """In the configuration; empty: the environment alone has it."""
    value: str
    """Empty: nothing."""
    origin: str
    """The variable, or the line of the configuration; empty: nobody said anything, and this is what holds then."""
    values: str
    """That may be said, for people."""
    meaning: str


@dataclass(frozen=True)
class InForce:
    """All settings, and what was wrong with them."""

    configuration: str
    """The path; empty: there is none."""
    usable: bool
    """False: the configuration cannot be read, and every call goes to the library."""
    settings: list[Setting]
    complaints: list[str]


def in_force(environment: Mapping[str, str], usual: str = _core.USUAL_CONFIGURATION) -> InForce:
    """What holds in a process with this environment."""
    found = _core.settings_in_force(dict(environment), usual)
    settings = []
    for each in _core.settings():
        value, origin = found["given"].get(each["variable"], (each["initial"], ""))
        settings.append(Setting(each["variable"], each["key"], value, origin, each["values"], each["meaning"]))
    return InForce(found["path"], found["usable"], settings, found["complaints"])


def left_out(program: str, environment: Mapping[str, str], usual: str = _core.USUAL_CONFIGURATION) -> str | None:
    """Which setting leaves a program's calls to the library on this host; None: none does.

    Of a script it is the interpreter that counts, the program of the process.
    """
    path = Path(shutil.which(program) or program)
    with contextlib.suppress(OSError):
        path = abi.interpreter_of(path, environment) or path
    path = Path(shutil.which(path) or path)
    reason: str | None = _core.leaves_out(dict(environment), usual, str(path.resolve()), platform.node())
    return reason


def take_over(environment: MutableMapping[str, str], usual: str = _core.USUAL_CONFIGURATION) -> None:
    """Adds to an environment what the configuration says and it does not, so that options have it as their default.

    Programs are told all that by variables then, and read no configuration. Error if it cannot be read.
    """
    if not environment.get(CONFIG) and not Path(usual).exists():
        return
    found = in_force(environment, usual)
    if not found.usable:
        raise Error(found.complaints[0].partition("; the native")[0] + f" ({CONFIG}={NO_CONFIG} does without)")
    if not found.configuration:
        return
    for each in found.settings:
        if each.origin and each.origin != each.variable:
            environment[each.variable] = each.value
    environment.update(UNCONFIGURED)
