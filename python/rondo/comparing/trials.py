# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a comparison: their order, what each takes, what ends them early."""

from __future__ import annotations

import functools
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rondo.comparing.outputs import Outputs
from rondo.comparing.results import Runs
from rondo.comparing.rivals import Contender, Launch
from rondo.errors import Error
from rondo.launching import process, run_report

FAILED = 3
"""Exit code where a run has failed."""
TAIL = 20  # lines of a failed run's output


@dataclass(frozen=True)
class Plan:
    """How often everything is run, and what becomes of it."""

    runs: int
    """Of each rival, that count."""
    warmup: int
    """Rounds before those that count."""
    ignore_failure: bool
    """Count runs that end with another exit code than 0?"""
    show_output: bool
    """Of the program, on standard error."""
    timeout: float | None = None
    """Seconds after which a run is ended; None: never."""


@dataclass(frozen=True)
class Turn:
    """One run that is due."""

    contender: Contender
    launch: Launch
    round: int
    """From 0; -1: a warm-up."""


class FailedRunError(Error):
    """A run that did not end as it should."""

    def __init__(self, message: str) -> None:
        """With what the program has said last."""
        super().__init__(message, FAILED)


def turns(contenders: Sequence[Contender], plan: Plan) -> list[Turn]:
    """All runs in their order: every other round backwards, so that what changes slowly concerns all alike.

    In a round, those whose wall time counts stand next to each other. Warm-ups are of these alone.
    """
    starts = [(each, launch) for each in contenders for launch in each.launches]
    starts.sort(key=lambda each: each[1].is_counted)
    found = [Turn(*each, -1) for _ in range(plan.warmup) for each in starts if not each[1].is_counted]
    for round_ in range(plan.runs):
        found += [Turn(*each, round_) for each in (starts if round_ % 2 == 0 else reversed(starts))]
    return found


class Trials:
    """The runs, one after the other."""

    def __init__(self, contenders: Sequence[Contender], plan: Plan, outputs: Outputs, directory: Path) -> None:
        """Of rivals whose ranks leave reports in `directory`/reports, which is there and empty."""
        self.turns = turns(contenders, plan)
        self.runs = {
            each.name: Runs(each.name, each.command, each.options is not None)
            for each in (contender.rival for contender in contenders)
        }
        """By the names of the rivals, in their order."""
        self.library, self.ranks = "", 0
        """As the first report says."""
        self.request: signal.Signals | None = None
        """By which the comparison was asked to end."""
        self._plan = plan
        self._outputs = outputs
        self._reports = directory / "reports"
        self._output, self._errors = directory / "output", directory / "errors"

    def run(self, look: Callable[[int], None]) -> None:
        """Runs all until the end, or until a signal asks for it. FailedRunError for one that fails.

        `look` is called with the number of runs that are over, a few times a second.
        """
        with process.requests_to_end() as heard:
            for number, turn in enumerate(self.turns):
                if heard:
                    self.request = heard[0]
                    return
                ending = self._started(turn, functools.partial(look, number))
                if ending.request is not None:
                    self.request = ending.request
                    return
                self._take(turn, ending)
            look(len(self.turns))

    def _started(self, turn: Turn, look: Callable[[], None]) -> process.Ending:
        self._outputs.discard()
        timeout = self._plan.timeout
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        with (
            Path(os.devnull).open("rb") as nothing,
            self._output.open("wb") as output,
            self._errors.open("wb") as errors,
            self._output.open("rb") as said,
            self._errors.open("rb") as complained,
        ):

            def meanwhile() -> bool:
                if self._plan.show_output:
                    for stream in (said, complained):
                        sys.stderr.buffer.write(stream.read())
                    sys.stderr.flush()
                look()
                return time.monotonic() > deadline

            ending = process.supervise(
                turn.launch.words,
                turn.launch.environment,
                stdin=nothing.fileno(),
                output=output.fileno(),
                errors=errors.fileno(),
                meanwhile=meanwhile,
            )
            meanwhile()
        if timeout is not None and ending.seconds > timeout and ending.request is None:
            raise FailedRunError(self._failure(turn, f"did not end within {timeout:g} s (--timeout)"))
        return ending

    def _take(self, turn: Turn, ending: process.Ending) -> None:
        name = turn.contender.rival.name
        if ending.code != 0 and not self._plan.ignore_failure:
            how = f"ended with exit code {ending.code}"
            raise FailedRunError(f"{self._failure(turn, how)}\nrondo: --ignore-failure goes on and counts such runs")
        if ending.code == 0:
            try:
                self._outputs.take(name, self._output)
            except Error as error:
                raise FailedRunError(str(error)) from None
        runs = self.runs[name]
        with self._errors.open(errors="replace") as lines:
            runs.take_errors(lines)
        if turn.launch.is_counted:
            report = self._report()
            runs.take_report(report)
            self.library, self.ranks = self.library or report.library, self.ranks or report.size
        elif turn.round >= 0:
            runs.seconds.append(ending.seconds)
            runs.exit_codes.append(ending.code)

    def _report(self) -> run_report.Report:
        report = run_report.read(self._reports)
        for path in self._reports.iterdir():
            path.unlink(missing_ok=True)
        return report

    def _failure(self, turn: Turn, how: str) -> str:
        which = f"run {turn.round + 1} of {self._plan.runs}" if turn.round >= 0 else "a warm-up"
        tail = "" if self._plan.show_output else self._tail()
        return (
            f"{turn.contender.rival.name}, {which}, {how}{tail}\nrondo: the command was: {turn.contender.rival.command}"
        )

    def _tail(self) -> str:
        """What the program has said last."""
        lines = []
        for path in (self._output, self._errors):
            lines += path.read_text(errors="replace").splitlines()[-TAIL:]
        return "".join(f"\n  {line}" for line in lines) if lines else ", and said nothing"
