# SPDX-License-Identifier: BSD-3-Clause
"""GOAL as others write it, read: see rondo.schedules.goal."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rondo.errors import Error

MOST_RANKS = 1 << 16
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ON = r"(?:\s+cpu\s+\d+)?(?:\s+nic\s+\d+)?"
LABEL = r"[a-zA-Z]\w*"
TRANSFER = re.compile(
    rf"(?:(?P<label>{LABEL})\s*:\s*)?(?P<verb>send|recv)\s+(?P<size>\d+)\s*b\s+(?P<way>to|from)\s+(?P<peer>-1|\d+)"
    rf"(?:\s+tag\s+(?P<tag>-1|\d+))?{ON}"
)
CALC = re.compile(rf"(?:(?P<label>{LABEL})\s*:\s*)?calc\s+(?P<size>\d+){ON}")
WAIT = re.compile(rf"(?P<label>{LABEL})\s+(?P<which>i?requires)\s+(?P<other>{LABEL})")
RANKS = re.compile(r"num_ranks\s+(\d+)")
RANK = re.compile(r"rank\s+(\d+)\s*\{")


@dataclass
class Operation:
    """Of one rank."""

    kind: str
    """send, recv or calc."""
    name: str
    """Its label, or its line."""
    size: int
    """Bytes; of a calc, a time."""
    peer: int = -1
    tag: int = 0
    completed: list[int] = field(default_factory=list)
    """Operations of the rank that must have completed before it starts."""
    started: list[int] = field(default_factory=list)
    """Those that must have started."""


@dataclass
class Goal:
    """A whole schedule: the operations of each rank."""

    ranks: list[list[Operation]]


def read(text: str, name: str) -> Goal:
    """The schedule in the text of a file; Error("<name>:<line>: ...") for what is none."""
    return _Reader(name).read(text)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._line = 0
        self._ranks: dict[int, list[Operation]] = {}
        self._number: int | None = None
        self._rank: int | None = None
        self._labels: dict[str, int] = {}

    def read(self, text: str) -> Goal:
        # A comment may go over several lines, which still count.
        plain = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
        for self._line, line in enumerate(plain.split("\n"), 1):
            self._read_line(line.strip())
        if self._number is None:
            raise self._error("the file is cut off: expected num_ranks")
        if self._rank is not None:
            raise self._error(f"the file is cut off: expected }} at the end of rank {self._rank}")
        missing = next((rank for rank in range(self._number) if rank not in self._ranks), None)
        if missing is not None:
            raise self._error(f"rank {missing} of {self._number} is missing")
        return Goal([self._ranks[rank] for rank in range(self._number)])

    def _error(self, what: str) -> Error:
        return Error(f"{self._name}:{self._line}: {what}")

    def _read_line(self, line: str) -> None:
        if not line:
            return
        if self._number is None:
            self._read_number(line)
        elif self._rank is None:
            self._open(line)
        elif line == "}":
            self._rank = None
        elif wait := WAIT.fullmatch(line):
            self._add_wait(wait)
        elif found := TRANSFER.fullmatch(line) or CALC.fullmatch(line):
            self._add_operation(found)
        else:
            raise self._error(f"{line[:60]!r} is no operation; expected send, recv, calc, requires, irequires or }}")

    def _read_number(self, line: str) -> None:
        found = RANKS.fullmatch(line)
        if found is None:
            raise self._error(f"{line[:60]!r}; expected num_ranks, as in num_ranks 8")
        self._number = int(found[1])
        if not 1 <= self._number <= MOST_RANKS:
            raise self._error(f"num_ranks {self._number}: expected 1 to {MOST_RANKS}")

    def _open(self, line: str) -> None:
        found = RANK.fullmatch(line)
        if found is None:
            raise self._error(f"{line[:60]!r}; expected a rank, as in rank 0 {{")
        rank = int(found[1])
        assert self._number is not None
        if rank >= self._number:
            raise self._error(f"rank {rank} of {self._number}: expected 0 to {self._number - 1}")
        if rank in self._ranks:
            raise self._error(f"rank {rank} is there twice")
        self._rank, self._ranks[rank], self._labels = rank, [], {}

    def _add_operation(self, found: re.Match[str]) -> None:
        assert self._rank is not None and self._number is not None
        words = found.groupdict()
        label = words["label"]
        operations = self._ranks[self._rank]
        if label is not None:
            if label in self._labels:
                raise self._error(f"the label {label} is there twice in rank {self._rank}")
            self._labels[label] = len(operations)
        operation = Operation(words.get("verb") or "calc", label or f"line {self._line}", int(words["size"]))
        if operation.kind != "calc":
            self._read_peer(operation, words)
        operations.append(operation)

    def _read_peer(self, operation: Operation, words: dict[str, str | None]) -> None:
        assert self._number is not None
        if words["way"] != ("to" if operation.kind == "send" else "from"):
            raise self._error(f"{operation.kind} {words['way']}; expected send to, or recv from")
        operation.peer, operation.tag = int(words["peer"] or 0), int(words["tag"] or 0)
        if -1 in (operation.peer, operation.tag):
            raise self._error("-1, any rank or any tag: times alone decide what matches it, so it is not checked")
        if operation.peer >= self._number:
            raise self._error(f"rank {operation.peer} of {self._number}: expected 0 to {self._number - 1}")

    def _add_wait(self, found: re.Match[str]) -> None:
        assert self._rank is not None
        for label in (found["label"], found["other"]):
            if label not in self._labels:
                raise self._error(f"{label} is no label that stands above in rank {self._rank}")
        operation = self._ranks[self._rank][self._labels[found["label"]]]
        waits = operation.completed if found["which"] == "requires" else operation.started
        waits.append(self._labels[found["other"]])
