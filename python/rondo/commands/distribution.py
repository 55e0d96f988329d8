# SPDX-License-Identifier: BSD-3-Clause
"""`rondo distribution`: how a distributed array should lie so that its prefix sum ends earliest."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
from pathlib import Path
from typing import Any

import click

from rondo import _core, screens
from rondo.cluster import cluster as clusters
from rondo.cluster import shapes
from rondo.distributions import distribution as distributions
from rondo.distributions.prefix_sum import CHAIN, FEW, PrefixSum, Timeline
from rondo.errors import Error
from rondo.machine import placement
from rondo.machine.machine import Machine
from rondo.shells import completion

ROUNDING = 1e-12  # of seconds that were added up
QUICK_RANKS = 2048  # so many take seconds; more are worth a word on the way
Rows = dict[tuple[str, str], Timeline]
"""By algorithm and distribution."""


@click.command()
@click.option(
    "-n", "--processes", type=click.IntRange(1, distributions.MOST_RANKS), help="Ranks. Default: those of --nodes."
)
@click.option(
    "--nodes",
    metavar="NODESxRANKS|RANKS,RANKS,...",
    help="Where the ranks are: 4x8 is four nodes of eight. Default: each rank on its own.",
)
@click.option("--count", required=True, metavar="ELEMENTS", help="Of the whole array, as in 1Gi.")
@click.option("--element-bytes", type=click.IntRange(1), default=8, show_default=True, help="Size of an element.")
@click.option(
    "--how",
    multiple=True,
    metavar="even|ladder[:step=N]|tent|best",
    shell_complete=completion.one_of(distributions.KINDS),
    help="The distribution; may be repeated. Default: all four.",
)
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    metavar="NAME",
    help=f"The exclusive scan that carries the totals, of `rondo list exscan`, or `{CHAIN}`; may be repeated. Default: "
    f"{CHAIN} and the {FEW} that are the quickest on even counts.",
    shell_complete=completion.exclusive_scans,
)
@click.option(
    "--machine",
    "machine_file",
    metavar="FILE",
    help="The machine's figures. Default: where rondo run looks.",
    shell_complete=completion.files,
)
@click.option("--cluster", metavar="SHAPE", help="The figures of an emulated cluster instead, as 8x1:2ms:200Mbit.")
@click.option("--first-pass", type=float, metavar="SECONDS", help="Per element. Default: of the machine file.")
@click.option("--second-pass", type=float, metavar="SECONDS", help="Per element. Default: of the machine file.")
@click.option("--counts", "show_counts", is_flag=True, help="Print the counts of the quickest, a line for each rank.")
@click.option(
    "--draw",
    "picture",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg|png|pdf",
    help="Draw who computes and who waits when: a panel for each distribution, with the quickest algorithm of each.",
)
@click.option("--json", "as_json", is_flag=True, help="Print counts, offsets and times as JSON.")
def command(
    *,
    processes: int | None,
    nodes: str | None,
    count: str,
    element_bytes: int,
    how: tuple[str, ...],
    algorithms: tuple[str, ...],
    machine_file: str | None,
    cluster: str | None,
    first_pass: float | None,
    second_pass: float | None,
    show_counts: bool,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Find out how a distributed array should lie so that its prefix sum ends earliest.

    Each rank sums its own elements (first pass), an exclusive scan brings it the sum of all before, and then it makes
    its results (second pass). Ranks that get their prefix late should have less to do behind it, and ranks on whose
    totals many wait less before. Programs ask the same by rondo.distribution(...).

    \b
        rondo distribution -n 64 --count 1Gi
        rondo distribution -n 8 --count 1Gi --how even --how best --draw waits.svg
        rondo distribution --nodes 4x8 --count 100Mi --how best --counts
        rondo distribution -n 8 --count 800 --cluster 8x1:2ms:200Mbit

    Times are virtual: predicted from the figures of the machine, as `rondo calibrate` measures them.
    """
    subject = distributions.prefix_sum(
        _ranks(processes, nodes), _figures(machine_file, cluster), element_bytes=element_bytes, nodes=nodes or "",
        first_pass=first_pass, second_pass=second_pass,
    )  # fmt: skip
    elements = _elements(count)
    kinds = how or distributions.KINDS
    for each in kinds:
        distributions.parts(each)
    if picture is not None:
        _check_picture(picture)
    for each in algorithms:
        subject.timeline(each, [0] * subject.ranks)  # refuses what is wrong
    if not algorithms:
        _say(subject, f"looking which of the exclusive scans are the quickest on {subject.ranks} ranks")
    names = algorithms or tuple(dict.fromkeys((CHAIN, *subject.algorithms(elements)[:FEW])))
    rows: Rows = {}
    for name, kind in itertools.product(names, kinds):
        _say(subject, f"{name}, {kind}: {len(rows) + 1} of {len(names) * len(kinds)}")
        rows[name, kind] = subject.timeline(name, distributions.counts_of(subject, elements, kind, name))
    if as_json:
        click.echo(json.dumps(_document(subject, elements, rows)))
    else:
        _tell(subject, elements, rows)
        if show_counts:
            _tell_counts(rows)
    if picture is not None:
        _draw(subject, elements, rows, picture)
        click.echo(f"wrote {picture}", err=True)


