# SPDX-License-Identifier: BSD-3-Clause
"""`rondo learned`: what the guard has found out in earlier runs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from rondo import _core, screens
from rondo.commands import SuggestingGroup, suggestion
from rondo.errors import Error
from rondo.launching import options
from rondo.selection import learned, learned_rules
from rondo.selection.learned import Kept, Verdict
from rondo.shells import completion
from rondo.tune import seen_calls

FILES = click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE|DIRECTORY]...")
DIRECTORY = options.learned_directory("Work on all files of this directory, which was named to `rondo run`.")
COLLECTIVE = click.option(
    "--collective", metavar="NAME", help="Only what is about this collective.", shell_complete=completion.collectives
)
WIDE = 100  # columns; narrower terminals get no times, and not from how many calls they are
NOTHING = "-"
NOT_COMPARED = "not compared"
SHARING = "*"  # a mark, for its words would leave no room for the choice


@click.group(cls=SuggestingGroup)
def command() -> None:
    """What the guard of `rondo run` has found out in earlier runs: who is faster, Rondo's choice or the library.

    There is a file for each machine, MPI library and version of Rondo, in ~/.local/state/rondo/learned unless another
    directory was named to `rondo run` by --learned, as it is named here. Where no file is named, commands work on all.

    \b
        rondo learned show
        rondo learned rules > mine.rules
        rondo learned forget --collective bcast
    """


@command.command()
@FILES
@COLLECTIVE
@DIRECTORY
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def show(*, paths: tuple[Path, ...], collective: str | None, learned_directory: str | None, as_json: bool) -> None:
    """What is known: a table for each file.

    A comparison is open if programs have ended before it was over; it goes on in the next run.
    """
    found = _read(_named(paths, learned_directory), collective)
    if as_json:
        click.echo(json.dumps([row for kept in found for row in learned.as_rows(kept)], indent=2))
        return
    if not found:
        about = f" about {collective}" if collective is not None else ""
        click.echo(f"Nothing was learned yet{about}: rondo run -- mpiexec -n 8 ./app")
    for kept in found:
        _show(kept)


@command.command()
@FILES
@COLLECTIVE
@DIRECTORY
@click.option("--older-than", type=click.IntRange(1), metavar="DAYS", help="Only what was found out before.")
def forget(
    *, paths: tuple[Path, ...], collective: str | None, learned_directory: str | None, older_than: int | None
) -> None:
    """Forget it, so that the next run finds out again; also which calls the rules left to the library (--learn)."""
    forgotten = 0
    places = _named(paths, learned_directory)
    for kept in _read(places, collective):
        known = [*kept.all, *kept.proposals]
        lines = tuple(each.line for each in known if older_than is None or learned.age(each) > older_than)
        if lines:
            learned.change(kept.path, forget=lines)
            forgotten += len(lines)
    if older_than is None:  # nobody knows how old that is
        for verdicts in _files_beside(places):
            seen_calls.forget(verdicts, collective)
    click.echo(f"forgotten: {forgotten}")


@command.command()
@FILES
@COLLECTIVE
@DIRECTORY
def rules(*, paths: tuple[Path, ...], collective: str | None, learned_directory: str | None) -> None:
    """Print it as lines of a rules file, to be put above others.

    What was found out on one machine holds there. Of several files those count that programs would read now: of this
    machine, its figures and this version of Rondo. The rules say for which MPI library they are. Name other files.
    Rules cannot tell floating-point sums from others. Of several verdicts about the same calls, the one with the
    shortest time becomes a rule.
    """
    found = [each for each in _read(_named(paths, learned_directory), collective) if each.verdicts]
    if len(found) > 1:
        found = _of_this_machine(found)
    for kept in found:
        click.echo(f"# {kept.path.name}")
        for line in learned_rules.rules(kept.verdicts, learned.library_here(kept.path) if len(found) > 1 else None):
            click.echo(line)


@command.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FROM")
@click.argument("named", type=click.Path(path_type=Path, dir_okay=False), metavar="[INTO]", required=False)
@options.learned_directory("Where INTO lies if none is named: the file of FROM's name.")
def merge(*, source: Path, named: Path | None, learned_directory: str | None) -> None:
    """Add what one file knows to another, which is made if it is not there. Of two about the same, FROM's holds.

    Which calls the rules left to the library (--learn) is added, too.
    """
    target = _target(source, named, learned_directory)
    if target.exists() and target.samefile(source):
        raise Error(f"{source} is the file to add it to, too; name another one")
    kept = learned.read(source)
    _complain(kept)
    if not target.parent.is_dir():
        raise Error(f"{target}: there is no directory {target.parent}")
    if target.exists():
        for complaint in learned.read(target).complaints:
            raise Error(f"{target}:{complaint.line}: {complaint.what}; that is no file of verdicts, and stays as it is")
    learned.change(target, add="".join(f"{each.line}\n" for each in (*kept.verdicts, *kept.proposals)))
    seen_calls.add(source, target)
    click.echo(f"{target}: {len(kept.verdicts) + len(kept.proposals)} added or replaced")


def _named(paths: Sequence[Path], directory: str | None) -> Sequence[Path]:
    """Files and directories; if there are none, the directory of --learned, else the default one."""
    if paths:
        _refuse_two_places(paths[0], directory)
        return paths
    found = learned.directory(directory, os.environ)
    return [found] if found is not None and (_is_asked_for_directory() or found.is_dir()) else []


def _target(source: Path, named: Path | None, directory: str | None) -> Path:
    """Where a file is merged into."""
    if named is not None:
        _refuse_two_places(named, directory)
        return named
    found = learned.directory(directory, os.environ, make=True)
    if found is None:
        raise Error(f"--learned {directory} keeps nothing; name the file to add it to")
    return found / source.name


def _is_asked_for_directory() -> bool:
    return click.get_current_context().get_parameter_source("learned_directory") is ParameterSource.COMMANDLINE


def _refuse_two_places(path: Path, directory: str | None) -> None:
    if _is_asked_for_directory():
        raise Error(f"{path} and --learned {directory} name two places; leave out one of them")


def _files_beside(paths: Sequence[Path]) -> list[Path]:
    """Those of verdicts, there or not, beside which there may be more."""
    found: list[Path] = []
    for each in paths:
        names = each.glob(f"*{seen_calls.SUFFIX}") if each.is_dir() else ()
        found += [seen_calls.verdicts_beside(name) for name in names] if each.is_dir() else [each]
    return found


def _read(paths: Sequence[Path], collective: str | None) -> list[Kept]:
    """What is known of a collective, or of all. Says of malformed lines what is wrong with them."""
    known = [each["name"] for each in _core.collectives()]
    if collective is not None and collective not in known:
        raise Error(f"there is no collective {collective!r}; {suggestion(collective, known)}")
    found = []
    for path in (each for given in paths for each in learned.files(given)):
        kept = learned.read(path)
        _complain(kept)
        about = kept.about(collective) if collective is not None else kept
        if about.all or about.proposals:
            found.append(about)
    return found


def _of_this_machine(found: list[Kept]) -> list[Kept]:
    """Those of several files that rules can be made of together; Error if there is none, or are two of a library."""
    libraries = [learned.library_here(each.path) for each in found]
    here = [each for each, library in zip(found, libraries, strict=True) if library is not None]
    if len(here) > len({*libraries} - {None}):
        here = [each for each in here if learned.is_in_force(each.path)] or here
    if not here or len(here) > len({*libraries} - {None}):
        names = "\n".join(f"    {each.path}" for each in here or found)
        raise Error(f"there are files of several machines or versions of a library; name one of them:\n{names}")
    for each in found:
        if each not in here:
            what = "of another machine, of other figures of this one, or of another version of Rondo"
            click.echo(f"rondo: {each.path} is {what}; left out", err=True)
    return here


def _complain(kept: Kept) -> None:
    for each in kept.complaints:
        click.echo(f"rondo: warning: {kept.path}:{each.line}: {each.what}; left out", err=True)


def _show(kept: Kept) -> None:
    from rich.box import SIMPLE_HEAD  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    from rondo.reports.style import bytes_text, counted  # noqa: PLC0415

    console = screens.console()
    console.print(str(kept.path), style="bold", soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("collective", overflow="fold")
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("ranks", justify="right", no_wrap=True)
    table.add_column("Rondo's choice", overflow="fold")
    is_wide = console.width >= WIDE
    for heading in ("Rondo", "library", "ratio", "n") if is_wide else ("ratio",):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("faster", no_wrap=True)
    table.add_column("since", no_wrap=True)
    for each in sorted(kept.all, key=lambda verdict: (verdict.collective, verdict.processes, verdict.bytes)):
        table.add_row(
            _subject(each),
            "any" if each.is_of_any_length else f"{bytes_text(each.lowest)}..{bytes_text(each.highest + 1)}",
            _ranks(each),
            each.choice,
            *((_time(each.rondo), _time(each.library)) if is_wide else ()),
            learned_rules.ratio_text(each.ratio) if each.compared and not each.begun else NOTHING,
            *((_calls(each),) if is_wide else ()),
            _faster(each),
            each.day,
        )
    if kept.all:
        screens.show(table, console)
    if kept.proposals:
        console.print(f"and {counted(len(kept.proposals), 'choice')} that the model has proposed", soft_wrap=True)
    if any(each.shared_memory for each in kept.all):
        console.print(f"{SHARING}: ranks of a node share memory", style="dim", soft_wrap=True)


def _calls(verdict: Verdict) -> str:
    return str(verdict.calls) if verdict.calls and not verdict.begun else ""


def _faster(verdict: Verdict) -> str:
    if verdict.begun:
        return f"open, {verdict.begun} timed"
    if not verdict.compared:
        return NOT_COMPARED
    return ("library" if verdict.lost else "Rondo") + (", in a row" if verdict.in_row else "")


def _time(seconds: float) -> str:
    from rondo.reports.style import time_text  # noqa: PLC0415

    return time_text(seconds) if seconds > 0 else NOTHING


def _subject(verdict: Verdict) -> str:
    marks = [" (rounding)"] * verdict.rounding + [" (empty parts)"] * verdict.empty_parts
    return verdict.collective + "".join(marks)


def _ranks(verdict: Verdict) -> str:
    if verdict.nodes == 0:
        return str(verdict.processes)
    way = SHARING if verdict.shared_memory else ""
    if verdict.fewest_on_node == verdict.most_on_node:
        domains = f", {verdict.domains} domains" if verdict.domains > 1 else ""
        return f"{verdict.nodes}x{verdict.most_on_node}{domains}{way}"
    return f"{verdict.processes} on {verdict.nodes} nodes{way}"
