# SPDX-License-Identifier: BSD-3-Clause
"""What commands say on standard error beside errors."""

from __future__ import annotations

import click

_SAID = "rondo.said"


def once(text: str) -> None:
    """Says it, unless this command has said it before: commands look at the same program and rules more than once."""
    context = click.get_current_context(silent=True)
    said: set[str] = context.meta.setdefault(_SAID, set()) if context is not None else set()
    if text not in said:
        said.add(text)
        click.echo(f"rondo: {text}", err=True)
