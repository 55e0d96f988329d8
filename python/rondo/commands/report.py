# SPDX-License-Identifier: BSD-3-Clause
"""`rondo report`: what `rondo bench` measured, to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rondo.bench import results
from rondo.errors import Error

DEFAULT_PAGE = Path("report.html")


class Formats(click.ParamType):
    """Formats of figures, with commas between them."""

    name = "formats"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Their names; Error for one that there is not."""
        from rondo.reports import figures  # noqa: PLC0415

        names = tuple(dict.fromkeys(each.strip() for each in value.split(",")))
        for name in names:
            if name not in figures.FORMATS:
                raise Error(f"unknown format '{name}' in --format {value}; expected {', '.join(figures.FORMATS)}")
        return names


@click.command()
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.html",
    help=f"The page. Default: {DEFAULT_PAGE}, unless only figures or a table are asked for.",
)
@click.option(
    "--figures",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    help="Write figures for papers there, a column wide.",
)
@click.option(
    "--format",
    "formats",
    type=Formats(),
    default="png,svg",
    show_default=True,
    metavar="png,svg,pdf",
    help="Of the figures.",
)
@click.option(
    "--line",
    type=click.Choice(["median", "minimum"]),
    default="median",
    show_default=True,
    help="What the line in figures of times stands for. On the page, the reader chooses.",
)
@click.option(
    "--csv",
    "table",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.csv",
    help="Write every repetition as a row.",
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RESULTS.json...")
def command(
    *,
    output: Path | None,
    directory: Path | None,
    formats: tuple[str, ...],
    line: str,
    table: Path | None,
    files: tuple[Path, ...],
) -> None:
    """Show what `rondo bench` measured: a page that works offline, figures for papers, a table.

    For each collective of each file: time over bytes, ratios to the MPI library's own with intervals, the statistically
    justified winner at each length, and how far the numbers can be trusted.

    \b
        rondo report results.json
        rondo report mpich.json openmpi.json --output comparison.html
        rondo report results.json --figures figures --format pdf
    """
    # Plotly, matplotlib and SciPy take a second to import.
    from rondo.reports import figures, page, rows  # noqa: PLC0415
    from rondo.reports.sections import Source  # noqa: PLC0415

    sources = [Source(each, results.read(each)) for each in dict.fromkeys(files)]
    for each in sources:
        if not each.results.configurations:
            raise Error(f"{each.path} holds no measurement: it was interrupted before the first one was done")
    if directory is None and table is None:
        output = output or DEFAULT_PAGE
    written = []
    if output is not None:
        written.append(_write(output, page.text(sources)))
    if directory is not None:
        everything = [section for each in sources for section in each.sections]
        written += figures.draw(everything, directory, formats, line)
    if table is not None:
        written.append(_write(table, rows.text(sources)))
    for path in written:
        click.echo(f"wrote {path}")
    _warn(sources)


def _warn(sources: list[Any]) -> None:
    from rondo.reports import words  # noqa: PLC0415

    for source in sources:
        lines = [f"{section.collective}: {line}" for section in source.sections for line in words.alarms(section)]
        for line in [*lines, *words.cautions(source)]:
            click.secho(f"rondo: {source.path}: {line}", err=True, fg="red" if line in lines else "yellow")


def _write(path: Path, text: str) -> Path:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror}") from None
    return path
