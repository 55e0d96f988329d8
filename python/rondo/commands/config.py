# SPDX-License-Identifier: BSD-3-Clause
"""`rondo config`: what holds in programs here, and who said so."""

from __future__ import annotations

import dataclasses
import json
import os

import click

from rondo import screens
from rondo.launching import settings
from rondo.launching.settings import InForce


@click.command()
@click.option("--all", "everything", is_flag=True, help="Also settings about which nobody has said anything.")
@click.option("--program", metavar="PROGRAM", help="Say whether this program is left out.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(everything: bool, program: str | None, as_json: bool) -> None:
    """Show what Rondo is told in programs that start here, and where each value comes from.

    The site's configuration is /etc/rondo/config, or what RONDO_CONFIG names; variables of the environment stand above
    it. The exit code is 1 if the configuration cannot be read.

    \b
        rondo config
        rondo config --all --json
        rondo config --program ./app
    """
    found = settings.in_force(os.environ)
    reason = settings.left_out(program, os.environ) if program is not None else None
    if as_json:
        left_out = {"program": program, "left_out_by": reason} if program is not None else {}
        click.echo(json.dumps({**dataclasses.asdict(found), **left_out}, indent=2))
    else:
        show(found, everything=everything)
        if program is not None:
            click.echo(f"{program}: left to the MPI library, by {reason}" if reason else f"{program}: served")
    for complaint in found.complaints:
        click.echo(f"rondo: {complaint}", err=True)
    click.get_current_context().exit(0 if found.usable else 1)


def show(found: InForce, *, everything: bool) -> None:
    """Prints a row for each setting that somebody has made, or for all."""
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415 (most commands do without)
    from rich.table import Table  # noqa: PLC0415

    click.echo(f"configuration: {found.configuration or 'none'}")
    rows = [each for each in found.settings if each.origin or everything]
    if not rows:
        click.echo("nobody has set anything (--all shows what there is)")
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in ("variable", "value", "said by", *(["meaning"] if everything else [])):
        table.add_column(heading, overflow="fold")
    for each in rows:
        source = "the environment" if each.origin == each.variable else each.origin or "nobody"
        table.add_row(each.variable, each.value, source, *([each.meaning] if everything else []))
    screens.show(table, screens.console())
