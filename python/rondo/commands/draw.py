# SPDX-License-Identifier: BSD-3-Clause
"""`rondo draw`: what an algorithm does, as a picture."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import click

from rondo import _core
from rondo.cluster import shapes
from rondo.drawing import trace
from rondo.drawing.trace import Costs, Problem
from rondo.errors import Error
from rondo.machine import placement
from rondo.selection import choices
from rondo.shells import completion

PICTURES = ("auto", "spacetime", "trees")
BLOCKS = 8  # of the vector, where nothing else is said
FULL = 8  # times as many blocks, where nothing is said, for the colours of trees: the pipeline is mostly full then
UNSEGMENTED = 8192  # elements; see _count_and_segment
MOST_DRAWN = 20_000
MOST_WRITTEN = 1_000_000
RANKS = 8
ALPHA, RATE = "2ms", "200Mbit"
ALPHA_INSIDE, RATE_INSIDE = "20us", "10Gbit"


@click.command()
@click.option("-p", "--processes", type=int, help=f"Ranks. Default: those of --nodes, or {RANKS}.")
@click.option(
    "--nodes",
    metavar="NODESxRANKS|RANKS,RANKS,...",
    help="Where the ranks are: 4x8 is four nodes of eight, 4,4,3 three that differ. Default: each rank on its own.",
)
@click.option(
    "--count",
    metavar="ELEMENTS",
    help=f"Of the whole vector, as in 64Ki. Default: {BLOCKS} segments, or {UNSEGMENTED}.",
)
@click.option("--element-bytes", type=int, default=8, show_default=True, help="Size of an element.")
@click.option("--root", type=int, default=0, show_default=True, help="Of collectives that have one.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PARAMETER=VALUE",
    help="Of the algorithm. May be repeated.",
    shell_complete=completion.settings,
)
@click.option("--commutative", is_flag=True, help="The operator is commutative; some reductions need that.")
@click.option("--in-place", is_flag=True, help="As with MPI_IN_PLACE.")
@click.option(
    "--time",
    type=click.Choice(trace.TIMES),
    default=trace.ROUNDS,
    show_default=True,
    help="Rounds as papers count them; or seconds: in lock step, or overlapped, as Rondo runs schedules.",
)
@click.option("--alpha", metavar="TIME", help=f"Of a message. Default, in seconds: {ALPHA}.")
@click.option("--rate", metavar="RATE", help=f"Of the network. Default, in seconds: {RATE}.")
@click.option("--operator-rate", metavar="RATE", help="At which an operator makes results. Default: infinite.")
@click.option("--overhead", metavar="TIME", help="Of a processor per message, overlapped. Default: none.")
@click.option(
    "--alpha-inside", metavar="TIME", help=f"Of a message inside a node. Default, with --nodes: {ALPHA_INSIDE}."
)
@click.option("--rate-inside", metavar="RATE", help=f"Inside a node. Default, with --nodes: {RATE_INSIDE}.")
@click.option("--lanes", type=click.IntRange(1), help="Links of a node, which its ranks share, overlapped. Default: 1.")
@click.option(
    "--eager", metavar="BYTES", help="Of the longest message between nodes that does not wait for its receiver."
)
@click.option("--rendezvous", metavar="TIME", help="What longer ones take in addition. Default: twice --alpha.")
@click.option(
    "--picture",
    type=click.Choice(PICTURES),
    default="auto",
    show_default=True,
    help="A line per rank and an arrow per message; or the trees that messages form. `auto` draws trees if blocks "
    "travel one or two spanning trees, unless --time asks for seconds.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg|png|pdf",
    help="Default: COLLECTIVE-ALGORITHM-pP.svg.",
)
@click.option("--json", "as_json", is_flag=True, help="Print all that happens as JSON; draw only if --output is given.")
@click.argument("algorithm", metavar="COLLECTIVE/ALGORITHM", shell_complete=completion.drawings)
def command(
    *,
    algorithm: str,
    processes: int | None,
    nodes: str | None,
    count: str | None,
    element_bytes: int,
    root: int,
    settings: tuple[str, ...],
    commutative: bool,
    in_place: bool,
    time: str,
    picture: str,
    output: Path | None,
    as_json: bool,
    lanes: int | None,
    **costs: str | None,
) -> None:
    """Draw what an algorithm does: who sends what to whom, when, and what is combined.

    Everything is read from a run of the algorithm itself, all ranks of it, in virtual time.

    \b
    The messages of each round, with the ranks whose inputs they combine:
        rondo draw exscan/doubling_123 -p 8
    The blocks of a pipeline, in rounds and in seconds:
        rondo draw scan/linear_pipeline -p 6 --count 40 --set segment=64
        rondo draw scan/linear_pipeline:segment=4Ki -p 6 --time overlapped
    Nodes that ranks share:
        rondo draw bcast/full_lane --nodes 4x4
        rondo draw allreduce/full_lane --nodes 4,4,3 --commutative
    Trees, each edge in the colour of the rounds in which it is used:
        rondo draw bcast/two_tree -p 10
        rondo draw bcast/binomial -p 16 --picture trees --output tree.png
    For programs:
        rondo draw exscan/doubling_123 -p 5 --json
    """
    collective, choice = choices.of_algorithm(algorithm, settings)
    output = _checked_output(output)
    ranks_on = _ranks_on(nodes, processes)
    written = choices.schedule_in(choice)
    if processes is None:
        processes = sum(ranks_on) or (written["processes"] if written is not None else RANKS)
    seconds = _costs(time, bool(ranks_on), lanes, **costs)
    has_data = next(each["has_data"] for each in _core.collectives() if each["name"] == collective)
    if written is not None:
        elements = _quantity(count, "--count") if count is not None else _in_chunks(written["chunks"])
    elif has_data:
        elements, choice = _count_and_segment(collective, choice, count, element_bytes, processes)
    else:
        elements, element_bytes = processes, 0
    problem = Problem(
        collective, choice, processes, elements, element_bytes, root, commutative, in_place, time, seconds, ranks_on
    )
    answer = problem.run(MOST_WRITTEN if as_json else MOST_DRAWN)
    if as_json:
        click.echo(json.dumps(answer))
        if output is None:
            return
    if output is None:
        name = Path(choice.removeprefix(choices.OF_A_FILE)).stem if written is not None else choice.partition(":")[0]
        output = Path(f"{collective}-{name}-p{processes}.svg")
    _draw(trace.of(problem, answer), picture, output, may_lengthen=has_data and count is None and written is None)
    click.echo(f"wrote {output}", err=as_json)


def _draw(traced: trace.Trace, picture: str, output: Path, *, may_lengthen: bool) -> None:
    # matplotlib takes a second to import.
    from rondo import optional  # noqa: PLC0415
    from rondo.drawing import canvas, space_time, trees  # noqa: PLC0415

    found = trees.of(traced) if picture != "spacetime" else None
    if picture == "trees" and found is None:
        raise Error(
            f"the messages of {traced.problem.collective}/{traced.events.choice} form neither one nor two spanning "
            "trees; take --picture spacetime"
        )
    with optional.module("matplotlib").rc_context(canvas.SETTINGS):
        if found is not None and (picture == "trees" or trees.are_worth_drawing(traced, found)):
            if may_lengthen and traced.blocks > 1:
                longer = dataclasses.replace(traced.problem, count=FULL * traced.problem.count)
                traced = trace.of(longer, longer.run(MOST_DRAWN))
                found = trees.of(traced) or found
            sheet = trees.draw(traced, found)
        else:
            sheet = space_time.draw(traced)
        sheet.save(output)


def _checked_output(output: Path | None) -> Path | None:
    from rondo.reports.figures import FORMATS  # noqa: PLC0415

    if output is not None and output.suffix[1:].lower() not in FORMATS:
        raise Error(f"--output {output}: expected a name that ends in {', '.join(f'.{each}' for each in FORMATS)}")
    return output


def _ranks_on(nodes: str | None, processes: int | None) -> tuple[int, ...]:
    """Of each node; none if nothing was said of nodes. Error if they contradict the processes."""
    if nodes is None:
        return ()
    ranks_on = placement.ranks_on(nodes)
    if processes not in (None, sum(ranks_on)):
        raise Error(f"--nodes {nodes} has {sum(ranks_on)} ranks, not the {processes} of -p; leave out one of the two")
    return ranks_on


def _costs(time: str, has_nodes: bool, lanes: int | None, **texts: str | None) -> Costs | None:
    """None where time is counted in rounds; Error if there are costs nevertheless."""
    given = [f"--{name.replace('_', '-')}" for name, text in texts.items() if text is not None]
    given += ["--lanes"] if lanes is not None else []
    if time == trace.ROUNDS:
        if given:
            raise Error(
                f"{' and '.join(given)} {'means' if len(given) == 1 else 'mean'} nothing in rounds; "
                f"add --time {trace.LOCK_STEP} or --time {trace.OVERLAPPED}"
            )
        return None
    of_nodes = [each for each in given if each in ("--alpha-inside", "--rate-inside", "--lanes")]
    if of_nodes and not has_nodes:
        raise Error(f"{of_nodes[0]} means nothing where each rank is on a node of its own; add --nodes")
    if texts["rendezvous"] is not None and texts["eager"] is None:
        raise Error("--rendezvous is of messages beyond an eager limit; add --eager")
    alpha = shapes.latency(texts["alpha"] or ALPHA)
    rendezvous = shapes.latency(texts["rendezvous"]) if texts["rendezvous"] else 2 * alpha
    return Costs(
        alpha=alpha,
        beta=shapes.BETA_BITS / shapes.rate(texts["rate"] or RATE),
        gamma=shapes.BETA_BITS / shapes.rate(texts["operator_rate"]) if texts["operator_rate"] else 0.0,
        overhead=shapes.latency(texts["overhead"]) if texts["overhead"] else 0.0,
        alpha_inside=shapes.latency(texts["alpha_inside"] or ALPHA_INSIDE) if has_nodes else None,
        beta_inside=shapes.BETA_BITS / shapes.rate(texts["rate_inside"] or RATE_INSIDE) if has_nodes else None,
        lanes=lanes or 1,
        eager=_quantity(texts["eager"], "--eager") if texts["eager"] is not None else None,
        rendezvous=rendezvous if texts["eager"] is not None else 0.0,
    )


def _in_chunks(chunks: int) -> int:
    """Elements, as many to each chunk of a schedule from a file."""
    return -(-UNSEGMENTED // chunks) * chunks


def _unsegmented(collective: str, processes: int) -> int:
    """Elements; where each rank has a vector of its own, as many for each other."""
    is_all_to_all = next(each["all_to_all"] for each in _core.collectives() if each["name"] == collective)
    return -(-UNSEGMENTED // processes) * processes if is_all_to_all else UNSEGMENTED


def _count_and_segment(
    collective: str, choice: str, count: str | None, element_bytes: int, processes: int
) -> tuple[int, str]:
    """Elements, and a choice with a segment, if there is such a parameter: a picture has few blocks, but some."""
    elements = _quantity(count, "--count") if count is not None else None
    name, _, written = choice.partition(":")
    parameters = next(each["parameters"] for each in _core.algorithms(collective) if each["name"] == name)
    segment = next((each for each in parameters if each["name"] == "segment"), None)
    if segment is None:
        return _unsegmented(collective, processes) if elements is None else elements, choice
    settings = dict(each.partition("=")[::2] for each in written.split(",")) if written else {}
    per_segment = segment["standard"]
    if settings.get("segment", "auto") == "auto":
        if elements is not None:
            per_segment = max(-(-elements // BLOCKS), 1) * element_bytes
        settings["segment"] = _core.quantity_text(per_segment)
    else:
        per_segment = _quantity(settings["segment"], "segment")
    if elements is None:
        elements = BLOCKS * max(per_segment // max(element_bytes, 1), 1)
    return elements, f"{name}:{','.join(f'{key}={value}' for key, value in settings.items())}"


def _quantity(text: str, what: str) -> int:
    try:
        value: int = _core.quantity(text)
    except ValueError as error:
        raise Error(f"{what}: {error}") from None
    return value
