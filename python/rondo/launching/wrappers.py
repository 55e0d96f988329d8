# SPDX-License-Identifier: BSD-3-Clause
"""Programs that stand in front of another and start it: env, nice, taskset and the like."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

PRELOAD = "LD_PRELOAD"
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Start:
    """A program that is started: its words, where, and in which environment."""

    words: list[str]
    directory: str | None
    environment: dict[str, str]
    takes_preload: str | None = None
    """What stands before the program and takes Rondo's LD_PRELOAD away from it, if anything does."""

    def after(self, words: Sequence[str]) -> Start:
        """The same with other words."""
        return dataclasses.replace(self, words=list(words))

    def inside(self, directory: str) -> Start:
        """The same in a directory; a relative one counts from where it was."""
        return dataclasses.replace(self, directory=str(Path(self.directory or ".") / directory))

    def with_variable(self, name: str, value: str, written: str) -> Start:
        """The same with an environment variable, which was `written` so."""
        keeps = name != PRELOAD or PRELOAD in written.partition("=")[2] or "librondo" in value
        return self._changed({**self.environment, name: value}, None if keeps else written)

    def without_variable(self, name: str, written: str) -> Start:
        """The same without an environment variable, which `written` takes away."""
        rest = {key: value for key, value in self.environment.items() if key != name}
        return self._changed(rest, written if name == PRELOAD else None)

    def without_environment(self, written: str) -> Start:
        """The same with an empty environment, because of what was `written`."""
        return self._changed({}, written)

    def _changed(self, environment: dict[str, str], takes_preload: str | None) -> Start:
        return dataclasses.replace(self, environment=environment, takes_preload=takes_preload or self.takes_preload)


@dataclass(frozen=True)
class Wrapper:
    """How a wrapper's command line is read up to the program."""

    values: frozenset[str]
    """Its options that take a value, without dashes."""
    before: int = 0
    """How many words stand between the options and the program."""


def _wrapper(values: str = "", before: int = 0) -> Wrapper:
    return Wrapper(frozenset(values.split()), before)


# Sources: the manual pages of GNU coreutils 9, util-linux 2.38, GNU time 1.9, numactl 2.0; TACC's user guides.
WRAPPERS = {
    "chrt": _wrapper("T P D sched-runtime sched-period sched-deadline", before=1),
    "ionice": _wrapper("c n class classdata"),
    "nice": _wrapper("n adjustment"),
    "nohup": _wrapper(),
    "numactl": _wrapper(
        "i interleave w weighted-interleave N cpunodebind C physcpubind c cpubind m membind p preferred "
        "P preferred-many"
    ),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("i input o output e error"),
    "tacc_affinity": _wrapper(),
    "task_affinity": _wrapper(),
    "taskset": _wrapper(before=1),
    "time": _wrapper("f format o output"),
    "timeout": _wrapper("k kill-after s signal", before=1),
}
ENV = _wrapper("u unset C chdir S split-string")


def behind(start: Start) -> Start | None:
    """What a wrapper starts; None if the program is no wrapper that is known, or starts nothing."""
    name = Path(start.words[0]).name
    if name == "env":
        return _behind_env(start)
    if name not in WRAPPERS:
        return None
    _, first = options(start.words, WRAPPERS[name].values)
    words = start.words[first + WRAPPERS[name].before :]
    return start.after(words) if words else None


def options(words: Sequence[str], values: Iterable[str]) -> tuple[list[tuple[str, str]], int]:
    """The options after the first word, with their values ("" if none), and the position of the first other word."""
    found = []
    position = 1
    while position < len(words) and words[position].startswith("-") and words[position] != "-":
        word = words[position]
        position += 1
        if word == "--":
            break
        name, equals, value = word[2:].partition("=")
        if not word.startswith("--"):  # letters, the last of which may have a value
            with_value = next((index for index, letter in enumerate(word) if index and letter in values), len(word) - 1)
            found += [(letter, "") for letter in word[1:with_value]]
            name, equals, value = word[with_value], word[with_value + 1 :], word[with_value + 1 :]
        if name in values and not equals and position < len(words):
            value = words[position]
            position += 1
        found.append((name, value))
    return found, position


def _behind_env(start: Start) -> Start | None:
    found, first = options(start.words, ENV.values)
    words = start.words[first:]
    for name, value in found:
        if name in ("S", "split-string"):
            return _behind_env(start.after([start.words[0], *shlex.split(value), *words]))
        if name in ("i", "ignore-environment"):
            start = start.without_environment("env -i")
        elif name in ("u", "unset"):
            start = start.without_variable(value, f"env -u {value}")
        elif name in ("C", "chdir"):
            start = start.inside(value)
    if words and words[0] == "-":
        start, words = start.without_environment("env -"), words[1:]
    while words and (assignment := ASSIGNMENT.match(words[0])):
        start = start.with_variable(*assignment.groups(), written=words[0])
        words = words[1:]
    return start.after(words) if words else None
