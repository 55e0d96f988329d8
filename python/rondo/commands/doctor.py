# SPDX-License-Identifier: BSD-3-Clause
"""`rondo doctor`: whether this machine has what Rondo needs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import textwrap

import click

from rondo.launching import checkup
from rondo.launching.checkup import State
from rondo.shells import completion

MARKS = {State.GOOD: ("ok", "green"), State.WORTH_KNOWING: ("note", "yellow"), State.WRONG: ("wrong", "red")}
WIDEST = 100  # columns
BESIDE = 26  # columns of what stands before a finding


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of findings.")
@click.argument(
    "launcher",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- LAUNCHER [OPTION]...]",
    shell_complete=completion.command_line,
)
def command(as_json: bool, launcher: tuple[str, ...]) -> None:
    """Look whether this machine has what Rondo needs, and say what to do where it has not.

    What follows -- is the launcher that programs are started with; without it, the first of mpiexec, mpirun and srun
    on PATH. The exit code is 1 if something is wrong.

    \b
        rondo doctor
        rondo doctor -- /opt/openmpi/bin/mpiexec
        rondo doctor --json -- srun -n 2
    """
    found = []
    for finding in checkup.findings(launcher, os.environ):
        found.append(finding)
        if not as_json:
            show(finding)
    wrong = sum(each.state is State.WRONG for each in found)
    if as_json:
        rows = [{**dataclasses.asdict(each), "state": each.state.value} for each in found]
        click.echo(json.dumps(rows, indent=2))
    else:
        click.echo(f"{wrong} of {len(found)} things are wrong" if wrong else "nothing is wrong")
    click.get_current_context().exit(1 if wrong else 0)


def show(finding: checkup.Finding) -> None:
    """Prints a finding: its mark, what it is about, what was found, and what to do."""
    mark, colour = MARKS[finding.state]
    width = max(min(shutil.get_terminal_size().columns, WIDEST) - BESIDE, 40)
    texts = [finding.says, *([f"-> {finding.advice}"] if finding.advice else [])]
    lines = [line for text in texts for line in textwrap.wrap(text, width, break_on_hyphens=False)]
    head = click.style(f"{mark:7}", fg=colour) + f"{finding.about:{BESIDE - 7}}"
    for line in lines:
        click.echo(f"{head}{line}".rstrip())
        head = " " * BESIDE
