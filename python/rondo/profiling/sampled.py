# SPDX-License-Identifier: BSD-3-Clause
"""What the sampled calls of all ranks say beside each other: waiting, moving, and the critical path.

The *critical path* is what decides how long the run takes: from its end backwards, on each rank to the call before, and
in each call to the rank that this one waited for. (Böhme and others: Scalable critical-path based performance analysis,
IPDPS 2012.) A call that moves data faster shortens the run by what it saves on this path. Ranks beside the path wait
longer instead.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rondo.profiling import waiting
from rondo.profiling.image import Image, Sample

Key = tuple[int, int, int]
"""The same on all ranks of a call."""
Clock = Callable[[Image, int], float]
"""Seconds of a tick of a rank, on the common clock."""


@dataclass
class Sampled:
    """Sampled calls of a rank that were compared with the other ranks', weighted by what they stand for. Seconds."""

    calls: int = 0
    seconds: float = 0.0
    waiting: float = 0.0
    critical: float = 0.0
    """Of moving: on the critical path."""


@dataclass(frozen=True)
class _Call:
    """A call that all of its ranks have sampled, by their numbers in the communicator."""

    samples: Mapping[int, tuple[Image, Sample]]
    entries: Mapping[int, float]
    awaited: Mapping[int, int]

    def split(self, rank: int, clock: Clock) -> tuple[float, float]:
        """Seconds of waiting and of moving on a rank."""
        each, sample = self.samples[rank]
        return waiting.split(self.entries[rank], clock(each, sample.exit), self.entries[self.awaited[rank]])


def compared(images: Sequence[Image], clock: Clock) -> dict[tuple[int, int], Sampled]:
    """By rank and number of the rank's line."""
    calls: dict[Key, list[tuple[Image, Sample]]] = defaultdict(list)
    for each in images:
        for sample in each.samples:
            calls[_key(each, sample)].append((each, sample))
    found: dict[tuple[int, int], Sampled] = defaultdict(Sampled)
    for some in calls.values():
        call = _whole(some, clock)
        if call is None:
            continue
        for rank, (each, sample) in call.samples.items():
            waits, moves = call.split(rank, clock)
            mine = found[each.owner.rank, sample.line]
            mine.calls += 1
            mine.seconds += sample.stands_for * (waits + moves)
            mine.waiting += sample.stands_for * waits
    _follow_critical_path(images, calls, clock, found)
    return found


def _key(each: Image, sample: Sample) -> Key:
    return each.instances[sample.instance].id, sample.counter, sample.number


def _whole(some: Sequence[tuple[Image, Sample]], clock: Clock) -> _Call | None:
    """None: of a rank there is no sample."""
    first, sample = some[0]
    line = first.lines[sample.line]
    samples = {each.instances[one.instance].rank: (each, one) for each, one in some}
    if not len(samples) == len(some) == first.instances[sample.instance].size:
        return None
    if line.root >= 0 and line.root not in samples:
        return None
    entries = {rank: clock(each, one.entry) for rank, (each, one) in samples.items()}
    return _Call(samples, entries, waiting.awaited(first.functions[line.function].name, line.root, entries))


def _follow_critical_path(
    images: Sequence[Image],
    calls: Mapping[Key, Sequence[tuple[Image, Sample]]],
    clock: Clock,
    found: Mapping[tuple[int, int], Sampled],
) -> None:
    """Adds what lies on the path. Between sampled calls it is taken to stay on the rank."""
    order = {each.owner.rank: sorted(each.samples, key=_entry) for each in images if each.samples}
    if not order:
        return
    here = max((each for each in images if each.samples), key=lambda each: clock(each, order[each.owner.rank][-1].exit))
    place = len(order[here.owner.rank]) - 1
    seen = set()  # threads may call in another order on each rank: no call twice
    while place >= 0:
        sample = order[here.owner.rank][place]
        key = _key(here, sample)
        call = _whole(calls[key], clock) if key not in seen else None
        seen.add(key)
        if call is not None:
            rank = here.instances[sample.instance].rank
            found[here.owner.rank, sample.line].critical += sample.stands_for * call.split(rank, clock)[1]
            here, sample = call.samples[call.awaited[rank]]
            place = bisect_left(order[here.owner.rank], sample.entry, key=_entry)
        place -= 1


def _entry(sample: Sample) -> int:
    return sample.entry
