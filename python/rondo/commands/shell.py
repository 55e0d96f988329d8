# SPDX-License-Identifier: BSD-3-Clause
"""`rondo shell`: completion and manual pages."""

from __future__ import annotations

from pathlib import Path

import click

from rondo import whole_file
from rondo.errors import Error
from rondo.shells import completion, manual, scripts

PREFIX = Path("~/.local")


@click.command()
@click.option(
    "--install",
    is_flag=True,
    help="Write completion for all three shells, and manual pages, below --prefix.",
)
@click.option(
    "--prefix",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIRECTORY",
    default=PREFIX,
    show_default=True,
    help="Above share/man and the like.",
    shell_complete=completion.directories,
)
@click.argument("shell", type=click.Choice(list(scripts.SHELLS)), required=False, metavar="[bash|zsh|fish]")
@click.pass_context
def command(context: click.Context, *, install: bool, prefix: Path, shell: str | None) -> None:
    """Complete commands, collectives, algorithms and parameters in your shell, and write manual pages.

    With the name of a shell, print what makes it complete words of `rondo`. With --install, write that for all three
    to where they look for it, and manual pages beside it.

    \b
        rondo shell --install
        rondo shell --install --prefix /usr/local
        eval "$(rondo shell bash)"          in ~/.bashrc, or zsh in ~/.zshrc
        rondo shell fish | source           in ~/.config/fish/config.fish

    Bash looks below ~/.local by itself if the package bash-completion is there, fish does so anyway; zsh needs
    `fpath+=~/.local/share/zsh/site-functions` before `compinit`.
    """
    if install == (shell is not None):
        raise Error("expected the name of a shell (bash, zsh or fish), or --install for all of them")
    root = context.find_root()
    if shell is not None:
        click.echo(scripts.text(shell, root.command), nl=False)
        return
    target = prefix.expanduser()
    for each, name in scripts.FILES.items():
        _write(target / name, scripts.text(each, root.command))
        click.echo(f"wrote {target / name}")
    pages = [manual.page(each) for each in manual.contexts(root.command, scripts.COMMAND)]
    for name, text in pages:
        _write(target / manual.FOLDER / name, text)
    click.echo(f"wrote {len(pages)} manual pages into {target / manual.FOLDER}: man rondo-run")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot make {path.parent}: {error.strerror}") from None
    whole_file.write(path, text.encode())
