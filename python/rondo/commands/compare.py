# SPDX-License-Identifier: BSD-3-Clause
"""`rondo compare`: the same program without and with Rondo, in turn."""

from __future__ import annotations

import datetime
import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import rondo
from rondo import optional, screens
from rondo.bench import statistics
from rondo.bench.console_output import stderr_console
from rondo.bench.statistics import Change
from rondo.cluster import cluster
from rondo.commands import run
from rondo.comparing import results, rivals
from rondo.comparing.outputs import Outputs
from rondo.comparing.trials import Plan, Trials
from rondo.errors import Error
from rondo.launching import instructed, options, preload, shared_directory
from rondo.reports import style
from rondo.saying import EVERY
from rondo.shells import completion

if TYPE_CHECKING:
    from collections.abc import Sequence

DIRECTORY = ".rondo-compare-"
DIFFERENT = 1
"""Exit code where outputs differ, or a rival is slower than was allowed."""


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--runs", default=6, show_default=True, type=click.IntRange(min=1), help="Of each rival, after the warm-up."
)
@click.option(
    "--warmup",
    default=1,
    show_default=True,
    type=click.IntRange(min=0),
    help="Runs of each rival before those that count.",
)
@click.option(
    "--rules",
    multiple=True,
    metavar="FILE|none",
    help="The rules of Rondo's side. Given more than once, these rules are compared with each other, and with nothing "
    "else.",
    shell_complete=completion.file_or("none"),
)
@options.of_rondo
@click.option(
    "--rival",
    "texts",
    multiple=True,
    metavar="NAME=OPTIONS|COMMAND",
    help="One of those that are compared, by a name of yours: with options of `rondo run` (unguarded='--guard off'), "
    "or a command of its own (old='mpiexec -n 8 ./old'); `native` is the command as it is. May be repeated. A single "
    "one is compared with native; several with native if that is one of them, else with the first.",
)
@click.option(
    "--same",
    multiple=True,
    metavar="FILE|-",
    help="Check that all runs write the same into this file, or on standard output (-). Each run begins without the "
    "file; what was there before is put back. May be repeated.",
    shell_complete=completion.files,
)
@click.option("--wall-only", is_flag=True, help="Leave out the times in collectives: half as many runs.")
@click.option(
    "--output",
    metavar="FILE.json",
    help="Write all times and verdicts into this file, also if it is interrupted.",
    shell_complete=completion.files,
)
@click.option("--show-output", is_flag=True, help="Show what the program says, on standard error.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="End a run that takes longer, and the comparison with it. Default: wait for ever.",
)
@click.option("--ignore-failure", is_flag=True, help="Go on when a run ends with another exit code than 0.")
@click.option(
    "--fail-if-slower",
    metavar="PERCENT",
    type=click.FloatRange(min=0),
    help=f"End with {DIFFERENT} if the wall time of a rival is proven to be longer than the first one's, and is so by "
    "more than this.",
)
@options.for_programs
@click.argument(
    "words",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- LAUNCHER ... PROGRAM ...]",
    shell_complete=completion.command_line,
)
@click.pass_context
def command(
    context: click.Context,
    *,
    runs: int,
    warmup: int,
    rules: tuple[str, ...],
    texts: tuple[str, ...],
    same: tuple[str, ...],
    wall_only: bool,
    output: str | None,
    show_output: bool,
    timeout: float | None,
    ignore_failure: bool,
    fail_if_slower: float | None,
    wanted: str,
    cluster_text: str | None,
    wanted_mpi: str | None,
    words: tuple[str, ...],
    **_of_rondo: Any,
) -> None:
    """Compare a program without and with Rondo: the same command, natively and under Rondo, in turn.

    For each there is the wall time, and the time in collectives, as a median with its interval; and whether there is a
    difference at all. Wall times are of runs in which nothing is counted, natively of the untouched command. Times in
    collectives are of further runs. Natively, Rondo counts in these, and leaves every call to the library.

    What else Rondo is told (--use, --machine, --nodes, --guard, --learned, as by `rondo run`), it is told on Rondo's
    side. What a --rival says itself stands above that.

    \b
        rondo compare -- mpiexec -n 8 ./app input.dat
        rondo compare --same result.txt --runs 10 -- mpiexec -n 8 ./app
        rondo compare --use exscan=doubling_123 --rules none -- srun -n 64 ./app
        rondo compare --rules mine.rules --rules none -- mpiexec -n 8 ./app
        rondo compare --rival a='--guard off' --rival b='' -- mpiexec -n 8 ./app
        rondo compare --rival old='srun -n 8 ./old' --rival new='srun -n 8 ./new'
        rondo compare --cluster 8x1:2ms:200Mbit --mpi mpich -- ./app

    It ends with 0 if all is done; with 1 if outputs differ, or a rival is slower than --fail-if-slower allows; with 2
    if it is refused before anything starts; with 3 if a run fails.
    """
    if words:
        run.refuse_unknown_option(words, command)
    if wanted_mpi is not None and cluster_text is None:
        raise Error("--mpi chooses the launcher on an emulated cluster; expected --cluster beside it")
    if (switch := instructed.switched_off(os.environ)) is not None:
        raise Error(f"{switch} is set, so Rondo would do nothing: unset it")
    preload.refuse_rondo(os.environ.get(preload.PRELOAD))
    for package in ("numpy", "scipy.stats"):
        optional.module(package)
    found = rivals.make(texts, rules, options.given_of_rondo(context), words)
    needed = statistics.least_repetitions(len(found))
    if fail_if_slower is not None and runs < needed:
        raise Error(f"--fail-if-slower with --runs {runs}: it takes {needed} of each rival to prove anything")
    file = run.check_json_file("--output", output)
    plan = Plan(runs, warmup, ignore_failure, show_output, timeout)
    directory = shared_directory.new(DIRECTORY, "what runs leave", file)
    try:
        reports = directory / "reports"
        reports.mkdir()
        outputs = Outputs(same, directory, file)
        where = {"cluster_text": cluster_text, "wanted_mpi": wanted_mpi, "reports": None if wall_only else reports}
        with rivals.prepared(found, wanted=wanted, **where) as (contenders, running):
            trials = Trials(contenders, plan, outputs, directory)
            with outputs:
                carry_out(trials, plan, len(found))
            compared = results_of(trials, plan, outputs, running)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    show(compared, file)
    if trials.request is not None:
        click.echo("rondo: interrupted: there are fewer runs than were asked for", err=True)
        sys.exit(128 + trials.request)
    slower = too_slow(compared, fail_if_slower)
    for line in slower:
        click.echo(f"rondo: {line}", err=True)
    if compared.differences or slower:
        sys.exit(DIFFERENT)


