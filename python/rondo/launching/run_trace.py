# SPDX-License-Identifier: BSD-3-Clause
"""What ranks of a real run did when: the traces that they leave, merged into one that Perfetto opens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from rondo import whole_file
from rondo.forms import BLOCKING, LABELS
from rondo.schedules import trace_events
from rondo.schedules.trace_events import Slice

VARIABLE = "RONDO_TRACE"
SUFFIX = ".trace"
NANOSECONDS = 1e-9
CALL, RECEIVE, SEND, COMBINE, COPY = range(5)
"""Kinds of events, as rondo/backends/mpi/trace.hpp has them."""


class Treatment(msgspec.Struct):
    """What became of calls."""

    collective: str
    algorithm: str
    reason: str
    form: str

    @property
    def name(self) -> str:
        """What a slice is called: allreduce/ring."""
        return f"{LABELS[self.form or BLOCKING].format(self.collective)}/{self.algorithm}"


class Head(msgspec.Struct):
    """Whose trace a file is."""

    rank: int
    size: int
    host: str
    boot: str
    """Equal on all ranks with the same clock."""
    epoch: int
    """Nanoseconds since 1970 at the zero of the clock."""
    lost: int
    """Events for which there was no room."""
    treatments: list[Treatment]


class Happening(NamedTuple):
    """A line of the file."""

    kind: int
    treatment: int
    peer: int
    tag: int
    step: int
    bytes: int
    start: int
    end: int


class RankTrace(NamedTuple):
    """Of one rank."""

    head: Head
    events: list[Happening]


class Trace(NamedTuple):
    """Of all ranks."""

    ranks: list[RankTrace]
    unreadable: list[str]
    """Files that could not be read, with the reason."""

    def text(self) -> str:
        """What Perfetto opens."""
        head = {"ranks": len(self.ranks), "library": "rondo run"}
        return trace_events.text(self._slices(), (each.head.rank for each in self.ranks), head)

    def summary(self) -> list[str]:
        """What there is and what is missing, in lines."""
        kinds = [event.kind for rank in self.ranks for event in rank.events]
        lines = [f"{kinds.count(CALL)} calls and {kinds.count(SEND)} messages of {len(self.ranks)} ranks"]
        size = max((each.head.size for each in self.ranks), default=0)
        missing = sorted(set(range(size)) - {each.head.rank for each in self.ranks})
        if missing or not self.ranks:
            lines.append(f"no trace of {'ranks ' + ', '.join(map(str, missing)) if missing else 'any rank'}: they were "
                         "killed, or had no MPI")  # fmt: skip
        full = [each for each in self.ranks if each.head.lost]
        if full:
            least, most = (function(each.head.lost for each in full) for function in (min, max))
            lines.append(f"{len(full)} ranks had no room for their last {least} to {most} events")
        return lines + [f"unreadable trace {each}" for each in self.unreadable]

    def _slices(self) -> Iterator[Slice]:
        zeros = _zeros([each.head for each in self.ranks])
        starts = [
            zeros[rank.head.boot] + min(event.start for event in rank.events) for rank in self.ranks if rank.events
        ]
        first = min(starts, default=0)
        numbers = _numbers_of_messages(self.ranks)
        for rank in self.ranks:
            for place, event in enumerate(rank.events):
                yield _slice(rank.head, event, zeros[rank.head.boot] - first, numbers.get((rank.head.rank, place)))


def read(directory: Path) -> Trace:
    """The traces in a directory; files that cannot be read are named in the result."""
    ranks, unreadable = [], []
    for path in sorted(directory.glob(f"*{SUFFIX}")):
        try:
            ranks.append(_decoded(path.read_bytes()))
        except (OSError, ValueError, TypeError) as error:  # msgspec's are among them
            unreadable.append(f"{path.name}: {error}")
    return Trace(sorted(ranks, key=lambda each: each.head.rank), unreadable)


def write(trace: Trace, path: Path) -> None:
    """Writes the trace. Error if it cannot be written."""
    whole_file.write(path, trace.text().encode())


def _decoded(text: bytes) -> RankTrace:
    head, *lines = text.splitlines()
    return RankTrace(msgspec.json.decode(head, type=Head), [Happening(*map(int, line.split())) for line in lines])


def _zeros(heads: Sequence[Head]) -> Mapping[str, int]:
    """The zero of each clock. Ranks with one clock read another one at different moments, so the first one's counts."""
    zeros: dict[str, int] = {}
    for head in heads:
        zeros.setdefault(head.boot, head.epoch)
    return zeros


def _numbers_of_messages(ranks: Iterable[RankTrace]) -> Mapping[tuple[int, int], int]:
    """A number for each message of which both ends are there, by rank and place of the event.

    Messages of one call from one rank to another are received in the order in which they are sent.
    """
    ends: dict[tuple[int, int, int], tuple[list[tuple[int, int]], list[tuple[int, int]]]]
    ends = defaultdict(lambda: ([], []))
    for head, events in ranks:
        for place, event in sorted(enumerate(events), key=lambda pair: pair[1].start):
            if event.kind == SEND:
                ends[head.rank, event.peer, event.tag][0].append((head.rank, place))
            elif event.kind == RECEIVE:
                ends[event.peer, head.rank, event.tag][1].append((head.rank, place))
    pairs = (pair for sends, receives in ends.values() for pair in zip(sends, receives, strict=False))
    return {end: number for number, pair in enumerate(pairs) for end in pair}


def _slice(head: Head, event: Happening, zero: int, message: int | None) -> Slice:
    start, end = (NANOSECONDS * (zero + each) for each in (event.start, event.end))
    if event.kind == CALL:
        treatment = head.treatments[event.treatment]
        words = {"bytes": event.bytes} | ({"reason": treatment.reason} if treatment.reason else {})
        return Slice(head.rank, "calls", treatment.name, start, end, words)
    words = {"bytes": event.bytes, "step": event.step}
    if event.kind == SEND:
        return Slice(head.rank, "sends", f"send to {event.peer}", start, end, words, message)
    if event.kind == RECEIVE:  # it waits from the start, and the message is there at the end
        arrow = max(start, end - NANOSECONDS)
        return Slice(head.rank, "receives", f"receive from {event.peer}", start, end, words, message, arrow)
    return Slice(head.rank, "local", "combine" if event.kind == COMBINE else "copy", start, end, words)
