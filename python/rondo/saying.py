# SPDX-License-Identifier: BSD-3-Clause
"""What commands say on standard error beside errors."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ParamSpec

import click

EVERY = 5.0
"""Seconds between two lines about long work."""
_SAID = "rondo.said"
Facts = ParamSpec("Facts")


def once(text: str) -> None:
    """Says it, unless this command has said it before: commands look at the same program and rules more than once."""
    context = click.get_current_context(silent=True)
    said: set[str] = context.meta.setdefault(_SAID, set()) if context is not None else set()
    if text not in said:
        said.add(text)
        click.echo(f"rondo: {text}", err=True)


def now_and_then(words: Callable[Facts, str]) -> Callable[Facts, None]:
    """Says how far long work is, each time that it is told, but not more often than every few seconds."""
    told = time.monotonic()

    def look(*arguments: Facts.args, **named: Facts.kwargs) -> None:
        nonlocal told
        if time.monotonic() - told < EVERY:
            return
        told = time.monotonic()
        click.echo(f"rondo: {words(*arguments, **named)}", err=True)

    return look
