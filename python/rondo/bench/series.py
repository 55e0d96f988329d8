# SPDX-License-Identifier: BSD-3-Clause
"""Measurements one after the other, each with a file of its own: of maps and pages. What is there is left alone."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from rondo.bench import console_output, launches, maps, results
from rondo.bench.launches import Place
from rondo.bench.pages import Page, Run
from rondo.bench.plans import Plan
from rondo.errors import Error
from rondo.launching import mpi_library

WRONG_RESULTS = 3

Where = tuple[str | None, str | None, tuple[str, ...]]
"""Cluster, MPI library and launcher, as given."""


@dataclass(frozen=True)
class Part:
    """One measurement of several."""

    name: str
    plan: Plan
    place: Callable[[], Place]
    ranks: int
    file: Path
    command: str | None = None
    """That repeats this part; None: the command that the user gave."""


def of_map(plan: Plan, numbers: Sequence[int], directory: Path, where: Where) -> list[Part]:
    """A part for each number of processes."""
    cluster, mpi, launcher = where

    def place(processes: int) -> Place:
        words, part = maps.place_for(processes, launcher, cluster)
        return launches.make(words, part, mpi)

    return [
        Part(
            f"{each} processes", maps.plan_for(plan, each), lambda each=each: place(each), each,
            maps.results_file(directory, each),
        )
        for each in numbers
    ]  # fmt: skip


def of_page(page: Page, experiments: Sequence[str], directory: Path, where: Where) -> list[Part]:
    """What a page measures: on its emulated clusters with each of its libraries, or under a launcher with that one's.

    Error if it cannot be measured there.
    """
    _, mpi, launcher = where
    runs = [run for each in experiments for run in page.runs_of(each)] if experiments else page.runs
    if launcher:
        library = launches.make(launcher, None, mpi).library.name
    else:
        library = mpi_library.find(mpi, os.environ).name if mpi is not None else None
    chosen = [each for each in runs if library in (None, each.library)]
    if not chosen:
        raise Error(f"the page measures nothing with {mpi_library.NAMES[str(library)]}")
    if launcher and len({each.shape.ranks for each in chosen}) > 1 and not any(maps.PLACEHOLDER in w for w in launcher):
        raise Error(
            f"the page measures with several numbers of processes; write {maps.PLACEHOLDER} in their place, as in: -- "
            f"mpiexec -n {maps.PLACEHOLDER}"
        )
    for each in {each.library for each in chosen} if not launcher and mpi is None else ():
        try:
            mpi_library.find(each, os.environ)
        except Error as error:
            raise Error(f"{error}; or measure with one library alone: --mpi mpich") from None
    return [_part_of_page(each, directory, mpi, launcher) for each in chosen]


def _part_of_page(run: Run, directory: Path, mpi: str | None, launcher: tuple[str, ...]) -> Part:
    ranks, library = run.shape.ranks, mpi or run.library
    if launcher:
        words = tuple(word.replace(maps.PLACEHOLDER, str(ranks)) for word in launcher)
        command = run.command([*(["--mpi", mpi] if mpi else []), "--", *words])
        return Part(run.title, run.plan, lambda: launches.make(words, None, mpi), ranks, directory / run.file, command)
    command = run.command(["--cluster", run.cluster, "--mpi", library])
    place = launches.make((), run.cluster, library)
    return Part(run.title, run.plan, lambda: place, ranks, directory / run.file, command)


def measure(parts: Sequence[Part], noun: str) -> int:
    """Measures what is not there and says how far it is; the exit code. What ends without results ends all."""
    left = [each for each in parts if not each.file.exists()]
    if len(left) < len(parts):
        click.echo(f"{len(parts) - len(left)} of {len(parts)} {noun} are there already", err=True)
    if left:
        seconds = datetime.timedelta(seconds=round(sum(each.plan.seconds for each in left)))
        click.echo(f"to measure: {len(left)} {noun}, about {seconds} in all", err=True)
    worst = 0
    for done, part in enumerate(left, 1):
        began = time.monotonic()
        outcome = console_output.measure(part.plan, part.place(), part.command)
        measured = outcome.results
        for what, reason in outcome.refusals.items():
            click.echo(f"rondo: {part.name}: {what} was not measured: {reason}", err=True)
        if outcome.exit_code or measured is None or not measured.complete:
            reason = console_output.failure(outcome)
            click.echo(f"rondo: {part.name}: {reason}; start again to go on from here", err=True)
            return outcome.exit_code or 2
        if measured.environment.ranks != part.ranks:
            raise Error(f"the launcher started {measured.environment.ranks} ranks instead of {part.ranks}")
        results.write(measured, part.file)
        click.echo(f"{part.name}: {time.monotonic() - began:.0f} s ({done} of {len(left)})", err=True)
        for line in console_output.cautions(measured):
            click.echo(f"rondo: {line}", err=True)
        if outcome.wrong_warmups or any(one.wrong() for one in measured.configurations):
            click.secho(f"rondo: {part.name}: WRONG RESULTS; `rondo report` says of what", err=True, fg="red")
            worst = WRONG_RESULTS
    return worst
