# SPDX-License-Identifier: BSD-3-Clause
"""`rondo list`: which algorithms there are."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from typing import Any

import click

from rondo import _core, forms
from rondo.errors import Error
from rondo.shells import completion

WIDEST = 100  # columns; longer lines are hard to read
LEAST_BESIDE_NAMES = 35  # columns; where there are fewer, names stand above what there is to say


@click.command()
@click.argument("collective", required=False, shell_complete=completion.collectives)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object: collective -> list of algorithms.")
def command(collective: str | None, as_json: bool) -> None:
    """Show the algorithms: all, or with papers and parameters those of one COLLECTIVE.

    \b
        rondo list
        rondo list exscan
        rondo list exscan --json
    """
    names = [collective] if collective else [each["name"] for each in _core.collectives()]
    algorithms = {name: describe(name) for name in names}
    if as_json:
        click.echo(json.dumps(algorithms, indent=2))
        return
    for name in names:
        show(name, algorithms[name], details=collective is not None)
    if collective is None:
        click.echo("Papers, parameters and requirements: rondo list COLLECTIVE")


def describe(collective: str) -> list[dict[str, Any]]:
    """The algorithms of a collective; Error with the nearest names if there is no such collective."""
    try:
        algorithms: list[dict[str, Any]] = _core.algorithms(collective)
    except ValueError as error:
        raise Error(str(error)) from None
    return algorithms


def show(collective: str, algorithms: list[dict[str, Any]], details: bool) -> None:
    """Prints the algorithms of a collective, names on the left, what there is to say about them on the right."""
    summary = next(each["summary"] for each in _core.collectives() if each["name"] == collective)
    title = textwrap.fill(f"{collective}: {summary}", _columns())
    click.echo(title.replace(collective, click.style(collective, bold=True), 1) + "\n")
    if details:
        click.echo(textwrap.fill(forms_of(collective), _columns()) + "\n")
    indent = max(len(algorithm["name"]) for algorithm in algorithms) + 4
    for algorithm in algorithms:
        _show_row(algorithm["name"], [algorithm["summary"], *(details_of(algorithm) if details else [])], indent)
        if details:
            click.echo()
    _show_row("native", ["the MPI library's own"], indent)
    click.echo()


def forms_of(collective: str) -> str:
    """Which functions all algorithms of a collective serve, in words."""
    blocking, *others = (", ".join(forms.functions_of(collective, each)) for each in forms.FORMS)
    return f"Each serves {blocking}, and with MPICH and Open MPI {', '.join(others)}."


def details_of(algorithm: dict[str, Any]) -> list[str]:
    """Paper, requirements and parameters, a line each."""
    lines = [f"paper: {algorithm['reference'] or algorithm['citation']}"]
    lines += [f"needs: {requirement}" for requirement in algorithm["requirements"]]
    for parameter in algorithm["parameters"]:
        value, others = values_of(parameter)
        lines.append(f"{parameter['name']}={value} ({others}): {parameter['summary']}")
    return lines


def values_of(parameter: dict[str, Any]) -> tuple[str, str]:
    """The value of who sets nothing, and what can be set."""
    if names := parameter["names"]:
        return names[parameter["standard"]], f"or {', '.join(names[1:])}"
    lowest, highest, standard = (_core.quantity_text(parameter[key]) for key in ("minimum", "maximum", "standard"))
    unit = f" {parameter['unit']}" if parameter["unit"] else ""
    if parameter["automatic"]:
        return "auto", f"{lowest} to {highest}{unit}, or auto: the best for the call on this machine"
    return standard, f"{lowest} to {highest}{unit}"


def _show_row(name: str, lines: list[str], indent: int) -> None:
    columns = _columns()
    beside = columns - indent >= LEAST_BESIDE_NAMES
    if not beside:
        indent = 4
    wrapped = []
    for line in lines:
        wrapped += textwrap.wrap(line, max(columns - indent, 1), subsequent_indent="  " if line is not lines[0] else "")
    title = f"  {click.style(name, bold=True)}"
    if beside:
        title += " " * (indent - 2 - len(name)) + wrapped.pop(0)
    click.echo(title)
    for line in wrapped:
        click.echo(" " * indent + line)


def _columns() -> int:
    """How long a line may be."""
    return max(min(shutil.get_terminal_size().columns, WIDEST), 20) if sys.stdout.isatty() else 80
