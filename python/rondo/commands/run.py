# SPDX-License-Identifier: BSD-3-Clause
"""`rondo run`: an unmodified program with Rondo's collectives."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rondo import whole_file
from rondo.cluster import cluster
from rondo.errors import Error
from rondo.launching import options, process, run_trace, settings, shared_directory
from rondo.launching.instructed import REPORT, Instructed, instructed, mpi_on_cluster
from rondo.selection import learned
from rondo.shells import completion
from rondo.tune import tuned_files

if TYPE_CHECKING:
    from rondo.launching.run_report import Report
    from rondo.tune.learning import Lesson

REPORT_DIRECTORY = ".rondo-report-"


# Unknown options are let through so that a command without `--` gets a message about that.
@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@options.rules(
    "Rules that choose an algorithm for each call. Default: those that `rondo tune` has written for this machine and "
    "MPI library, else those that come with Rondo (tuning/default.rules). `none` leaves native what neither --use "
    "nor a variable of a collective (RONDO_EXSCAN) nor the site's configuration names."
)
@options.of_rondo
@click.option(
    "--report",
    "report_file",
    is_flag=False,
    flag_value="",
    metavar="[FILE.json]",
    help="Afterwards, print what ran instead of what, how often and how long; also into FILE.json if given.",
    shell_complete=completion.files,
)
@click.option(
    "--trace",
    "trace_file",
    metavar="FILE.json",
    help="Afterwards, write what each rank did when: its collective calls, and the messages and local work of those "
    "that Rondo carried out, the first 32768 in each rank. ui.perfetto.dev opens it.",
    shell_complete=completion.files,
)
@options.for_programs
@click.option(
    "--learn",
    is_flag=True,
    help="Try other choices than those of the rules, too: in each run another one for each kind of calls, which the "
    "guard compares with the library. Repeat it until nothing is left to try; the best choices stay. What is known "
    "stays in --learned. Sums may differ in the last bits from run to run.",
)
@click.option("--dry-run", is_flag=True, help="Print the command that would run, and stop.")
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="-- LAUNCHER ... PROGRAM ...",
    shell_complete=completion.command_line,
)
def command(
    *,
    uses: tuple[str, ...],
    rules: str | None,
    machine_file: str | None,
    nodes: str | None,
    guard: str,
    learned_directory: str | None,
    learn: bool,
    report_file: str | None,
    trace_file: str | None,
    wanted: str,
    cluster_text: str | None,
    wanted_mpi: str | None,
    dry_run: bool,
    words: tuple[str, ...],
) -> None:
    """Run a program with Rondo's collectives. Nothing needs to be compiled or linked again.

    Put it before the command that you have: mpiexec or mpirun of MPICH, Intel MPI or Open MPI, srun, flux run, jsrun,
    aprun, ibrun.
    It ends with the launcher's exit code, and with 2 if Rondo itself refuses, before anything has been started.

    \b
        rondo run -- mpiexec -n 8 ./app input.dat
        rondo run --report -- mpirun -np 8 python3 script.py
        rondo run --use exscan=linear_pipeline:segment=32Ki -- srun -n 64 ./app
        rondo run -- mpiexec -n 4 numactl --localalloc ./app
        rondo run --abi openmpi -- mpirun -n 4 ./complicated.sh
        rondo run --cluster 8x1:2ms:200Mbit --report -- ./app
        rondo run --trace run.json -- mpiexec -n 8 ./app
        rondo run --learn -- mpiexec -n 64 ./app
    """
    merged_file = check_json_file("--report", report_file, "; put -- before the launcher")
    merged_trace = check_json_file("--trace", trace_file)
    refuse_unknown_option(words, command)
    if wanted_mpi is not None and cluster_text is None:
        raise Error("--mpi chooses the launcher on an emulated cluster; expected --cluster beside it")
    if dry_run and cluster_text is not None:
        raise Error("--dry-run: with --cluster there is no command before the cluster is up")
    told = instructed(
        words,
        os.environ,
        uses=uses,
        rules=rules,
        machine_file=machine_file,
        nodes=nodes,
        guard=guard,
        learned_directory=learned_directory,
        wanted=wanted,
        learn=learn,
        cluster_text=cluster_text,
        wanted_mpi=wanted_mpi,
        dry_run=dry_run,
    )
    if told.tuned.warning or (told.tuned.note and (dry_run or report_file is not None)):
        click.echo(f"rondo: {told.tuned.note}", err=True)
    if told.tuned.path is not None and report_file is None:  # which names them, too
        click.echo(f"rondo: rules: {told.rules}", err=True)
    if report_file is not None:
        say_who_is_left_out(told)
    if learn and learned.VARIABLE not in told.variables:
        raise Error("--learn lets the guard compare, and keeps what it finds: leave out --guard off and --learned none")
    if learn and dry_run:
        raise Error("--learn says what is tried when the program runs: leave out --dry-run")
    reports = report_file is not None or learn
    needs_directory = reports or merged_trace is not None
    directory = make_report_directory(dry_run, merged_file or merged_trace) if needs_directory else None
    if directory is not None and reports:
        told.variables[REPORT] = str(directory)
    if directory is not None and merged_trace is not None:
        told.variables[run_trace.VARIABLE] = str(directory)
    with contextlib.ExitStack() as stack:
        if directory is not None and not dry_run:
            stack.callback(shutil.rmtree, directory, ignore_errors=True)
        mpi = mpi_on_cluster(told.line, wanted_mpi, wanted) if cluster_text is not None else None
        running = stack.enter_context(cluster.opened(cluster_text)) if cluster_text is not None else None
        lesson = None
        if learn and directory is not None:
            launcher = str(mpi.launcher) if mpi is not None else None
            library = tuned_files.library_of(told.line, cluster_text, launcher, told.environment, told.abi)
            from rondo.tune import learning  # noqa: PLC0415 (most runs do without)

            lesson = learning.begin(told, library, running, directory)
        launch = told.on_cluster(running, mpi) if running is not None and mpi is not None else told.under_launcher()
        if dry_run:
            assignments = [f"{name}={shlex.quote(value)}" for name, value in launch.environment.items()]
            click.echo(" ".join([*assignments, shlex.join(launch.words)]))
            return
        environment = {**told.environment, **launch.environment}
        if directory is None and cluster_text is None:
            process.replace(launch.words, environment)
        if directory is None:
            code = process.run(launch.words, environment)
        else:
            with process.requests_to_end():  # whoever asks more than once shall get the report all the same
                code = process.run(launch.words, environment)
                if reports:
                    show_outcome(directory, told, lesson, merged_file, shows=report_file is not None)
                if merged_trace is not None:
                    write_trace(directory, merged_trace)
    sys.exit(code)


def say_who_is_left_out(told: Instructed) -> None:
    """Names the programs whose ranks will leave no report, because Rondo leaves them alone."""
    for name in sorted({words[0] for words, _ in told.line.programs()}):
        reason = settings.left_out(name, os.environ)
        if reason is not None:
            click.echo(f"rondo: {name}: left to the MPI library, by {reason}", err=True)


def refuse_unknown_option(words: Sequence[str], known: click.Command) -> None:
    """Error if the first word of a command line is none of a launcher, but an option that a command does not know."""
    if words[0].startswith("-"):
        options = [name for option in known.params for name in option.opts if name.startswith("-")]
        raise click.NoSuchOption(words[0].partition("=")[0], possibilities=options)


def check_json_file(option: str, name: str | None, hint: str = "") -> Path | None:
    """Where the file of an option goes, None for nowhere; Error if it cannot."""
    if not name:
        return None
    path = Path(name).absolute()
    if path.suffix != ".json":
        raise Error(f"{option} {name}: expected a file that ends in .json{hint}")
    if not whole_file.can_write(path):
        raise Error(f"{option} {name}: cannot write into {path if path.exists() else path.parent}")
    return path


def make_report_directory(dry_run: bool, merged_file: Path | None) -> Path:
    """A new directory for the ranks' reports."""
    if dry_run:
        place = next(each for each in shared_directory.places(merged_file) if os.access(each, os.W_OK))
        return place / f"{REPORT_DIRECTORY}XXXXXXXX"
    return shared_directory.new(REPORT_DIRECTORY, "the ranks' reports", merged_file)


