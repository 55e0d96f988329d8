# SPDX-License-Identifier: BSD-3-Clause
"""`rondo bench`: Rondo's algorithms and the MPI library's own, measured side by side."""

from __future__ import annotations

import datetime
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from rondo import bench, bench_launch, bench_plan, bench_table, results
from rondo.errors import Error

if TYPE_CHECKING:
    from rich.console import Console

WRONG_RESULTS = 3
TOLERATED_SHARE = 0.1  # of repetitions that do not count; more are worth a line


@click.command(context_settings={"allow_interspersed_args": True})
@click.option(
    "--algorithms",
    "algorithm_list",
    metavar="NAME[:PARAMETER=VALUE],...",
    help="What to measure, with commas in between; `native` is the MPI library's own. Default: native and all that "
    "`rondo list` shows for the collective.",
)
@click.option(
    "-a", "--algorithm", "single_algorithms", multiple=True, metavar="NAME[:PARAMETER=VALUE,...]",
    help="One more to measure. May be repeated.",
)  # fmt: skip
@click.option(
    "--counts",
    default="1:100000",
    show_default=True,
    metavar="COUNTS",
    help="Elements: 1,10,64Ki, or 1:100000 for 1 2 5 10 20 ..., or 1:100000:decades for 1 10 100 ...",
)
@click.option("--type", "type_", default="long", show_default=True, metavar="|".join(bench_plan.TYPES))
@click.option("--op", default="sum", show_default=True, metavar="|".join(bench_plan.OPERATORS))
@click.option("--repetitions", default=30, show_default=True, help="Of each algorithm with each count, at most.")
@click.option("--seconds", default=60.0, show_default=True, help="Time for everything, about.")
@click.option("--warmup", default=2, show_default=True, help="Repetitions that do not count, before those that do.")
@click.option(
    "--start",
    default="clock",
    show_default=True,
    metavar="|".join(bench_plan.STARTS),
    help="How ranks start together: at a time on a common clock, after a barrier, or both in turn.",
)
@click.option("--seed", default=1, show_default=True, help="Of the order in which algorithms take turns.")
@click.option(
    "--clock",
    type=click.Choice(["auto", "learned"]),
    default="auto",
    help="`learned` learns the differences between clocks also where ranks share one.",
)
@click.option(
    "--output", metavar="NAME", help="Write NAME.json and NAME.csv. Default: bench-COLLECTIVE-DATE."
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON instead of a table.")
@click.option(
    "--cluster",
    metavar="NODESxRANKS:LATENCY:RATE[:LANES]|NAME",
    help="Measure on an emulated cluster of this machine, a new one as 36x1:5ms:100Mbit or one of `rondo cluster up`.",
)
@click.option(
    "--mpi",
    metavar="mpich|openmpi|impi|PATH",
    help="MPI library. Default: the launcher's, on an emulated cluster MPICH.",
)
@click.argument("collective")
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED, metavar="[-- LAUNCHER [OPTION]...]")
def command(
    *,
    collective: str,
    algorithm_list: str | None,
    single_algorithms: tuple[str, ...],
    type_: str,
    op: str,
    clock: str,
    output: str | None,
    as_json: bool,
    cluster: str | None,
    mpi: str | None,
    launcher: tuple[str, ...],
    **options: Any,
) -> None:
    """Measure a COLLECTIVE: Rondo's algorithms and the MPI library's own, in turn, in the same run.

    What follows -- is a launcher without a program. Every result is checked; the exit code is 3 if one was wrong. What
    has been measured is written also if the run is interrupted. `rondo report` shows it.

    \b
        rondo bench exscan -- mpiexec -n 8
        rondo bench exscan --algorithms native,doubling_123 --counts 1:1M --type double -- srun -n 64
        rondo bench scan -a linear_pipeline:segment=32Ki -a native --cluster 36x1:5ms:100Mbit --mpi openmpi

    COLLECTIVE is exscan, scan, allreduce, reduce_scatter, allgather, reduce or bcast; or, to see what a network does, one of the patterns
    ping_pong (between the first and the last rank, one way), incast (all send to rank 0) and ring_shift.
    """
    algorithms = [*bench_plan.split_algorithms(algorithm_list or ""), *single_algorithms]
    plan = bench_plan.make(
        collective, algorithms=algorithms, type_name=type_, operator=op, learned_clock=clock == "learned", **options
    )
    base = output_base(output, collective)
    place = bench_launch.make(launcher, cluster, mpi)
    outcome = measure(plan, place)
    for what, reason in outcome.refusals.items():
        click.echo(f"rondo: {what} was not measured: {reason}", err=True)
    measured = outcome.results
    if measured is None or not measured.configurations:
        raise Error(failure(outcome), outcome.exit_code or 2)
    results.write(measured, base.with_name(f"{base.name}.json"))
    write_text(base.with_name(f"{base.name}.csv"), bench_table.csv_text(measured))
    show(measured, as_json)
    tell(measured, base, outcome)
    if outcome.exit_code:
        sys.exit(outcome.exit_code)
    if outcome.wrong_warmups or any(each.wrong() for each in measured.configurations):
        sys.exit(WRONG_RESULTS)


def measure(plan: bench_plan.Plan, place: bench_launch.Place) -> bench.Outcome:
    """Carries out the plan, with a bar on a terminal that says how far it is."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    console = stderr_console()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # Without a thread of its own, which might take signals.
    hidden = not console.is_terminal
    with Progress(*columns, console=console, auto_refresh=False, transient=True, disable=hidden) as bar:
        task = bar.add_task(f"{plan.collective}: starting", total=plan.configurations)

        def show_progress(collector: Any) -> None:
            current = collector.current
            if current is not None:
                bar.update(task, description=f"{plan.collective}, count {current.count}")
                done = plan.counts.index(current.count) * len(plan.candidates) * len(plan.starts)
                bar.update(task, completed=plan.configurations if collector.end else done)
            bar.refresh()

        command_line = shlex.join(["rondo", *sys.argv[1:]])
        return bench.run(plan, place, command=command_line, meanwhile=show_progress)


def failure(outcome: bench.Outcome) -> str:
    """Why there is nothing to show."""
    if outcome.results is None:
        return f"nothing was measured: the launcher ended with {outcome.exit_code} before the ranks had started"
    if outcome.refusals:
        return "nothing was measured: no algorithm could be"
    return f"nothing was measured before the end (exit code {outcome.exit_code})"


def output_base(name: str | None, collective: str) -> Path:
    """Where results go, without suffix; Error if they cannot."""
    if name is None:
        name = f"bench-{collective}-{datetime.datetime.now():%Y%m%d-%H%M%S}"
    path = Path(name.removesuffix(".json").removesuffix(".csv")).absolute()
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise Error(f"--output {name}: cannot write into {path.parent}")
    return path


def write_text(path: Path, text: str) -> None:
    """Writes a file; Error if it cannot be."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None


def show(measured: results.Results, as_json: bool) -> None:
    """Prints what was measured on standard output."""
    from rich.console import Console  # noqa: PLC0415

    if as_json:
        click.echo(msgspec.json.encode(measured).decode())
        return
    for title, table in bench_table.tables(measured):
        # A table that goes into a file has lines as long as they are.
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1000
        click.secho(title, bold=True)
        Console(width=width, highlight=False).print(table)


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
    return lines


def stderr_console() -> Console:
    """For progress."""
    from rich.console import Console  # noqa: PLC0415

    return Console(stderr=True, highlight=False)
