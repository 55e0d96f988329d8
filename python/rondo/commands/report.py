# SPDX-License-Identifier: BSD-3-Clause
"""`rondo report`: what Rondo has written, to look at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from rondo.bench import results
from rondo.errors import Error
from rondo.reports import document
from rondo.reports.files import Kind, expanded, one_kind, shown_by
from rondo.shells import completion

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
    shell_complete=completion.some_of(("png", "svg", "pdf")),
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
@click.option(
    "--rules",
    metavar="FILE|none",
    help="Of a profile: what these rules would gain. Default: those that `rondo run` would take there.",
    shell_complete=completion.file_or("none"),
)
@click.option(
    "--machine",
    "machine_file",
    type=click.Path(path_type=Path),
    metavar="FILE|NAME",
    help="Of a profile: predict with the figures of this file of `rondo calibrate`, or of a machine that comes with "
    "Rondo, as hdr. Default: those in the profile.",
)
@click.option("--self-contained", is_flag=True, help="Put into the page what draws its figures: 5 MB.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE|DIRECTORY...")
@click.pass_context
def command(
    context: click.Context,
    *,
    output: Path | None,
    directory: Path | None,
    formats: tuple[str, ...],
    line: str,
    table: Path | None,
    rules: str | None,
    machine_file: Path | None,
    self_contained: bool,
    files: tuple[Path, ...],
) -> None:
    """Show what Rondo has written. Of what `rondo bench` measured: a page, figures for papers, a table.

    For each collective of each file: time over bytes, ratios to the MPI library's own with intervals, the statistically
    justified winner at each length, and how far the numbers can be trusted.

    Files of `rondo profile`, `rondo compare --output`, `rondo run --report` and `rondo bench --map` become pages, too.
    Several profiles stand side by side. Of a directory, it is the map, the results or the jobs in it. Rules, verdicts
    and machine files are shown as by `rondo rules check`, `rondo learned show` and `rondo calibrate --show`.

    \b
        rondo report results.json
        rondo report mpich.json openmpi.json --output comparison.html
        rondo report results.json --figures figures --format pdf
        rondo report before.json after.json
        rondo report profile.json --rules mine.rules
        rondo report map-allreduce

    A page fetches Plotly, which draws its figures, from cdn.plot.ly. With --self-contained it needs no network, and
    has 5 MB more.
    """
    if len(files) == 1 and files[0].is_file() and (words := shown_by(files[0])) is not None:
        click.echo(f"rondo {' '.join(words)}", err=True)
        context.find_root().command.main(list(words), prog_name="rondo")
    paths = expanded(files)
    kind = one_kind(paths)
    if kind is not Kind.RESULTS and (directory is not None or table is not None):
        option = "--figures" if directory is not None else "--csv"
        raise Error(f"{option} is for results of rondo bench; {paths[0]} holds {kind.value}")
    if kind is not Kind.PROFILE and (rules is not None or machine_file is not None):
        option = "--rules" if rules is not None else "--machine"
        raise Error(f"{option} is for profiles; {paths[0]} holds {kind.value}")
    if kind is not Kind.RESULTS:
        if kind is Kind.PROFILE:
            text = _page_of_profiles(paths, rules, machine_file, self_contained)
        else:
            text = PAGES[kind](paths, self_contained)
        click.echo(f"wrote {document.write(output or DEFAULT_PAGE, text)}")
        return
    # Plotly, matplotlib and SciPy take a second to import.
    from rondo.reports import figures, page, rows  # noqa: PLC0415
    from rondo.reports.sections import Source  # noqa: PLC0415

    sources = [Source(each, results.read(each)) for each in paths]
    for each in sources:
        if not each.results.configurations:
            raise Error(f"{each.path} holds no measurement: it was interrupted before the first one was done")
    if directory is None and table is None:
        output = output or DEFAULT_PAGE
    written = []
    if output is not None:
        written.append(document.write(output, page.text(sources, self_contained=self_contained)))
    if directory is not None:
        everything = [section for each in sources for section in each.sections]
        written += figures.draw(everything, directory, formats, line)
    if table is not None:
        written.append(document.write(table, rows.text(sources)))
    for path in written:
        click.echo(f"wrote {path}")
    _warn(sources)


def _page_of_profiles(paths: list[Path], rules: str | None, machine_file: Path | None, self_contained: bool) -> str:
    from rondo.profiling import page, prediction, profile  # noqa: PLC0415

    sources = []
    for path in paths:
        found = profile.read(path)
        if not found.ranks:
            raise Error(f"{path} holds no rank: the program had not called MPI_Init when it ended")
        where = prediction.circumstances(found, os.environ, rules, machine_file)
        sources.append(page.Source(path, prediction.outlook(found, where)))
    return page.text(sources, self_contained=self_contained)


def _page_of_comparisons(paths: list[Path], self_contained: bool) -> str:
    from rondo.comparing import page  # noqa: PLC0415
    from rondo.comparing import results as comparisons  # noqa: PLC0415

    sources = [page.Source(path, comparisons.read(path)) for path in paths]
    for each in sources:
        if not any(one.seconds for one in each.results.rivals):
            raise Error(f"{each.path} holds no run: it was interrupted before the first one had ended")
    return page.text(sources, self_contained=self_contained)


def _page_of_runs(paths: list[Path], self_contained: bool) -> str:
    from rondo.launching import run_page, run_report  # noqa: PLC0415

    sources = [run_page.Source(path, run_report.opened(path)) for path in paths]
    return run_page.text(sources, self_contained=self_contained)


def _page_of_maps(paths: list[Path], self_contained: bool) -> str:
    from rondo.bench import maps  # noqa: PLC0415
    from rondo.reports import map_page  # noqa: PLC0415

    sources = [map_page.Source(path, maps.opened(path)) for path in paths]
    return map_page.text(sources, self_contained=self_contained)


def _page_of_jobs(paths: list[Path], self_contained: bool) -> str:
    from rondo.launching import jobs, jobs_page  # noqa: PLC0415

    folders = [(each, jobs.files_in(each)) for each in paths if each.is_dir()]
    files = [each for each in paths if not each.is_dir()]
    if files:
        folders.append((files[0] if len(files) == 1 else files[0].parent, files))
    sources = [jobs_page.Source(name, *jobs.read_files(each)) for name, each in folders]
    return jobs_page.text(sources, self_contained=self_contained)


PAGES = {
    Kind.COMPARISON: _page_of_comparisons, Kind.RUN: _page_of_runs, Kind.MAP: _page_of_maps, Kind.JOB: _page_of_jobs
}  # fmt: skip


def _warn(sources: list[Any]) -> None:
    from rondo.reports import words  # noqa: PLC0415

    for source in sources:
        lines = [f"{section.collective}: {line}" for section in source.sections for line in words.alarms(section)]
        for line in [*lines, *words.cautions(source)]:
            click.secho(f"rondo: {source.path}: {line}", err=True, fg="red" if line in lines else "yellow")