def carry_out(trials: Trials, plan: Plan, number: int) -> None:
    """Runs everything, and says how far it is: with a bar on a terminal, else with a line now and then."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    from rondo.comparing import table  # noqa: PLC0415

    each = style.counted(plan.runs, "run") + (f" after {plan.warmup} to warm up" if plan.warmup else "")
    click.echo(f"rondo: {number} rivals, {each}, {style.counted(len(trials.turns), 'run')} in all", err=True)
    needed = statistics.least_repetitions(number)
    if plan.runs < needed:
        click.echo(f"rondo: so few runs cannot prove any difference: it takes {needed} of each", err=True)
    console = stderr_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    hidden = not console.is_terminal or plan.show_output
    told = time.monotonic()
    # Without a thread of its own, which might take signals.
    with Progress(*columns, console=console, auto_refresh=False, transient=True, disable=hidden) as bar:
        task = bar.add_task("", total=len(trials.turns))
        said = -1

        def look(number: int) -> None:
            nonlocal told, said
            # Ranks may need the processor.
            if time.monotonic() - told < (EVERY if hidden else 1.0):
                return
            told = time.monotonic()
            turn = trials.turns[min(number, len(trials.turns) - 1)]
            kind = " (warm-up)" if turn.round < 0 else " (counted)" if turn.launch.is_counted else ""
            medians = table.medians_so_far(list(trials.runs.values()))
            what = f"{turn.contender.rival.name}{kind}{medians and f'; so far {medians}'}"
            if hidden and said != number:  # of a long run, once
                said = number
                click.echo(f"rondo: run {number + 1} of {len(trials.turns)}: {what}", err=True)
            bar.update(task, description=what, completed=number)
            bar.refresh()

        trials.run(look)


def results_of(trials: Trials, plan: Plan, outputs: Outputs, running: cluster.Cluster | None) -> results.Results:
    """What was measured, and what it says."""
    runs = list(trials.runs.values())
    return results.Results(
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        command=shlex.join(["rondo", *sys.argv[1:]]),
        rondo=rondo.__version__,
        library=trials.library,
        ranks=trials.ranks,
        cluster=str(running.shape) if running is not None else "",
        asked=plan.runs,
        rivals=runs,
        same=outputs.names,
        compared=outputs.compared,
        differences=[
            results.Difference(each.file, each.reference, each.rival, each.line, each.byte, tuple(map(str, each.kept)))
            for each in outputs.differences
        ],
        verdicts=list(results.judged(runs)),
        complete=trials.request is None,
    )


def show(compared: results.Results, file: Path | None) -> None:
    """Prints the table on standard output, what casts doubt on it on standard error, and writes the file."""

    from rondo.comparing import table  # noqa: PLC0415

    if all(each.seconds for each in compared.rivals):
        table.show(compared, screens.console())
    for line in table.cautions(compared):
        click.echo(f"rondo: {line}", err=True)
    if file is not None:
        results.write(compared, file)
        click.echo(f"wrote {file}", err=True)


def too_slow(compared: results.Results, percent: float | None) -> Sequence[str]:
    """Who is slower than the first by more than is allowed; nobody if nothing is said about it."""
    if percent is None:
        return []
    return [
        f"--fail-if-slower {percent:g}: {each.rival} takes {100 * (each.ratio - 1):.1f}% longer than {each.reference}"
        for each in compared.verdicts
        if each.figure == results.WALL and each.change is Change.SLOWER and each.ratio > 1 + percent / 100
    ]