def read_report(directory: Path) -> Report:
    """Of all ranks together."""
    from rondo.launching import run_report  # noqa: PLC0415 (most runs do without)

    return run_report.read(directory)


def show_outcome(
    directory: Path, told: Instructed, lesson: Lesson | None, merged_file: Path | None, *, shows: bool
) -> None:
    """Prints what the ranks report, if it shall be shown, and what the run has taught."""
    merged = read_report(directory)
    if lesson is not None:
        merged = lesson.credited(merged)
    if shows:
        show_report(merged, merged_file)
        click.echo(f"rules: {lesson.rules if lesson is not None else told.rules}", err=True)
        if told.uses:
            click.echo(f"above them: {', '.join(told.uses)}", err=True)
    if lesson is not None:
        show_lesson(lesson, merged)


def write_trace(directory: Path, file: Path) -> None:
    """Writes the trace of all ranks, and says what is in it on stderr."""
    trace = run_trace.read(directory)
    try:
        run_trace.write(trace, file)
    except Error as error:  # the exit code is the program's
        click.echo(f"rondo: {error}", err=True)
        return
    first, *others = trace.summary()
    click.echo(f"rondo: trace: {first}, in {file}; ui.perfetto.dev opens it", err=True)
    for line in others:
        click.echo(f"rondo: trace: {line}", err=True)


def show_lesson(lesson: Lesson, merged: Report) -> None:
    """Keeps what the run has shown, and prints how far it is."""
    try:
        click.echo(f"rondo: learned: {lesson.end(merged)}", err=True)
    except Error as error:  # the exit code is the program's
        click.echo(f"rondo: {error}", err=True)


def show_report(merged: Report, merged_file: Path | None) -> None:
    """Prints the merged report of the ranks on stderr, and writes it if asked."""
    # Loaded only now: most runs do without.
    from rich.console import Console  # noqa: PLC0415

    from rondo.launching import run_report, run_table  # noqa: PLC0415

    with contextlib.suppress(OSError):  # the terminal is gone
        run_table.show(merged, Console(stderr=True, highlight=False, markup=False))
    if merged_file is not None:
        try:
            run_report.write(merged, merged_file)
        except Error as error:  # the exit code is the program's
            click.echo(f"rondo: {error}", err=True)
