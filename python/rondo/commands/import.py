# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: N999 (no statement imports it)
"""`rondo import`: whether a schedule that another tool has written is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rondo import _core
from rondo.errors import Error
from rondo.schedules import goal_check, goal_text
from rondo.shells import completion


@click.command()
@click.argument("file", type=click.Path(path_type=Path), shell_complete=completion.files)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(*, file: Path, as_json: bool) -> None:
    """Check a schedule of another tool, in GOAL or in MSCCL's XML.

    Of MSCCL's it is shown, on symbols, that every rank holds in the end what the collective promises, and that no
    thread blocks race. It can be drawn and predicted then, as can Rondo's own algorithms. GOAL says nothing of data:
    there, messages have to match and to be as long as their receivers expect, and all has to come to an end.

    \b
        rondo export allreduce/ring -n 8 --count 8Ki --format msccl -o ring.xml
        rondo import ring.xml
        rondo draw allreduce/file:ring.xml --commutative
        rondo predict allreduce/file:ring.xml --count 1Mi -n 8
        rondo export bcast/binomial -n 8 --count 1Ki --format goal -o bcast.goal
        rondo import bcast.goal
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Error(f"cannot read {file}: not a text file") from None
    found = _msccl(file) if text.lstrip().startswith("<") else _goal(text, str(file))
    if as_json:
        click.echo(json.dumps({"file": str(file), **found}, indent=2))
        return
    _show(file, found)


def _msccl(file: Path) -> dict[str, Any]:
    try:
        return {"format": "msccl", **_core.read_schedule(str(file))}
    except ValueError as error:
        raise Error(str(error)) from None


def _goal(text: str, name: str) -> dict[str, Any]:
    goal = goal_text.read(text, name)
    counts = goal_check.check(goal, name)
    return {
        "format": "goal",
        "processes": len(goal.ranks),
        "messages": counts.messages,
        "bytes": counts.bytes,
        "rounds": counts.rounds,
        "needs_buffers": counts.needs_buffers,
    }


def _show(file: Path, found: dict[str, Any]) -> None:
    from rondo.reports.style import bytes_text, counted  # noqa: PLC0415

    of_messages = f"{counted(found['messages'], 'message')}, {counted(round(found['rounds']), 'round')}"
    ranks = counted(found["processes"], "rank")
    if found["format"] == "goal":
        click.echo(f"{file}: {ranks}, {of_messages}, {bytes_text(found['bytes'])}")
        click.echo("All messages match, and all operations come to an end. GOAL has no data: nothing else is checked.")
        if found["needs_buffers"]:
            click.echo("It stops where sends wait for their receivers: the network has to buffer messages.")
        return
    root = f" to root {found['root']}" if found["root"] else ""
    click.echo(f"{file}: {found['collective']}{root} on {ranks} in {counted(found['chunks'], 'chunk')}, {of_messages}")
    races = "No thread blocks race" if found["without_races"] else "It is too large to look for races"
    click.echo(f"Every rank holds in the end what {found['collective']} promises. {races}.")
