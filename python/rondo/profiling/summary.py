# SPDX-License-Identifier: BSD-3-Clause
"""What a profile comes to: where the time of a mean rank goes, by function, by call site, by size and by rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from rondo.profiling.profile import Line, Profile, Site

NOTICEABLE = 0.01
"""Of the run: what ranks wait less for is no imbalance worth a word."""
FAR = 0.5
"""Of the mean: a rank that waits less is one that others wait for."""
MOST_NAMED = 4

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Times:
    """Of a rank, or of the mean one. Seconds."""

    run: float
    in_mpi: float
    waiting: float
    """In collectives, before the last rank of the call came."""
    moving: float
    """In collectives, after that."""
    unsplit: float
    """In collectives that were not compared with the other ranks'."""
    completing: float
    """In MPI_Wait and its like, for collectives that do not block."""

    @property
    def collectives(self) -> float:
        """In collectives, altogether."""
        return self.waiting + self.moving + self.unsplit + self.completing

    @property
    def other(self) -> float:
        """In all other functions of MPI."""
        return max(self.in_mpi - self.collectives, 0.0)

    @property
    def computing(self) -> float:
        """Outside of MPI."""
        return max(self.run - self.in_mpi, 0.0)

    def share(self, seconds: float) -> float:
        """Of the run."""
        return seconds / self.run if self.run > 0 else 0.0


@dataclass(frozen=True)
class Total:
    """Of some lines. Seconds are means over all ranks that left a file, also over those that do not call."""

    lines: tuple[Line, ...]
    calls: int
    """Sum over the lines of those of the rank that made the most."""
    bytes: int
    """Likewise."""
    seconds: float
    waiting: float | None
    """None: nobody knows."""
    moving: float | None
    completing: float

    @property
    def unsplit(self) -> float:
        """Of the seconds: neither waiting nor moving, as far as anybody knows, nor completing."""
        return max(self.seconds - (self.waiting or 0.0) - (self.moving or 0.0) - self.completing, 0.0)

    @property
    def smallest(self) -> int:
        """Bytes of the shortest vector."""
        return min(each.smallest for each in self.lines)

    @property
    def largest(self) -> int:
        """Bytes of the longest vector."""
        return max(each.largest for each in self.lines)


def recorded(profile: Profile) -> int:
    """Ranks that left a file, at least 1: of others nothing is known, and they are in no mean."""
    return max(sum(each.run > 0 for each in profile.ranks), 1)


def total(profile: Profile, lines: Iterable[Line]) -> Total:
    """The sum of lines."""
    kept = tuple(lines)
    ranks = recorded(profile)
    shares = [share for each in kept for share in each.shares]
    return Total(
        lines=kept,
        calls=sum(each.calls for each in kept),
        bytes=sum(each.bytes for each in kept),
        seconds=sum(each.seconds for each in shares) / ranks,
        waiting=_sum_of_known((each.waiting for each in shares), ranks),
        moving=_sum_of_known((each.moving for each in shares), ranks),
        completing=sum(each.completing for each in shares) / ranks,
    )


def _sum_of_known(seconds: Iterable[float | None], ranks: int) -> float | None:
    known = [each for each in seconds if each is not None]
    return sum(known) / ranks if known else None


def grouped(profile: Profile, key: Callable[[Line], Key]) -> dict[Key, Total]:
    """Lines with the same key, added; those that take the longest first."""
    groups: dict[Key, list[Line]] = {}
    for each in profile.lines:
        groups.setdefault(key(each), []).append(each)
    totals = {name: total(profile, lines) for name, lines in groups.items()}
    return dict(sorted(totals.items(), key=lambda each: -each[1].seconds))


def mean(profile: Profile) -> Times:
    """Of the mean rank."""
    ranks = recorded(profile)
    whole = total(profile, profile.lines)
    return Times(
        run=sum(each.run for each in profile.ranks) / ranks,
        in_mpi=sum(each.in_mpi for each in profile.ranks) / ranks,
        waiting=whole.waiting or 0.0,
        moving=whole.moving or 0.0,
        unsplit=whole.unsplit,
        completing=whole.completing,
    )


def of_ranks(profile: Profile) -> list[Times]:
    """Of each rank."""
    seconds, waiting, moving, completing = ([0.0] * len(profile.ranks) for _ in range(4))
    for line in profile.lines:
        for share in line.shares:
            if share.rank >= len(profile.ranks):  # of a rank that left nothing else
                continue
            seconds[share.rank] += share.seconds
            waiting[share.rank] += share.waiting or 0.0
            moving[share.rank] += share.moving or 0.0
            completing[share.rank] += share.completing
    return [
        Times(rank.run, rank.in_mpi, waits, moves, max(whole - waits - moves - completes, 0.0), completes)
        for rank, whole, waits, moves, completes in zip(
            profile.ranks, seconds, waiting, moving, completing, strict=True
        )
    ]


def left_early(profile: Profile) -> float:
    """Seconds that the mean rank waits because others left a call later: what the critical path moves more than it."""
    known = [share for line in profile.lines for share in line.shares if share.critical is not None]
    critical = sum(each.critical or 0.0 for each in known)
    return max(critical - sum(each.moving or 0.0 for each in known) / recorded(profile), 0.0)


def waited_for(profile: Profile) -> list[int]:
    """Ranks that others wait for, the slowest first: those that wait far less than the mean, if that is worth a word.

    Only ranks that take part in collectives, and none if ranks come late in turn: then all wait alike.
    """
    times = of_ranks(profile)
    taking_part = [number for number, each in enumerate(times) if each.collectives > 0]
    if len(taking_part) < 2:
        return []
    waits = sum(times[each].waiting for each in taking_part) / len(taking_part)
    if waits < NOTICEABLE * mean(profile).run:
        return []
    slowest = [each for each in taking_part if times[each].waiting < FAR * waits]
    return sorted(slowest, key=lambda each: times[each].waiting)


def site_text(site: Site) -> str:
    """Where in the program, as short as can be: of Python the frame, else FILE:LINE, else what is known."""
    if site.frames:
        place, _, function = site.frames[0].partition(" in ")
        return " in ".join(filter(None, (place.rpartition("/")[2], function)))
    name, function = site.file.rpartition("/")[2], _function_text(site.function)
    if name:
        place = f"{name}:{site.line}" if site.line else name
        return f"{place} in {function}" if function else place
    if function:
        return f"{function} in {site.module}" if site.module else function
    return f"{site.module}+{site.offset:#x}" if site.module else "unknown place"


def _function_text(name: str) -> str:
    """Of C++ only the class and the function: Neighbor::check_distance."""
    plain = re.sub(r"\(.*\)( const)?$", "", name)
    return "::".join(plain.split("::")[-2:]) if "<" not in plain else plain
