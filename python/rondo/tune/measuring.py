# SPDX-License-Identifier: BSD-3-Clause
"""Measures cells in a box of time: all of them briefly, then those that are undecided again.

A launch measures one collective on one shape, with many lengths and candidates, since starting the ranks takes seconds.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rondo.bench import bench, plans
from rondo.bench.records import Collector
from rondo.bench.results import NATIVE, Configuration, Results
from rondo.errors import Error
from rondo.tune import cells, racing
from rondo.tune.cells import Cell, Shape
from rondo.tune.kept import Kept, shape_of
from rondo.tune.racing import State
from rondo.tune.sites import Site

WARMUPS = 1
FIRST_SHARE = 0.8
"""Of the time, for the first pass; the rest is for what that leaves undecided."""
MOST_TIMES = 3.0
"""As long as predicted a launch may last. Nobody predicts what native takes."""
FIRST_OVERHEAD = 10e-3
"""Seconds beside each repetition, until launches have shown what it is."""


Task = tuple[Site, list[State]]
"""Cells of one collective on one site."""
Wanted = Callable[[State], tuple[str, ...]]
"""Rondo's candidates that a pass measures."""


@dataclass(frozen=True)
class Launch:
    """What one start of the ranks measures."""

    site: Site
    collective: str
    wanted: dict[int, tuple[str, ...]]
    """Candidates by count."""
    repetitions: int

    @property
    def text(self) -> str:
        """For people."""
        lengths = f", {len(self.wanted)} lengths" if len(self.wanted) > 1 else ""
        return f"{self.collective} on {self.site.shape}{lengths}, {self.repetitions} repetitions"


@dataclass
class Progress:
    """What is told while it goes on. `launch` and `meanwhile` may show it."""

    say: Callable[[str], None] = lambda _: None
    launch: Callable[[Launch, float, float], None] = lambda *_: None
    """What begins, how long the box lasts still, and how long all that is open may take."""
    meanwhile: Callable[[Collector], None] = lambda _: None


@dataclass
class Ending:
    """How it ended."""

    exit_code: int = 0
    """Of the launcher, 128 + n after signal n; 0 if all went well, also if the box was too small."""
    problem: str = ""
    """What ended it, if that was no launcher."""
    missing: list[Cell] = field(default_factory=list)
    """Of which too little was measured to say anything."""
    undecided: list[Cell] = field(default_factory=list)
    """Without a rule; more repetitions may show that one pays."""
    improvable: list[Cell] = field(default_factory=list)
    """With a rule; more repetitions may show that another choice is still faster."""
    too_long: list[tuple[Cell, str]] = field(default_factory=list)
    """Candidates of which one repetition is predicted to take more than a cell's share of the box."""


