# SPDX-License-Identifier: BSD-3-Clause
"""`rondo profile`: what an unmodified program spends in MPI."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from pathlib import Path

import click
import msgspec

from rondo.cluster import cluster
from rondo.commands import FULL
from rondo.commands.run import check_json_file, refuse_unknown_option
from rondo.errors import Error
from rondo.launching import options, process, shared_directory
from rondo.launching.instructed import mpi_on_cluster
from rondo.machine import machine
from rondo.profiling import profiled
from rondo.selection import learned
from rondo.shells import completion

DIRECTORY = ".rondo-profile-"
NOT_WRITTEN = FULL


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--output",
    "output",
    metavar="FILE.json",
    default="profile.json",
    show_default=True,
    help="Where the profile goes; an older file of that name is replaced.",
    shell_complete=completion.files,
)
@options.for_programs
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="-- LAUNCHER ... PROGRAM ...",
    shell_complete=completion.command_line,
)
def command(
    *, output: str, wanted: str, cluster_text: str | None, wanted_mpi: str | None, words: tuple[str, ...]
) -> None:
    """Run a program, and tell what it spends in MPI: by collective, size, communicator and call site.

    Put it before the command that you have. Nothing needs to be compiled or linked again, and Rondo changes no
    collective. It ends with the launcher's exit code; with 2 if Rondo itself refuses, before anything has been started;
    with 4 if the program has ended with 0, but the profile cannot be written.

    \b
        rondo profile -- mpiexec -n 8 ./app input.dat
        rondo profile --output app.json -- mpirun -np 8 python3 script.py
        rondo profile --cluster 4x4:2ms:100Mbit -- ./app
    """
    path = check_json_file("--output", output)
    if path is None:
        raise Error("--output: expected the name of a file that ends in .json")
    refuse_unknown_option(words, command)
    if wanted_mpi is not None and cluster_text is None:
        raise Error("--mpi chooses the launcher on an emulated cluster; expected --cluster beside it")
    start = profiled.prepare(words, os.environ, wanted)
    named = os.environ.get(machine.VARIABLE) or None
    figures = machine.find(named, os.environ) if cluster_text is None else None
    directory = shared_directory.new(DIRECTORY, "the ranks' files", path)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, directory, ignore_errors=True)
        if cluster_text is None:
            launch, shape = start.under_launcher(directory), ""
        else:
            mpi = mpi_on_cluster(start.line, wanted_mpi, wanted)
            running = stack.enter_context(cluster.opened(cluster_text))
            launch, shape = start.on_cluster(running, mpi, directory), str(running.shape)
            figures = running.directory / "machine"
        costs = figures.read_text(encoding="utf-8") if figures is not None else ""
        with process.requests_to_end():  # whoever asks more than once shall get the profile all the same
            code = process.run(launch.words, {**start.environment, **launch.environment})
            is_written = _tell(directory, words, path, cluster=shape, machine=costs)
    sys.exit(code or (0 if is_written else NOT_WRITTEN))


def _tell(directory: Path, words: tuple[str, ...], path: Path, **where: str) -> bool:
    """Writes the profile, with what is known of where it was made, and shows it on stderr. Whether it is written."""
    from rich.console import Console  # noqa: PLC0415

    from rondo.profiling import profile, reading, terminal  # noqa: PLC0415

    found = msgspec.structs.replace(reading.read(directory, words), **where)
    if not (found.machine or found.cluster or os.environ.get(machine.VARIABLE)):
        known_in = learned.directory(os.environ.get(learned.VARIABLE), os.environ)
        measured = learned.measured_machine(known_in, found.library)
        text = measured.read_text(encoding="utf-8") if measured is not None else ""
        found = msgspec.structs.replace(found, machine=text)
    problem = None
    try:
        profile.write(found, path)
    except Error as error:
        problem = error
    with contextlib.suppress(OSError):  # the terminal is gone
        terminal.show(found, Console(stderr=True, highlight=False, markup=False))
    page = f"; rondo report {path.name} makes a page of it" if found.ranks else ""
    click.echo(f"rondo: {problem}" if problem else f"wrote {path}{page}", err=True)
    return problem is None