def _ranks(processes: int | None, nodes: str | None) -> int:
    ranks_on = sum(placement.ranks_on(nodes)) if nodes is not None else None
    if processes is None and ranks_on is None:
        raise Error("how many ranks? Expected -n 64, or --nodes 4x8")
    if None not in (processes, ranks_on) and processes != ranks_on:
        raise Error(f"--nodes {nodes} has {ranks_on} ranks, not the {processes} of -n; leave out one of the two")
    return processes or ranks_on or 1


def _say(subject: PrefixSum, what: str) -> None:
    """On the way, where it takes long."""
    if subject.ranks > QUICK_RANKS:
        click.echo(what, err=True)


def _figures(machine_file: str | None, cluster: str | None) -> Machine:
    if cluster is None:
        return distributions.figures(machine_file, os.environ)
    if machine_file is not None:
        raise Error("--machine and --cluster both say what messages cost; leave out one of the two")
    return clusters.machine_of(shapes.parse(cluster), os.cpu_count() or 1)


def _elements(count: str) -> int:
    try:
        elements: int = _core.quantity(count)
    except ValueError as error:
        raise Error(f"--count: {error}") from None
    return elements


def _check_picture(picture: Path) -> None:
    from rondo.reports.figures import FORMATS  # noqa: PLC0415

    if picture.suffix[1:].lower() not in FORMATS:
        raise Error(f"--draw {picture}: expected a name that ends in {', '.join(f'.{each}' for each in FORMATS)}")


def _document(subject: PrefixSum, elements: int, rows: Rows) -> dict[str, Any]:
    return {
        "ranks": subject.ranks,
        "elements": elements,
        "first_pass": subject.first_pass,
        "second_pass": subject.second_pass,
        "hop": subject.hop,
        "computing": subject.computing(elements),
        "rows": [
            {
                "algorithm": algorithm,
                "how": kind,
                "seconds": timeline.seconds,
                "counts": timeline.counts,
                "offsets": list(itertools.accumulate(timeline.counts[:-1], initial=0)),
                "times": [dataclasses.asdict(each) for each in timeline.times],
            }
            for (algorithm, kind), timeline in rows.items()
        ],
    }


def _tell(subject: PrefixSum, elements: int, rows: Rows) -> None:
    """The table, with the quickest in bold."""
    from rich.table import Table  # noqa: PLC0415

    from rondo.reports.style import digits, time_text  # noqa: PLC0415

    def nanoseconds(seconds: float) -> str:
        return f"{digits(1e9 * seconds)} ns"

    computing = subject.computing(elements)
    least = min(each.seconds for each in rows.values())
    click.echo(f"{elements} elements on {subject.ranks} ranks, virtual time")
    click.echo(
        f"passes of {nanoseconds(subject.first_pass)} and {nanoseconds(subject.second_pass)} an element: "
        f"{time_text(computing)} of computing on each rank; one rank more in a chain: {time_text(subject.hop)}"
    )
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for name in ("algorithm", "how", "time", "beyond computing", "", "fewest", "most", "ranks"):
        table.add_column(name, justify="left" if name in ("algorithm", "how") else "right")
    for (algorithm, kind), timeline in rows.items():
        beyond = timeline.seconds - computing
        if abs(beyond) < ROUNDING * computing:
            beyond = 0.0
        share = f"{digits(100 * beyond / computing)}%" if computing else ""
        used = [each for each in timeline.counts if each] or [0]
        table.add_row(
            algorithm, kind, time_text(timeline.seconds), time_text(max(beyond, 0.0)), share, str(min(used)),
            str(max(used)), str(timeline.active), style="bold" if timeline.seconds == least else None,
        )  # fmt: skip
    click.echo()
    screens.show(table, screens.console())


def _tell_counts(rows: Rows) -> None:
    (algorithm, kind), timeline = min(rows.items(), key=lambda row: row[1].seconds)
    click.echo(f"\n{kind} with {algorithm}: rank, first element, elements")
    offset = 0
    for rank, count in enumerate(timeline.counts):
        click.echo(f"{rank} {offset} {count}")
        offset += count


def _draw(subject: PrefixSum, elements: int, rows: Rows, picture: Path) -> None:
    # matplotlib takes a second to import.
    from rondo import optional  # noqa: PLC0415
    from rondo.drawing import canvas, gantt  # noqa: PLC0415
    from rondo.reports.style import time_text  # noqa: PLC0415

    panels: dict[str, Timeline] = {}
    for kind in dict.fromkeys(kind for _, kind in rows):
        algorithm, timeline = min(
            ((algorithm, timeline) for (algorithm, of), timeline in rows.items() if of == kind),
            key=lambda each: each[1].seconds,
        )
        panels[f"{kind}, {algorithm}"] = timeline
    title = (
        f"Prefix sum of {elements} elements on {subject.ranks} ranks",
        f"virtual time; computing alone takes {time_text(subject.computing(elements))}",
    )
    with optional.module("matplotlib").rc_context(canvas.SETTINGS):
        gantt.draw(title, panels, subject).save(picture)
