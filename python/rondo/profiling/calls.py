# SPDX-License-Identifier: BSD-3-Clause
"""A line of a profile as one call: what it asks of whom, which others are like it, and how long it moves data."""

from __future__ import annotations

import math
import statistics
from collections import Counter

from rondo import _core
from rondo.profiling import waiting
from rondo.profiling.profile import Communicator, Line, Profile
from rondo.selection.call import Call

FEW_BYTES = 63
"""Vectors of up to so many bytes take the same time."""
TO_ROOT = ("gather", "gatherv", "reduce")
"""Who is done when the root is. Other ranks may wait for late ones in between."""


def call_of(profile: Profile, line: Line) -> Call:
    """A call of the mean length of a line."""
    communicator = profile.communicators[line.communicator]
    element = max(line.element, 1)
    elements = round(line.bytes / max(line.calls, 1) / element)
    traits = next(each for each in _core.collectives() if each["name"] == line.collective)
    if not traits["has_data"]:
        elements = 1  # none would be a call that Rondo leaves alone
    if traits["all_to_all"] and elements:
        elements = max(round(elements / communicator.size), 1) * communicator.size
    return Call(
        collective=line.collective,
        ranks_on=ranks_on(profile, communicator),
        elements=elements,
        element_bytes=element,
        commutative=traits["has_operation"] and line.commutative,
        root=(line.root or 0) if traits["has_root"] else 0,
        library=profile.library,
        shared_memory=False,
    )


def ranks_on(profile: Profile, communicator: Communicator) -> tuple[int, ...]:
    """Of each node. Of communicators other than that of all ranks only the fullest node is known: others are even."""
    if communicator.size == len(profile.ranks):
        return all_ranks_on(profile)
    first = min(communicator.ranks_per_node, communicator.size)
    others = max(communicator.nodes - 1, 0)
    if others == 0:
        return (communicator.size,)
    if first * communicator.nodes == communicator.size:
        return (first,) * communicator.nodes
    each, more = divmod(communicator.size - first, others)
    return (first, *(each + (number < more) for number in range(others)))


def all_ranks_on(profile: Profile) -> tuple[int, ...]:
    """Of each node, of the whole program."""
    return tuple(Counter(rank.node for rank in profile.ranks).values())


def kind_of(line: Line) -> tuple[object, ...]:
    """The same for lines whose calls are alike but for the place in the program, and a few bytes."""
    length = (line.bytes // max(line.calls, 1)).bit_length()
    return line.function, line.communicator, max(length, FEW_BYTES.bit_length()), line.commutative


def is_blocking(line: Line) -> bool:
    """How long others move data, nobody knows: what they take is waited for elsewhere, or covered by computing."""
    return not line.function.startswith("MPI_I") and not line.function.removesuffix("_c").endswith("_init")


def moving_per_call(line: Line, communicator: Communicator) -> float:
    """Seconds on the rank that moves the longest; of several communicators alike, as many ranks have a say."""
    shares = [each for each in line.shares if each.sampled > 0 and each.calls > 0]
    if line.collective in TO_ROOT and communicator.made_by == "MPI_COMM_WORLD":
        shares = [each for each in shares if each.rank == line.root]
    found = sorted((each.moving or 0.0) / each.calls for each in shares)
    if line.collective in TO_ROOT and len(found) > 1:  # nobody knows which rank of all is the root
        return statistics.median(found)
    groups = max(1, min(communicator.number, len(found) // max(communicator.size, 1)))
    slowest = found[-groups:]
    return sum(slowest) / len(slowest) if slowest else math.nan


def mean_moving(line: Line) -> float:
    """Seconds of the mean rank of those that call; 0 where nobody knows."""
    return sum(each.moving or 0.0 for each in line.shares) / len(line.shares) if line.shares else 0.0


def critical_moving(line: Line) -> float:
    """Seconds on the critical path of the run; where nobody knows it, those of the mean rank.

    Of broadcasts and scans not more than those of the mean rank. Their ranks wait in the call for others that pass the
    data on and come late: the path may lead over these.
    """
    known = [each.critical for each in line.shares if each.critical is not None]
    if not known:
        return mean_moving(line)
    passed_on = line.function.removesuffix("_c") in waiting.FROM_ROOT | waiting.FROM_LOWER
    return min(sum(known), mean_moving(line)) if passed_on else sum(known)
