# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of Chrome's trace events, which Perfetto opens: what ranks did when, and arrows for their messages."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MICROSECONDS = 1e6
KINDS = ("calls", "receives", "sends", "local")

Event = dict[str, Any]


@dataclass(frozen=True)
class Slice:
    """What a rank does for a while."""

    rank: int
    kind: str
    """One of KINDS."""
    name: str
    start: float
    """Seconds, as all times here."""
    end: float
    words: dict[str, Any]
    message: int | None = None
    """Its number, by which both ends of the arrow are found."""
    arrow: float | None = None
    """When the arrow leaves, or comes in; None: at the start."""

    def events(self, track: int) -> Iterator[Event]:
        """The slice, and its end of the arrow of a message."""
        where = {"pid": self.rank, "tid": track}
        yield {
            **where, "ts": self.start * MICROSECONDS, "ph": "X", "name": self.name, "cat": self.kind,
            "dur": (self.end - self.start) * MICROSECONDS, "args": self.words,
        }  # fmt: skip
        if self.message is not None:
            end = {"ph": "s"} if self.kind == "sends" else {"ph": "f", "bp": "e"}
            at = (self.start if self.arrow is None else self.arrow) * MICROSECONDS
            yield {**where, "ts": at, **end, "name": "message", "cat": "message", "id": self.message}


def text(slices: Iterable[Slice], processes: Iterable[int], head: Mapping[str, Any]) -> str:
    """The trace: a process for each rank, with tracks for each kind. `head`: said of the whole."""
    events = [*_names(processes), *_on_tracks(slices)]
    return json.dumps({"displayTimeUnit": "ns", "otherData": head, "traceEvents": events}) + "\n"


def _names(processes: Iterable[int]) -> Iterator[Event]:
    for rank in processes:
        yield _said(rank, 0, "process_name", name=f"rank {rank}")
        yield _said(rank, 0, "process_sort_index", sort_index=rank)


def _said(rank: int, track: int, what: str, **words: Any) -> Event:
    return {"ph": "M", "pid": rank, "tid": track, "name": what, "args": words}


def _on_tracks(slices: Iterable[Slice]) -> Iterator[Event]:
    """Slices of one track must not overlap: a rank has as many tracks of a kind as there are slices at a time."""
    ends: dict[tuple[int, str], list[float]] = defaultdict(list)
    for each in sorted(slices, key=lambda one: (one.start, one.end)):
        busy = ends[each.rank, each.kind]
        free = next((number for number, end in enumerate(busy) if end <= each.start), len(busy))
        track = len(KINDS) * free + KINDS.index(each.kind)
        if free == len(busy):
            busy.append(each.end)
            yield _said(each.rank, track, "thread_name", name=each.kind)
        busy[free] = each.end
        yield from each.events(track)
