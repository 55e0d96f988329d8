# SPDX-License-Identifier: BSD-3-Clause
"""Whether a schedule in GOAL comes to its end: all that can be said of one, for it has no data."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from rondo.errors import Error
from rondo.schedules.goal_text import Goal, Operation

Place = tuple[int, int]
"""Of an operation: rank and number."""


@dataclass(frozen=True)
class Counts:
    """What a schedule that is right does."""

    messages: int
    bytes: int
    rounds: int
    """Messages in the longest chain in which each waits for the one before."""
    needs_buffers: bool
    """Whether it stops if sends wait for their receivers."""


def check(goal: Goal, name: str) -> Counts:
    """Runs the schedule; Error, with rank and label, if messages do not match or operations wait for ever."""
    run = _Run(goal, name, synchronous=False)
    run.finish()
    strict = _Run(goal, name, synchronous=True)
    sends = [each for rank in goal.ranks for each in rank if each.kind == "send"]
    return Counts(len(sends), sum(each.size for each in sends), run.rounds, not strict.has_finished)


class _Run:
    def __init__(self, goal: Goal, name: str, *, synchronous: bool) -> None:
        self._goal = goal
        self._name = name
        self._synchronous = synchronous
        self._open = {
            (rank, number): len(each.completed) + len(each.started)
            for rank, operations in enumerate(goal.ranks)
            for number, each in enumerate(operations)
        }
        self._when_completed: dict[Place, list[Place]] = defaultdict(list)
        self._when_started: dict[Place, list[Place]] = defaultdict(list)
        self._levels: dict[Place, int] = dict.fromkeys(self._open, 0)
        self._sends: dict[tuple[int, int, int], deque[Place]] = defaultdict(deque)  # by sender, receiver and tag
        self._receives: dict[tuple[int, int, int], deque[Place]] = defaultdict(deque)
        self._unfinished = set(self._open)
        for rank, number in self._open:
            self._follow(rank, number)
        self._ready = deque(place for place, conditions in self._open.items() if conditions == 0)
        while self._ready:
            self._start(self._ready.popleft())

    @property
    def rounds(self) -> int:
        return max(self._levels.values(), default=0)

    @property
    def has_finished(self) -> bool:
        return not self._unfinished

    def finish(self) -> None:
        """Error for what is left."""
        self._expect_no_cycle()
        started = min((place for place in self._unfinished if self._open[place] == 0), default=None)
        if started is not None:
            receive = self._operation(started)
            raise self._error(started, f"waits for ever for a message of rank {receive.peer} with tag {receive.tag}")
        lost = min((places[0] for places in self._sends.values() if places), default=None)
        if lost is not None:
            raise self._error(lost, "no receive takes its message")

    def _operation(self, place: Place) -> Operation:
        return self._goal.ranks[place[0]][place[1]]

    def _error(self, place: Place, what: str) -> Error:
        operation = self._operation(place)
        kind = operation.kind if operation.kind == "calc" else f"{operation.kind} {operation.size}b"
        return Error(f"{self._name}: rank {place[0]}, {operation.name} ({kind}): {what}")

    def _follow(self, rank: int, number: int) -> None:
        operation = self._operation((rank, number))
        for each in operation.completed:
            self._when_completed[rank, each].append((rank, number))
        for each in operation.started:
            self._when_started[rank, each].append((rank, number))

    def _start(self, place: Place) -> None:
        operation = self._operation(place)
        self._open_next(place, self._when_started)
        if operation.kind == "calc":
            self._complete(place)
            return
        is_send = operation.kind == "send"
        ends = (place[0], operation.peer) if is_send else (operation.peer, place[0])
        key = (*ends, operation.tag)
        (self._sends if is_send else self._receives)[key].append(place)
        if is_send and not self._synchronous:
            self._complete(place)
        if self._sends[key] and self._receives[key]:
            self._match(self._sends[key].popleft(), self._receives[key].popleft())

    def _match(self, send: Place, receive: Place) -> None:
        sent, expected = self._operation(send), self._operation(receive)
        if sent.size != expected.size:
            raise self._error(receive, f"rank {send[0]}, {sent.name} sends {sent.size}b")
        self._levels[receive] = max(self._levels[receive], self._levels[send] + 1)
        if self._synchronous:
            self._complete(send)
        self._complete(receive)

    def _complete(self, place: Place) -> None:
        self._unfinished.discard(place)
        self._open_next(place, self._when_completed)

    def _open_next(self, place: Place, followers: dict[Place, list[Place]]) -> None:
        for each in followers.get(place, ()):
            self._levels[each] = max(self._levels[each], self._levels[place])
            self._open[each] -= 1
            if self._open[each] == 0:
                self._ready.append(each)

    def _expect_no_cycle(self) -> None:
        """Error if operations of a rank wait for one another in turn."""
        graph = {
            (rank, number): [(rank, each) for each in (*operation.completed, *operation.started)]
            for rank, number in sorted(self._unfinished)
            for operation in [self._operation((rank, number))]
        }
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as found:
            *others, first = found.args[1][1:]
            names = " and ".join(self._operation(each).name for each in others) or "nothing else"
            raise self._error(first, f"waits for itself, through {names}") from None