class Race:
    """All cells on all sites."""

    def __init__(
        self, field_of: Sequence[tuple[Site, Sequence[Cell]]], kept: Kept, seconds: float, progress: Progress,
        command: str = "",
    ) -> None:  # fmt: skip
        """`seconds` from now on."""
        self._kept = kept
        self._progress = progress
        self._command = command
        self._deadline = time.monotonic() + seconds
        self._overhead = FIRST_OVERHEAD
        self._ending = Ending()
        self._found: dict[tuple[object, ...], State] = {}
        field_of = [(site, [_with_known(kept, site.shape, each) for each in some]) for site, some in field_of]
        open_cells = sum(
            bool(_new(each) or _open(each)) for site, some in field_of for each in self._states(site, some)
        )
        share = max(seconds, 0) / open_cells if open_cells else math.inf
        self._field = [
            (site, [self._within(share, each) for each in self._states(site, some)]) for site, some in field_of
        ]

    def run(self, *, confirm: bool = True) -> Ending:
        """Measures until all is decided, or the box is used up, or the launcher fails.

        `confirm`: what few repetitions have decided is measured again in the time that is left.
        """
        try:
            if self._passes(racing.NEXT_REPETITIONS):
                self._widen()
                if self._passes(racing.LAST_REPETITIONS) and confirm:
                    self._go_on()
        except KeyboardInterrupt:
            self._ending.exit_code = 130
        except Error as error:  # what was measured before is there
            self._ending.exit_code, self._ending.problem = error.exit_code, str(error)
        for state in self.states():
            if not state.cell.seconds:
                continue
            if not state.certain:
                self._ending.missing.append(state.cell)
            elif state.survivors:
                (self._ending.improvable if state.needs_a_rule else self._ending.undecided).append(state.cell)
        return self._ending

    def states(self) -> list[State]:
        """Of all cells."""
        return [each for site, some in self._field for each in self._states(site, some)]

    def _within(self, share: float, state: State) -> Cell:
        """The cell without candidates of which a repetition takes longer; those that were measured before stay."""
        cell = state.cell
        long = [each for each, seconds in cell.seconds.items() if seconds > share > 0]
        too_long = [each for each in long if each not in state.figures]
        self._ending.too_long += [(cell, each) for each in too_long]
        return dataclasses.replace(cell, seconds={c: s for c, s in cell.seconds.items() if c not in too_long})

    def _passes(self, repetitions: Sequence[int]) -> bool:
        """One for what was not measured, then some over what is undecided; whether to go on."""
        return self._stage(_new, racing.FIRST_REPETITIONS) and all(self._stage(_open, each) for each in repetitions)

    def _go_on(self) -> None:
        """Time is left still: more repetitions for what is undecided, and some in new launches for what is decided."""
        launches = -1
        while launches < len(self._kept.by_launch):  # the last pass has measured something
            launches = len(self._kept.by_launch)
            if not self._stage(_open_or_unconfirmed, racing.FURTHER_REPETITIONS):
                return

    def _widen(self) -> None:
        """Time is left: those that were predicted to lose take part as well, the best first, in equal shares of it."""
        share = self._left / max(sum(bool(each.others) for _, some in self._field for each in some), 1)
        self._field = [(site, [self._with_others(each, share) for each in some]) for site, some in self._field]

    def _with_others(self, cell: Cell, seconds: float) -> Cell:
        predicted = (cell.native_seconds, *cell.others.values())
        costs = itertools.accumulate(self._repeated(each, racing.FIRST_REPETITIONS) for each in predicted)
        number = sum(each <= seconds for each in costs) - 1
        return cell.with_choices(itertools.islice(cell.others, max(number, 0)))

    def _states(self, site: Site, some: Sequence[Cell]) -> list[State]:
        """Statistics take milliseconds: only what has new repetitions is looked at again."""
        error = self._kept.clock_error(site.shape)
        found = []
        for cell, configurations in _known(self._kept, site.shape, some):
            key = (
                cell.shape, cell.collective, cell.count, *cell.seconds,
                *((label, len(each.repetitions)) for label, each in configurations.items()),
            )  # fmt: skip
            if key not in self._found:
                self._found[key] = racing.state_of(cell, configurations, error)
            found.append(self._found[key])
        return found

    @property
    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _stage(self, wanted: Wanted, repetitions: int) -> bool:
        """One pass over all of which candidates are wanted; whether to go on.

        First every collective on every site gets an equal share of the time, for its shortest lengths; then what is
        left goes to the others, the cheapest first.
        """
        reserve = (1 - FIRST_SHARE) * self._left if wanted is _new else 0.0
        tasks = [
            (site, [each for each in states if wanted(each)])
            for site, some in self._field
            for states in _by_collective(self._states(site, some))
        ]
        tasks = [(site, states) for site, states in tasks if states]
        shared = True
        while tasks:
            rest: list[Task] = []
            measured = False
            for place, (site, states) in enumerate(tasks):
                share = (self._left - reserve) / (len(tasks) - place if shared else 1)
                chosen = self._affordable(states, wanted, repetitions, share - site.start_seconds)
                if chosen:
                    measured = True
                    launch = Launch(site, states[0].cell.collective, chosen, repetitions)
                    ahead = [each for _, later in [*tasks[place:], *rest] for each in later]
                    self._progress.launch(
                        launch, self._left, sum(self._cost(each, wanted, repetitions) for each in ahead)
                    )
                    here = [each for each in states if each.cell.count in chosen]
                    if not self._measure(launch, sum(self._cost(each, wanted, repetitions) for each in here)):
                        return False
                left = [each for each in states if each.cell.count not in chosen]
                rest += [(site, left)] if left else []
            if not shared and not measured:
                break
            shared = False
            tasks = sorted(rest, key=lambda task: min(self._cost(each, wanted, repetitions) for each in task[1]))
        return self._left > 0

    def _affordable(
        self, states: Sequence[State], wanted: Wanted, repetitions: int, seconds: float
    ) -> dict[int, tuple[str, ...]]:
        """The cells that fit into a time, the cheapest first."""
        chosen: dict[int, tuple[str, ...]] = {}
        for state in sorted(states, key=lambda each: self._cost(each, wanted, repetitions)):
            seconds -= self._cost(state, wanted, repetitions)
            if seconds < 0:
                break
            chosen[state.cell.count] = (NATIVE, *wanted(state))
        return dict(sorted(chosen.items()))

    def _cost(self, state: State, wanted: Wanted, repetitions: int) -> float:
        """Seconds, about."""
        choices = (NATIVE, *wanted(state))
        return sum(self._repeated(_seconds(state, each), repetitions) for each in choices)

    def _repeated(self, seconds: float, repetitions: int) -> float:
        return (repetitions + WARMUPS) * (seconds + self._overhead)

    def _measure(self, launch: Launch, seconds: float) -> bool:
        """Carries out a launch, of so many seconds about, and keeps what it measured; whether to go on."""
        plan = _plan(
            launch, seed=len(self._kept.by_launch) + 1, seconds=max(min(self._left, MOST_TIMES * seconds), 1.0)
        )
        began = time.monotonic()
        outcome = bench.run(plan, launch.site.place, command=self._command, meanwhile=self._progress.meanwhile)
        for what, reason in outcome.refusals.items():
            self._progress.say(f"{launch.collective}: {what} was not measured: {reason}")
        measured = outcome.results
        if measured is not None:
            if shape_of(measured) != launch.site.shape:
                raise Error(
                    f"the launcher started {shape_of(measured).text} where it started {launch.site.shape.text} before"
                )
            self._kept.add(measured)
            self._learn(measured, time.monotonic() - began - launch.site.start_seconds)
        if outcome.exit_code or measured is None:
            self._ending.exit_code = outcome.exit_code or 2
            return False
        return True

    def _learn(self, measured: Results, seconds: float) -> None:
        """What repetitions take beside the time that they measure."""
        times = [each.seconds for one in measured.configurations for each in one.repetitions]
        if times:
            beside = (seconds - sum(times)) / len(times)
            self._overhead = min(max(beside, 0.1 * FIRST_OVERHEAD), 10 * FIRST_OVERHEAD)


