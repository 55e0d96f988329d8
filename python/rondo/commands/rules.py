# SPDX-License-Identifier: BSD-3-Clause
"""`rondo rules`: rules files."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from rondo import _core, screens
from rondo.bench import plans
from rondo.commands import SuggestingGroup
from rondo.errors import Error
from rondo.selection import inspection, rules_file
from rondo.selection.inspection import Remark, Row
from rondo.shells import completion

FOUND = 1
LIBRARY = "mpich"


@click.group(cls=SuggestingGroup)
def command() -> None:
    """Look at rules files before programs run under them.

    \b
        rondo rules check mine.rules
    """


@command.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--ppn",
    type=click.IntRange(1, plans.MOST_PROCESSES),
    default=1,
    show_default=True,
    help="Of the tables: ranks on each node.",
)
@click.option(
    "--library",
    default=LIBRARY,
    show_default=True,
    metavar="mpich|openmpi|impi|VERSION",
    help="Of the tables: the MPI library, by its name or by what a report of `rondo run` calls it.",
    shell_complete=completion.one_of(("mpich", "openmpi", "impi")),
)
@click.option("--shared-memory", is_flag=True, help="Of the tables: where ranks of a node share memory.")
@click.option(
    "--oversubscribed",
    is_flag=True,
    help="Of the tables: where a node, or the machine of all nodes, has fewer processors than ranks.",
)
@click.option("--overlaps", is_flag=True, help="Also say which rules match some calls of others below them.")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg|png|pdf",
    help="Also draw what the tables say: ranks across, bytes upwards.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all as a JSON object.")
def check(
    *,
    file: Path | None,
    ppn: int,
    library: str,
    shared_memory: bool,
    oversubscribed: bool,
    overlaps: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Say what is wrong with a rules FILE, and show what it chooses where.

    Wrong are malformed lines, with all unknown names; rules that never decide, because rules above them match all their
    calls; and rules whose algorithm refuses every call that was tried. The exit code is 1 if there is any of these, and
    2 if the file cannot be read. Without a FILE, it is the rules that come with Rondo.

    \b
        rondo rules check mine.rules
        rondo rules check mine.rules --ppn 8 --library openmpi
        rondo rules check --output default.svg
        rondo rules check --json

    The tables have ranks downwards, all nodes full, and bytes of the vector across. Operators commute. Ranks are bound
    to no domains of a node.
    """
    path = file if file is not None else rules_file.find(None)
    assert path is not None
    text = rules_file.read(path)
    try:
        version = _core.library(library)["version"]
    except ValueError as error:
        raise Error(f"--library: {error}, or a version as in 'Open MPI v4.1.4'") from None
    if output is not None:
        _check_output(output)
    name = rules_file.shown(path)
    where = f"{ppn} {'rank' if ppn == 1 else 'ranks'} on each node, {version}"
    if inspection.asks_for_domains(text):
        where += ", no domains"
    remarks = inspection.remarks(text, name)
    tables = {
        each["name"]: inspection.regions(
            text, each["name"], ppn, version, shared_memory=shared_memory, oversubscribed=oversubscribed
        )
        for each in _core.collectives()
    }
    if as_json:
        document = {
            "rules": str(path),
            "findings": [dataclasses.asdict(each) for each in remarks if each.is_finding],
            "notes": [dataclasses.asdict(each) for each in remarks if not each.is_finding],
            "library": version,
            "ranks_per_node": ppn,
            "shared_memory": shared_memory,
            "oversubscribed": oversubscribed,
            "collectives": {each: [dataclasses.asdict(row) for row in rows] for each, rows in tables.items()},
        }
        click.echo(json.dumps(document, indent=2))
    else:
        _tell(name, remarks, overlaps)
        _show(tables, where)
    if output is not None:
        is_drawn = _draw(tables, f"{name}, {where}", output)
        said = f"wrote {output}" if is_drawn else f"rondo: {output} is not written: all calls stay native"
        click.echo(said, err=as_json or not is_drawn)
    if any(each.is_finding for each in remarks):
        sys.exit(FOUND)


def _tell(name: str, remarks: Sequence[Remark], overlaps: bool) -> None:
    """Prints a line for each remark."""
    for each in remarks:
        if each.is_finding:
            click.echo(f"{name}:{each.line}: {each.text}")
        elif overlaps or each.kind != "overlaps":
            click.secho(f"{name}:{each.line}: note: {each.text}", dim=True)
    findings = sum(each.is_finding for each in remarks)
    told = "nothing wrong" if findings == 0 else "1 finding" if findings == 1 else f"{findings} findings"
    click.secho(f"{name}: {told}", bold=True)


def _show(tables: dict[str, tuple[Row, ...]], where: str) -> None:
    """Prints what is chosen where."""

    from rondo.selection import inspection_table  # noqa: PLC0415

    click.echo(f"\nWhat serves calls of so many ranks and bytes, {where}:\n")
    console = screens.console()
    native = [each for each, rows in tables.items() if inspection.is_all_native(rows)]
    for collective, rows in tables.items():
        if collective not in native:
            inspection_table.show(collective, rows, console)
    if native:
        click.echo(f"{', '.join(native)}: native, whatever the call")


def _check_output(output: Path) -> None:
    from rondo.reports.figures import FORMATS  # noqa: PLC0415

    if output.suffix[1:].lower() not in FORMATS:
        raise Error(f"--output {output}: expected a name that ends in {', '.join(f'.{each}' for each in FORMATS)}")


def _draw(tables: dict[str, tuple[Row, ...]], title: str, output: Path) -> bool:
    """Draws the collectives of which Rondo serves any call; False if there are none, and nothing to draw."""
    from rondo.reports import rule_figures  # noqa: PLC0415

    served = {each: rows for each, rows in tables.items() if not inspection.is_all_native(rows)}
    if served:
        rule_figures.draw(served, title, output)
    return bool(served)
