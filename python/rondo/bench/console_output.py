# SPDX-License-Identifier: BSD-3-Clause
"""What `rondo bench` shows while it measures, and what it says afterwards."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click
import msgspec

from rondo import screens
from rondo.bench import bench, launches, maps, plans, progress, results, statistics, tables
from rondo.launching import mpi_library

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

COMPILATION = "once for this MPI, some 10 to 60 s, which are not among --seconds"
TOLERATED_SHARE = 0.1  # of repetitions that do not count; more are worth a line


def measure(plan: plans.Plan, place: launches.Place, command: str | None = None) -> bench.Outcome:
    """Carries out the plan, says beforehand what that is, and all the while how far it is: with a bar on a terminal.

    `command` is the one that repeats it, if it is not the one that the user gave.
    """
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    library = mpi_library.NAMES[place.library.name]
    launches.driver_for(place.library, lambda: _say(f"compiling the benchmark driver for {library}: {COMPILATION}"))
    for line in progress.announcement(plan, place):
        _say(line)
    console = stderr_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without a thread of its own, which might take signals.
    hidden = not console.is_terminal
    course = progress.Course(plan)
    with Progress(*columns, console=console, auto_refresh=False, transient=True, disable=hidden) as bar:
        task = bar.add_task(course.text, total=plan.configurations)

        def show_progress(collector: Any) -> None:
            course.look(collector)
            if hidden:
                line = course.line_due()
                if line is not None:
                    _say(line)
            bar.update(task, description=course.text, completed=course.completed)
            bar.refresh()

        command_line = command or shlex.join(["rondo", *sys.argv[1:]])
        outcome = bench.run(plan, place, command=command_line, meanwhile=show_progress)
    for line in course.excess():
        _say(line)
    return outcome


def _say(line: str) -> None:
    click.echo(f"rondo: {line}", err=True)


def show(measured: results.Results, as_json: bool) -> None:
    """Prints what was measured on standard output."""

    if as_json:
        click.echo(msgspec.json.encode(measured).decode())
        return
    for title, table in tables.tables(measured):
        click.secho(title, bold=True)
        screens.show(table, screens.console())


def show_map(found: maps.Map, as_json: bool, file: Path) -> None:
    """Prints a map on standard output."""

    if as_json:
        click.echo(file.read_text(encoding="utf-8"), nl=False)
        return
    shown, legend = maps.table(found)
    asked = found.question
    what = " ".join(filter(None, [asked.collective, asked.type, asked.operator]))
    click.secho(f"{what}, {' '.join(found.library.split())}, start by {asked.start}", bold=True)
    click.echo("fastest algorithm, and its median time / native's; ~ where they cannot be told apart")
    screens.show_grid(shown, screens.console())
    click.echo("\n".join(legend))


def tell(measured: results.Results, base: Path, outcome: bench.Outcome) -> None:
    """Says on standard error where the results are, and what is wrong with them."""
    click.echo(f"wrote {base}.json and {base.name}.csv", err=True)
    wrong = sum(each.wrong() for each in measured.configurations) + outcome.wrong_warmups
    if wrong:
        labels = sorted({each.label for each in measured.configurations if each.wrong()}) or ["a warm-up"]
        click.secho(f"rondo: {wrong} repetitions with WRONG RESULTS: {', '.join(labels)}", err=True, fg="red")
    if not measured.complete:
        click.echo("rondo: interrupted: the results are not complete", err=True)
    for line in cautions(measured):
        click.echo(f"rondo: {line}", err=True)


def failure(outcome: bench.Outcome) -> str:
    """Why there is nothing to show."""
    if outcome.results is None:
        return f"nothing was measured: the launcher ended with {outcome.exit_code} before the ranks had started"
    if outcome.refusals:
        return "nothing was measured: no algorithm could be"
    return f"nothing was measured before the end (exit code {outcome.exit_code})"


def cautions(measured: results.Results) -> list[str]:
    """What to know of repetitions that do not count."""
    states = [each.state for configuration in measured.configurations for each in configuration.repetitions]
    late, disturbed = states.count(results.LATE), states.count(results.DISTURBED)
    lines = []
    if late > TOLERATED_SHARE * len(states):
        lines.append(
            f"{late} of {len(states)} repetitions do not count, because ranks started too far apart: is the machine "
            f"busy, or are there more ranks than cores? --start barrier counts them"
        )
    if disturbed > TOLERATED_SHARE * len(states):
        lines.append(
            f"{disturbed} of {len(states)} repetitions do not count, because the emulated network was behind its "
            f"clock: the machine is busy, or the cluster too large or too fast for it"
        )
    groups = statistics.groups(measured.configurations)
    found = [statistics.compare(each, measured.environment.clock_error) for each in groups]
    undecided = [each for each in found if each.verdict is statistics.Verdict.UNDECIDED]
    if undecided:
        fewest = min(each.summary.count for one in undecided for each in one.standings)
        lines.append(
            f"{len(undecided)} of {len(found)} comparisons stay undecided: there are as few as {fewest} valid "
            f"repetitions of a candidate, and it takes {max(each.needed for each in undecided)} of each to name the "
            f"fastest; give more --seconds or --repetitions, or measure fewer candidates"
        )
    return lines


def stderr_console() -> Console:
    """For progress."""
    from rich.console import Console  # noqa: PLC0415

    return Console(stderr=True, highlight=False)