def states_of(kept: Kept, shape: Shape, some: Sequence[Cell]) -> list[State]:
    """What is known of cells of a shape."""
    error = kept.clock_error(shape)
    return [racing.state_of(cell, configurations, error) for cell, configurations in _known(kept, shape, some)]


def _known(kept: Kept, shape: Shape, some: Sequence[Cell]) -> Iterator[tuple[Cell, dict[str, Configuration]]]:
    """Cells of a shape with what was measured of their candidates and native."""
    known = {each: kept.configurations(shape, each) for each in {cell.collective for cell in some}}
    for cell in some:
        of_cell = known[cell.collective].get(cell.count, {})
        yield cell, {label: each for label, each in of_cell.items() if label == NATIVE or label in cell.seconds}


def _with_known(kept: Kept, shape: Shape, cell: Cell) -> Cell:
    """With the candidates that were measured before."""
    return cell.with_choices(kept.configurations(shape, cell.collective).get(cell.count, {}))


def _by_collective(states: Sequence[State]) -> list[list[State]]:
    names = dict.fromkeys(each.cell.collective for each in states)
    return [[each for each in states if each.cell.collective == name] for name in names]


def _new(state: State) -> tuple[str, ...]:
    """Rondo's candidates of which nothing is known."""
    return state.unmeasured if state.certain else _uncertain(state)


def _open(state: State) -> tuple[str, ...]:
    """Those of which more repetitions may decide."""
    return state.survivors if state.certain else _uncertain(state)


def _open_or_unconfirmed(state: State) -> tuple[str, ...]:
    """The same, and once more those that were decided by few."""
    return _open(state) or state.unconfirmed


def _uncertain(state: State) -> tuple[str, ...]:
    """All, as long as nothing is certain."""
    return tuple(state.cell.seconds) if state.attempts < racing.MOST_REPETITIONS else ()


def _seconds(state: State, choice: str) -> float:
    if choice == NATIVE and state.repetitions:
        return state.native
    return state.figures[choice].median if choice in state.figures else state.cell.predicted(choice)


def _plan(launch: Launch, seed: int, seconds: float) -> plans.Plan:
    candidates = list(dict.fromkeys(each for some in launch.wanted.values() for each in some))
    plan = plans.make(
        launch.collective,
        algorithms=candidates,
        counts=",".join(map(str, launch.wanted)) if launch.collective not in plans.WITHOUT_DATA else "1",
        type_name=cells.TYPE,
        operator=cells.OPERATOR,
        repetitions=launch.repetitions,
        warmup=WARMUPS,
        seconds=seconds,
        seed=seed,
    )
    left_out = {(count, each) for count, some in launch.wanted.items() for each in candidates if each not in some}
    return dataclasses.replace(plan, left_out=frozenset(left_out))
