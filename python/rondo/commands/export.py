# SPDX-License-Identifier: BSD-3-Clause
"""`rondo export`: the schedule of a call, for other tools."""

from __future__ import annotations

import os
from pathlib import Path

import click

from rondo import whole_file
from rondo.drawing.trace import OVERLAPPED, Problem
from rondo.launching import options
from rondo.machine import machine
from rondo.selection import call_words, choices
from rondo.shells import completion

FORMATS = ("goal", "msccl", "perfetto", "json")


@click.command()
@click.argument("algorithm", metavar="COLLECTIVE/ALGORITHM", shell_complete=completion.drawings)
@options.call
@options.operator
@click.option("--root", type=int, default=0, show_default=True, help="Of collectives that have one.")
@click.option("--in-place", is_flag=True, help="As with MPI_IN_PLACE.")
@options.machine_file(
    "By whose figures segments are chosen, and times are found where a format has times.", of_programs=False
)
@click.option(
    "--format",
    "wanted",
    type=click.Choice(FORMATS),
    required=True,
    help="GOAL, as LogGOPSim reads it; MSCCL's XML; a trace of the run in virtual time for Perfetto (ui.perfetto.dev); "
    "or all that plans have, as JSON.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Default: standard output.",
)
def command(
    *,
    algorithm: str,
    count: str | None,
    type_name: str,
    processes: int | None,
    ppn: int | None,
    nodes: str | None,
    operator: str,
    root: int,
    in_place: bool,
    machine_file: str | None,
    wanted: str,
    output: Path | None,
) -> None:
    """Write the schedule of one call down, in a format of other tools.

    All ranks' steps of the algorithm are there, with what must wait for what. Nothing is run.

    \b
        rondo export bcast/binomial -n 8 --count 1Ki --format goal -o bcast.goal
        rondo export allreduce/ring -n 8 --count 8Ki --format msccl -o ring.xml
        rondo export scan/two_tree -n 16 --count 1k --format perfetto -o a.json
        rondo export exscan/doubling_123 -n 5 --count 1 --format json

    A count is that of the call: of reduce_scatter, allgather, alltoall, gather and scatter, of one rank's part; a
    barrier has none.
    """
    collective, choice = choices.of_algorithm(algorithm)
    traits = call_words.traits_of(collective)
    ranks_on = call_words.ranks_on_nodes(processes, ppn, nodes)
    elements = call_words.count_of(traits, count)
    problem = Problem(
        collective,
        choice,
        sum(ranks_on),
        elements * sum(ranks_on) if call_words.has_parts(traits) else elements,
        call_words.element_bytes_of(type_name) if traits["has_data"] else 0,
        root,
        traits["has_operation"] and operator != options.USER_OPERATOR,
        in_place,
        OVERLAPPED,
        nodes=ranks_on if ppn is not None or nodes is not None else (),
    )
    figures = machine.find(machine_file, os.environ)
    text = _written(problem, wanted, machine.read(figures) if figures is not None else machine.standard())
    if output is None:
        click.echo(text, nl=False)
        return
    whole_file.write(output, text.encode())
    click.echo(f"wrote {output}")


def _written(problem: Problem, wanted: str, figures: machine.Machine) -> str:
    from rondo.schedules import goal, msccl, plans, virtual_trace  # noqa: PLC0415 (one of them is needed)

    if wanted == "perfetto":
        return virtual_trace.written(problem, figures)
    found = plans.of(problem, figures)
    if wanted == "json":
        return plans.as_json(problem, found)
    if wanted == "goal":
        return goal.written(problem, found, figures.gamma)
    text = msccl.written(problem, found)
    if (steps := msccl.longest(text)) > msccl.MOST_STEPS:
        click.echo(
            f"rondo: warning: a thread block has {steps} steps; MSCCL's interpreter takes {msccl.MOST_STEPS}", err=True
        )
    return text
