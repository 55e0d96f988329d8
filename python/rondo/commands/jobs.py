# SPDX-License-Identifier: BSD-3-Clause
"""`rondo jobs`: what Rondo did in the jobs of a site."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from rondo import screens
from rondo.launching import jobs
from rondo.launching.jobs import Job, Total, gain_text
from rondo.reports import document
from rondo.reports.style import counted
from rondo.shells import completion


@click.command()
@click.option(
    "--by",
    "group",
    type=click.Choice(list(jobs.GROUPS)),
    default="program",
    show_default=True,
    help="What the jobs of a row have in common.",
)
@click.option("--user", "users", multiple=True, metavar="USER", help="Jobs of this user alone. May be repeated.")
@click.option("--program", "programs", multiple=True, metavar="NAME", help="Of this program alone. May be repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help="Write a page with figures there, too, as `rondo report DIRECTORY` does of all jobs.",
)
@click.option("--self-contained", is_flag=True, help="Put into the page what draws its figures: 5 MB.")
@click.argument("directory", type=click.Path(path_type=Path), shell_complete=completion.directories)
def command(
    *,
    group: str,
    users: tuple[str, ...],
    programs: tuple[str, ...],
    as_json: bool,
    page: Path | None,
    self_contained: bool,
    directory: Path,
) -> None:
    """Add up the files that jobs have left in DIRECTORY: what Rondo served, gained and took back.

    Each job leaves one there where the site's configuration, or RONDO_JOBS, names the directory. Gains are those that
    the guard has measured: of calls that it compared with the library, and of others like them. `served` are calls that
    Rondo carried out, `taken back` those that it left to the library because its own choice was no faster, `in trials`
    those of the library while nobody knew.

    \b
        rondo jobs /shared/rondo/jobs
        rondo jobs --by user --json /shared/rondo/jobs
        rondo jobs --program solver --page solver.html /shared/rondo/jobs
    """
    found, unreadable = jobs.read(directory)
    chosen = [
        job
        for job in found
        if (not users or job.owner in users) and (not programs or Path(job.program).name in programs)
    ]
    rows, by_collective = jobs.totals(chosen, group), jobs.collectives(chosen)
    if as_json:
        click.echo(json.dumps({
            "jobs": len(chosen), "by": group, "rows": [dataclasses.asdict(each) for each in rows],
            "collectives": [dataclasses.asdict(each) for each in by_collective], "unreadable": unreadable,
        }, indent=2))  # fmt: skip
    else:
        show(chosen, group, rows, by_collective)
    if page is not None:
        from rondo.launching import jobs_page  # noqa: PLC0415

        source = jobs_page.Source(directory, chosen, unreadable)
        click.echo(
            f"wrote {document.write(page, jobs_page.text([source], self_contained=self_contained))}", err=as_json
        )
    for each in unreadable:
        click.echo(f"rondo: warning: {each}", err=True)


def show(chosen: list[Job], group: str, rows: list[Total], by_collective: list[Total]) -> None:
    """Prints two tables: by what was asked for, and by collective."""
    if not chosen:
        click.echo("no jobs")
        return
    click.echo(f"{counted(len(chosen), 'job')}; calls and seconds are those of all ranks together")
    _show_table(group, rows, with_gain=True)
    _show_table("collective", by_collective, with_gain=False)
    for each in jobs.remarks(chosen):
        click.echo(each)


def _show_table(heading: str, rows: list[Total], *, with_gain: bool) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(heading, overflow="fold")
    headings = ("jobs", "served", "seconds", "library", "seconds", "taken back", "seconds", "in trials")
    for each in (*headings, *(["gained"] if with_gain else [])):
        table.add_column(each, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.name,
            str(row.jobs),
            *_calls(row.rondo_calls, row.rondo_seconds),
            *_calls(row.library_calls, row.library_seconds),
            *_calls(row.taken_back_calls, row.taken_back_seconds),
            str(row.trial_calls),
            *([gain_text(row)] if with_gain else []),
        )
    screens.show(table, screens.console())


def _calls(calls: int, seconds: float) -> tuple[str, str]:
    return str(calls), f"{seconds:.3g}"
