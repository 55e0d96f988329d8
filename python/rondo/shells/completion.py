# SPDX-License-Identifier: BSD-3-Clause
"""What may stand where in a command line, for completion: values of `shell_complete` of options and arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

LAUNCHERS = ("mpiexec", "mpirun", "srun", "flux", "jsrun", "aprun", "ibrun")
NATIVE = "native"
Items = list[CompletionItem[str]]
Completer = Callable[[click.Context, click.Parameter, str], Items]


def files(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """Any file."""
    return [CompletionItem(typed, type="file")]


def directories(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """Any directory."""
    return [CompletionItem(typed, type="dir")]


def one_of(words: Iterable[str], *, or_files: bool = False) -> Completer:
    """One of these words, or any file."""
    known = tuple(words)

    def complete(context: click.Context, parameter: click.Parameter, typed: str) -> Items:
        found = _beginning(typed, ((each, "") for each in known))
        return [*found, *files(context, parameter, typed)] if or_files else found

    return complete


def some_of(words: Iterable[str]) -> Completer:
    """Some of these words, with commas in between."""
    known = tuple(words)

    def complete(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
        before, comma, last = typed.rpartition(",")
        return _beginning(last, ((each, "") for each in known), f"{before}{comma}")

    return complete


def file_or(*words: str) -> Completer:
    """One of these words, or a file."""
    known = one_of(words)
    return lambda context, parameter, typed: (
        (typed and known(context, parameter, typed)) or files(context, parameter, typed)
    )


def collectives(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """The name of a collective."""
    return _beginning(typed, _collectives())


def algorithms(context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """An algorithm of the collective that stands before it, or else of any; with parameters."""
    return _choices(typed, _first_argument(context))


def algorithm_list(context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """Algorithms with commas in between. What follows a comma behind a parameter may be another parameter."""
    before, comma, last = typed.rpartition(",")
    return _choices(last, _first_argument(context), f"{before}{comma}")


def exclusive_scans(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """An algorithm of exscan, or the chain of `rondo distribution`."""
    return [*_beginning(typed, [("chain", "")]), *_choices(typed, "exscan")]


def assignments(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """COLLECTIVE=ALGORITHM[:PARAMETER=VALUE,...]."""
    collective, equals, choice = typed.partition("=")
    if not equals:
        return _beginning(typed, ((f"{name}=", summary) for name, summary in _collectives()))
    return _choices(choice, collective, f"{collective}=")


def drawings(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """COLLECTIVE/ALGORITHM[:PARAMETER=VALUE,...]."""
    collective, slash, choice = typed.partition("/")
    if not slash:
        return _beginning(typed, ((f"{name}/", summary) for name, summary in _collectives()))
    return [each for each in _choices(choice, collective, f"{collective}/") if not each.value.endswith(f"/{NATIVE}")]


def settings(context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """PARAMETER=VALUE of the algorithm that is drawn, where that stands before."""
    collective, _, choice = (_first_argument(context) or "").partition("/")
    return _parameters(collective, choice.partition(":")[0], typed)


def clusters(_context: click.Context, _parameter: click.Parameter, typed: str) -> Items:
    """The name of a cluster that is up."""
    from rondo.cluster import cluster  # noqa: PLC0415

    return _beginning(typed, ((each.name, str(each.shape)) for each in cluster.running_clusters()))


def command_line(context: click.Context, parameter: click.Parameter, typed: str) -> Items:
    """A program, and then whatever files it takes."""
    before: Sequence[str] = context.params.get(str(parameter.name)) or ()
    if before or "/" in typed:
        return [CompletionItem(typed, type="file")]
    found = sorted(set(_programs(typed))) if typed else LAUNCHERS
    return [CompletionItem(each) for each in found] or [CompletionItem(typed, type="file")]


def _first_argument(context: click.Context) -> str | None:
    """What stands there already. Click leaves arguments unread while an option lacks its value."""
    argument = next(each for each in context.command.params if isinstance(each, click.Argument))
    return context.params.get(str(argument.name)) or next(iter(context.args), None)


def _programs(beginning: str) -> Iterator[str]:
    """The names of programs on PATH."""
    for directory in os.get_exec_path():
        yield from (each.name for each in Path(directory).glob(f"{beginning}*") if os.access(each, os.X_OK))


def _collectives() -> Iterator[tuple[str, str]]:
    from rondo import _core  # noqa: PLC0415 (only completion needs it)

    yield from ((each["name"], each["summary"]) for each in _core.collectives())


def _algorithms(collective: str | None) -> list[dict[str, Any]]:
    """Of this collective, of all for None; none if there is no such collective."""
    from rondo import _core  # noqa: PLC0415

    names = [name for name, _ in _collectives()]
    wanted = names if collective is None else [name for name in names if name == collective]
    return [each for name in wanted for each in _core.algorithms(name)]


def _choices(typed: str, collective: str | None, before: str = "") -> Items:
    """Algorithms, and behind a colon their parameters."""
    name, colon, parameters = typed.partition(":")
    if colon:
        return _parameters(collective, name, parameters, f"{before}{name}:")
    known = {each["name"]: each["summary"] for each in _algorithms(collective)}
    return _beginning(typed, [*known.items(), (NATIVE, "the MPI library's own")], before) if known else []


def _parameters(collective: str | None, algorithm: str, typed: str, before: str = "") -> Items:
    """PARAMETER=VALUE,...; the values only of parameters that have names for them."""
    done, comma, last = typed.rpartition(",")
    known = {
        each["name"]: each for one in _algorithms(collective) if one["name"] == algorithm for each in one["parameters"]
    }
    name, equals, value = last.partition("=")
    if not equals:
        return _beginning(last, ((f"{each}=", "") for each in known), f"{before}{done}{comma}")
    parameter = known.get(name, {"names": (), "automatic": False})
    values = [*parameter["names"], *(["auto"] if parameter["automatic"] else [])]
    return _beginning(value, ((each, "") for each in values), f"{before}{done}{comma}{name}=")


def _beginning(typed: str, known: Iterable[tuple[str, str]], before: str = "") -> Items:
    """Those of the words that begin with what is typed."""
    return [CompletionItem(f"{before}{word}", help=text or None) for word, text in known if word.startswith(typed)]
