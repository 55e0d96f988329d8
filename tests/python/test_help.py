# SPDX-License-Identifier: BSD-3-Clause
"""The help of every command: on 80 columns, with nothing cut."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

pytest.importorskip("rondo._core", reason="the package rondo is not installed: make install")
from rondo.shells import manual

from rondo import commands

COLUMNS = 80


def all_commands() -> Iterator[list[str]]:
    """The words of each command and of each group."""
    context = click.Context(commands.main)
    yield []
    for name in commands.main.list_commands(context):
        command = commands.main.get_command(context, name)
        yield [name]
        if isinstance(command, click.Group):
            yield from ([name, each] for each in command.list_commands(context))


def help_of(words: list[str]) -> str:
    result = CliRunner().invoke(
        commands.main, [*words, "--help"], env={"COLUMNS": str(COLUMNS)}, terminal_width=COLUMNS
    )
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("words", list(all_commands()), ids=lambda words: "-".join(words) or "rondo")
def test_help_fits_eighty_columns(words: list[str]) -> None:
    text = help_of(words)
    assert max(map(len, text.splitlines())) <= COLUMNS
    assert words == [] or "Usage: " in text


def test_every_command_is_in_one_section_with_its_whole_summary() -> None:
    text = help_of([])
    context = click.Context(commands.main)
    names = [name for section in commands.main.sections.values() for name in section]
    assert sorted(names) == commands.main.list_commands(context)
    words = " ".join(text.split())
    for name in names:
        assert f"{name} {manual.summary(commands.main.get_command(context, name))}" in words


@pytest.mark.parametrize("group", ["cluster", "learned", "rules"])
def test_groups_cut_no_summary(group: str) -> None:
    command = commands.main.get_command(click.Context(commands.main), group)
    assert isinstance(command, click.Group)
    words = " ".join(help_of([group]).split())
    for name, each in command.commands.items():
        assert f"{name} {manual.summary(each)}" in words
