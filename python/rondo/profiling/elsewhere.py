# SPDX-License-Identifier: BSD-3-Clause
"""What the collectives of a profiled program would take on another machine, or on more ranks.

All of it is virtual time: nothing that the profile measured counts but which calls there were. A call has as many bytes
as in the profile, and a rank makes as many calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rondo.errors import Error
from rondo.profiling import calls
from rondo.profiling.profile import Line, Profile
from rondo.selection import call_words, explanation, native
from rondo.selection.call import Call
from rondo.selection.candidates import Candidate

MOST_KINDS = 60
"""That are predicted: those with the most bytes."""


@dataclass(frozen=True)
class Job:
    """Where the program would run."""

    ranks_on: tuple[int, ...]
    """Of each node."""
    library: str
    """What MPI_Get_library_version says."""
    machine: str
    """Text of the machine file."""
    network: str = ""
    """As rondo._core reads it; empty: messages share no links."""
    placement: str = "block"


@dataclass(frozen=True)
class Kind:
    """Calls that are alike."""

    call: Call
    calls: int
    """Of a rank."""
    native: Candidate | None
    """What the library does itself; None: nobody knows what that is."""
    best: Candidate | None
    """The algorithm that is predicted to take the least; None: none serves such calls."""

    @property
    def bytes(self) -> int:
        """Of the whole vector."""
        return self.call.elements * self.call.element_bytes

    def seconds(self, candidate: Candidate | None) -> float | None:
        """Of all calls of a rank; None where nobody knows."""
        return self.calls * candidate.seconds if candidate is not None and candidate.seconds is not None else None

    @property
    def gain(self) -> float:
        """Seconds of a rank; 0 where the library is as fast, or nobody knows."""
        by_library, by_rondo = self.seconds(self.native), self.seconds(self.best)
        return max(by_library - by_rondo, 0.0) if by_library is not None and by_rondo is not None else 0.0


@dataclass(frozen=True)
class Elsewhere:
    """Of a program."""

    kinds: tuple[Kind, ...]
    """What takes the longest first."""
    left_out: tuple[str, ...]
    """Sentences: which calls are not among them, and why."""

    @property
    def unknown(self) -> tuple[Kind, ...]:
        """Those of which nobody knows what the library takes."""
        return tuple(each for each in self.kinds if each.seconds(each.native) is None)

    @property
    def by_library(self) -> float:
        """Seconds of a rank in all others."""
        return sum(each.seconds(each.native) or 0.0 for each in self.kinds)

    @property
    def with_rondo(self) -> float:
        """The same where Rondo has the calls in which it is faster."""
        return self.by_library - sum(each.gain for each in self.kinds)


def predicted(
    profile: Profile,
    job: Job,
    rules: Path | None,
    *,
    most_messages: int,
    look: Callable[[int, int], None] = lambda _number, _all: None,
) -> Elsewhere:
    """The program of a profile in another job. `rules`: what its library does itself; None: nobody knows.

    `look` is told the number of the kind that comes now, from 1 on, and how many there are.
    """
    counted: dict[Call, int] = {}
    reasons: dict[str, int] = {}
    for line in profile.lines:
        reason = _why_not(profile, line, job)
        if reason:
            reasons[reason] = reasons.get(reason, 0) + line.calls
            continue
        call = moved(profile, line, job)
        counted[call] = counted.get(call, 0) + line.calls
    order = sorted(counted, key=lambda each: -counted[each] * each.elements * each.element_bytes)
    for call in order[MOST_KINDS:]:
        reason = "which move few bytes beside the others"
        reasons[reason] = reasons.get(reason, 0) + counted[call]
    kinds = []
    for number, call in enumerate(order[:MOST_KINDS], start=1):
        look(number, min(len(order), MOST_KINDS))
        kinds.append(_kind(call, counted[call], job, rules, most_messages))
    kinds.sort(key=lambda each: -max(each.seconds(each.native) or 0.0, each.seconds(each.best) or 0.0))
    return Elsewhere(tuple(kinds), tuple(f"{number} calls {reason}" for reason, number in reasons.items()))


def _why_not(profile: Profile, line: Line, job: Job) -> str:
    """Why the calls of a line are not predicted, as the end of a sentence; empty if they are."""
    communicator = profile.communicators[line.communicator]
    if not line.collective:
        return f"of {line.function}, for which Rondo has no algorithm"
    if not calls.is_blocking(line):
        return "that do not block: how much of them is hidden is not known"
    if communicator.size <= 1:
        return "on communicators of one rank, or of none that is known"
    is_larger = communicator.size > sum(job.ranks_on) or communicator.nodes > len(job.ranks_on)
    if is_larger and not _is_of_all(profile, line):
        return (
            f"on communicators of {communicator.size} ranks on {communicator.nodes} nodes, which the job does not have"
        )
    traits = call_words.traits_of(line.collective)
    if traits["local_lengths"]:
        return f"of {line.function}, whose lengths no rank knows"
    if traits["has_data"] and line.bytes == 0:
        return "of no bytes"
    return ""


def _is_of_all(profile: Profile, line: Line) -> bool:
    return profile.communicators[line.communicator].size == len(profile.ranks)


def moved(profile: Profile, line: Line, job: Job) -> Call:
    """A call of the mean length of a line, in another job.

    What all ranks call, all ranks of the job call; other communicators have the ranks and nodes that they had. Where
    ranks have parts, these stay as long.
    """
    call = calls.call_of(profile, line)
    if _is_of_all(profile, line):
        elements = call.elements
        if call_words.has_parts(call_words.traits_of(line.collective)):
            elements = max(1, elements // call.processes) * sum(job.ranks_on)
        call = dataclasses.replace(
            call, ranks_on=job.ranks_on, elements=elements, root=min(call.root, sum(job.ranks_on) - 1)
        )
    network = job.network if len(call.ranks_on) > 1 else ""
    return dataclasses.replace(call, library=job.library, network=network, placement=job.placement)


def _kind(call: Call, number: int, job: Job, rules: Path | None, most_messages: int) -> Kind:
    try:
        found = explanation.by_texts(call, "", None, job.machine, {}, most_messages=most_messages)
        own = native.candidate(call, rules, job.machine, most_messages=most_messages) if rules is not None else None
    except Error as error:
        raise Error(f"{call.collective} on {call.nodes}: {error}") from None
    best = next((each for each in found.candidates if each.seconds is not None), None)
    return Kind(call, number, own, best)
