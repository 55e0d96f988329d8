# SPDX-License-Identifier: BSD-3-Clause
"""Measures collectives: Rondo's algorithms and the MPI library's own, side by side, and returns every repetition."""

from __future__ import annotations

import dataclasses
import datetime
import math
import shlex
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

import rondo
from rondo.bench import launches, plans
from rondo.bench.launches import Launch, Place
from rondo.bench.plans import Plan
from rondo.bench.records import Collector
from rondo.bench.results import Environment, Results
from rondo.errors import Error
from rondo.launching import process, shared_directory

DIRECTORY = ".rondo-bench-"
FINALIZE_SECONDS = 20.0


@dataclass(frozen=True)
class Outcome:
    """A measurement that has ended, one way or the other."""

    results: Results | None
    """None if it ended before the ranks said where they are."""
    refusals: dict[str, str]
    """Of candidates, or of a candidate with one count: why Rondo would not serve them."""
    wrong_warmups: int
    """Warm-up repetitions with a wrong result, which are not among the results."""
    exit_code: int
    """Of the launcher; 128 + n if signal n asked Rondo to end."""


def measure(
    collective: str,
    *,
    launcher: tuple[str, ...] = (),
    cluster: str | None = None,
    mpi: str | None = None,
    part: str | None = None,
    meanwhile: Callable[[Collector], None] | None = None,
    **options: object,
) -> Results:
    """What the options (those of plans.make) ask for, measured under a launcher or on an emulated cluster.

    `part`: which of the ranks measure; see Place. Error if nothing can be measured, or the ranks failed. Wrong results
    are counted in the repetitions, and no error.
    """
    plan = plans.make(collective, **options)  # type: ignore[arg-type]
    place = dataclasses.replace(launches.make(launcher, cluster, mpi), part=part)
    outcome = run(plan, place, meanwhile=meanwhile)
    if outcome.results is None or not outcome.results.complete:
        raise Error(f"the measurement of {collective} did not come to its end (exit code {outcome.exit_code})")
    for what, reason in outcome.refusals.items():
        raise Error(f"cannot measure {what}: {reason}")
    return outcome.results


def run(
    plan: Plan, place: Place, *, command: str = "", meanwhile: Callable[[Collector], None] | None = None
) -> Outcome:
    """Carries out a plan. `meanwhile` is called a few times a second with what there is.

    The ranks' standard output goes to standard error. Error if nothing could be started.
    """
    driver = launches.driver_for(place.library)
    directory = shared_directory.new(DIRECTORY, "the ranks' records")
    try:
        plan_file, records = directory / "plan", directory / "records"
        plan_file.write_text(plan.text())
        collector = Collector(records, plan)

        measured_at, hung = math.inf, False

        def look() -> bool:
            """Some libraries hang in MPI_Finalize; then all has been measured, and there is no need to wait."""
            nonlocal measured_at, hung
            collector.read()
            if meanwhile is not None:
                meanwhile(collector)
            if collector.end is not None:
                measured_at = min(measured_at, time.monotonic())
            hung = time.monotonic() - measured_at > FINALIZE_SECONDS
            return hung

        words = [str(driver), str(plan_file), str(records), *([place.part] if place.part else [])]
        with launches.prepared(place, words, plan.instructions) as launch:
            date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
            ending = process.supervise(launch.words, launch.environment, output=sys.stderr.fileno(), meanwhile=look)
        collector.read()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    results = _results(collector, place, launch, command=command, date=date)
    code = 128 + ending.request if ending.request else 0 if hung else ending.code
    return Outcome(results, collector.refusals, collector.wrong_warmups, code)


def _results(collector: Collector, place: Place, launch: Launch, *, command: str, date: str) -> Results | None:
    machine, end = collector.machine, collector.end
    if machine is None:
        return None
    if launch.emulation is not None and end is not None:
        launch.emulation.dropped = end.dropped
    environment = Environment(
        **msgspec.structs.asdict(machine),
        date=date,
        command=command,
        rondo=rondo.__version__,
        abi=place.abi,
        launcher=shlex.join(place.launcher_words) or str(place.library.launcher),
        clock_error=end.clock_error if end else 0.0,
        seed=collector.plan.seed,
        network=collector.network,
        emulation=launch.emulation,
        retransmissions=end.retransmissions if end else 0,
        shared_memory=collector.shared_memory,
        domains=collector.domains,
        computing=collector.computing,
    )
    return Results(environment, collector.configurations(), complete=end is not None)
