# SPDX-License-Identifier: BSD-3-Clause
"""The command line. Every module here is a command: its `command` object, under the module's name."""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

import rondo
from rondo.errors import Error
from rondo.shells import scripts
from rondo.shells.manual import summary

CONFIGURED = ("run", "compare", "explain")
"""Commands that heed the configuration of the site."""
FULL = 4
"""Exit code where what there is to say cannot be written."""


def suggestion(word: str, known: list[str]) -> str:
    """What somebody may have meant by a word, or else all that there is."""
    from rondo import _core  # noqa: PLC0415 (only errors need it)

    near = [f"'{each}'" for each in _core.nearest(word, known)]
    return f"did you mean {' or '.join(near)}?" if near else f"expected one of: {', '.join(known)}"


class SuggestingGroup(click.Group):
    """Names the nearest commands where there is none of a name. Its help says of each command what it does."""

    sections: Mapping[str, Sequence[str]] = {}
    """Names of commands under headings; nothing: all under one."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As click does, but in sections, and no summary is cut."""
        names = self.list_commands(ctx)
        longest = max(map(len, names))
        for heading, members in (self.sections or {"Commands": names}).items():
            with formatter.section(heading):
                commands = [(name, self.get_command(ctx, name)) for name in members]
                formatter.write_dl(
                    [(name.ljust(longest), summary(each)) for name, each in commands if each is not None]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but for a name that no command has."""
        name = args[0]
        if not name.startswith("-") and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            ctx.fail(f"No such command '{name}'; {suggestion(name, self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


def _take_over_configuration(args: Sequence[str]) -> None:
    """Makes what the site's configuration says the default of options, unless Rondo is switched off."""
    from rondo.launching import instructed, settings  # noqa: PLC0415 (few commands need them)

    if instructed.switched_off(os.environ) is not None:
        return
    try:
        settings.take_over(os.environ)
    except Error:
        if "--help" not in args:  # which says how to do without
            raise


class CommandPerModule(SuggestingGroup):
    """Finds commands by the names of modules, and imports only the one that is run."""

    sections = {  # noqa: RUF012 (nobody changes it)
        "Run programs": ("run", "compare", "profile"),
        "Find the best choice for a machine": ("tune", "learned", "rules", "calibrate"),
        "Measure": ("bench", "cluster", "report"),
        "Understand": ("list", "explain", "predict", "draw", "export", "import", "distribution"),
        "Set up a machine": ("doctor", "config", "jobs", "shell"),
    }

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in alphabetical order."""
        return sorted(module.name for module in pkgutil.iter_modules(__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of the module with this name; None if there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command. What the site's configuration says is the default of its options, where it starts programs."""
        if args[0] in CONFIGURED and not ctx.resilient_parsing:
            _take_over_configuration(args)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; an Error ends it with its message and its exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except Error as error:
            click.echo(f"rondo: {error}", err=True)
            ctx.exit(error.exit_code)
        return result

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """As click does, but for a full disk; --help and --version write before any command is invoked."""
        if scripts.VARIABLE in os.environ:
            scripts.register()
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            if error.errno != errno.ENOSPC:  # click knows of pipes that nobody reads
                raise
            click.echo(f"rondo: cannot write all that there is to say: {error.strerror}", err=True)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written when Python ends
            sys.exit(FULL)


@click.group(cls=CommandPerModule, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(rondo.__version__, "-V", "--version", message="rondo %(version)s")
def main() -> None:
    """Faster MPI collectives for programs as they are: put `rondo run --` before the launcher.

    \b
    Run a program with the default rules:
        rondo run -- mpiexec -n 8 ./app
    Choose one algorithm, and see afterwards what ran:
        rondo run --use exscan=doubling_123 --report -- mpiexec -n 8 ./app
    What there is to choose from:
        rondo list
        rondo list exscan
    """
