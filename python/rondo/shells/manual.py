# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages, from the help of the commands: rondo(1), rondo-run(1), rondo-learned-show(1).

PyPI's click-man cuts summaries, joins the lines of examples, and sees no commands that are loaded when they are needed.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

import rondo

FOLDER = "share/man/man1"
VERBATIM = "\b"
"""Click's mark before lines that stay as they are."""


def contexts(command: click.Command, name: str) -> Iterator[click.Context]:
    """Of a command, and of all below it."""
    yield from _and_below(click.Context(command, info_name=name, **command.context_settings))


def page(context: click.Context) -> tuple[str, str]:
    """The file name of a command's page, and its text."""
    return f"{_name(context)}.1", "\n".join([*_page(context.command, context), ""])


def _and_below(context: click.Context) -> Iterator[click.Context]:
    yield context
    for each in _below(context):
        yield from _and_below(each)


def _below(context: click.Context) -> Iterator[click.Context]:
    """A context for each command of a group."""
    group = context.command
    for name in group.list_commands(context) if isinstance(group, click.Group) else ():
        command = group.get_command(context, name)
        assert command is not None
        yield click.Context(command, info_name=name, parent=context)


def _name(context: click.Context) -> str:
    return context.command_path.replace(" ", "-")


def paragraphs(command: click.Command) -> list[tuple[str, bool]]:
    """Of its help, and whether the lines of each stay as they are."""
    texts = re.split(r"\n\s*\n", inspect.cleandoc(command.help or ""))
    return [(each.removeprefix(VERBATIM).lstrip("\n"), each.startswith(VERBATIM)) for each in texts]


def summary(command: click.Command) -> str:
    """The first sentence of its help, whole."""
    first, _ = paragraphs(command)[0]
    return re.split(r"(?<=\.)\s", " ".join(first.split()), maxsplit=1)[0]


def _page(command: click.Command, context: click.Context) -> Iterator[str]:
    name = _name(context)
    yield f'.TH "{name.upper()}" 1 "" "Rondo {rondo.__version__}" "Rondo"'
    yield from (".SH NAME", f"{_escaped(name)} \\- {_escaped(summary(command).removesuffix('.'))}")
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from (".SH SYNOPSIS", f"\\fB{_escaped(context.command_path)}\\fR {_escaped(pieces)}")
    yield ".SH DESCRIPTION"
    for text, stays in paragraphs(command):
        yield from (".PP", *((".nf", _escaped(text), ".fi") if stays else (_escaped(" ".join(text.split())),)))
    yield ".SH OPTIONS"
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record is not None:
            yield from (".TP", f"\\fB{_escaped(record[0])}\\fR", _escaped(record[1]))
    below = list(_below(context))
    if below:
        yield ".SH COMMANDS"
    for each in below:
        yield from (".TP", f"\\fB{_escaped(_name(each))}\\fR(1)", _escaped(summary(each.command)))
    if context.parent is not None:
        yield from (".SH SEE ALSO", f"\\fB{_escaped(_name(context.parent))}\\fR(1)")


def _escaped(text: str) -> str:
    """As roff prints it: a dot at the beginning of a line would be a request, a bare - a hyphen."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", plain, flags=re.MULTILINE)
