# SPDX-License-Identifier: BSD-3-Clause
"""`rondo calibrate`: what messages cost on this machine, and the segments that follow from it."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from rondo import _core, screens
from rondo.bench import launches, plans
from rondo.cluster import shapes
from rondo.errors import Error
from rondo.launching import options
from rondo.machine import calibrate, machine, placement
from rondo.shells import completion

DEFAULT_RANKS = 8
DEFAULT_SIZES = "64Ki,1Mi,16Mi"
KNOWN_SIZES = tuple(2**power for power in range(16, 29))  # 64 KiB to 256 MiB
KNOWN_BUDGET = 1 << 20  # actions in virtual time, for each choice


@click.command()
@options.for_measurements("Calibrate for")
@click.option(
    "--output",
    metavar="FILE",
    help="Where the figures go. Default: ~/.config/rondo/machine, where `rondo run` looks.",
    shell_complete=completion.files,
)
@click.option(
    "--show",
    metavar="FILE",
    help="Measure nothing; show the figures in FILE and what they lead to.",
    shell_complete=completion.files,
)
@click.option(
    "--inside",
    is_flag=True,
    help="Measure only what messages cost inside a node, between ranks of one, and add it to the file.",
)
@click.option(
    "--across",
    is_flag=True,
    help="Measure only what messages cost between domains of a node, and add it to the file. The launcher has to bind "
    "the first and the last rank to processors of two of them: NUMA nodes, sockets, or L3 caches. With --inside, bind "
    "them to the same one.",
)
@click.option(
    "--nodes",
    metavar="NODESxRANKS|RANKS,RANKS,...",
    help="On which the ranks of the calls in the table are, as 4x8. Default: those of the cluster, or each on its own.",
)
@click.option(
    "--ranks", type=click.IntRange(1, 2**20), help="Of the calls in the table. Default: those measured with, or 8."
)
@click.option("--sizes", default=DEFAULT_SIZES, show_default=True, help="Of the vectors in the table, in bytes.")
@click.option(
    "--precompute",
    type=click.IntRange(1, 2**14),
    multiple=True,
    metavar="RANKS",
    help="Also write the best segments for so many ranks, and up to twice as many, into the file: for more ranks than "
    "a program can try at its first call. May be repeated; takes seconds to minutes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print figures and table as JSON.")
@click.argument(
    "launcher",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="[-- LAUNCHER [OPTION]...]",
    shell_complete=completion.command_line,
)
def command(
    *,
    cluster: str | None,
    mpi: str | None,
    output: str | None,
    show: str | None,
    inside: bool,
    across: bool,
    nodes: str | None,
    ranks: int | None,
    sizes: str,
    precompute: tuple[int, ...],
    as_json: bool,
    launcher: tuple[str, ...],
) -> None:
    """Measure what a message costs, so that pipelines get the segments that are best here.

    What follows -- is a launcher without a program, best for two ranks on each of two nodes. The figures go into a
    file that `rondo run` finds by itself.

    \b
        rondo calibrate -- mpiexec -n 4 -ppn 2 -hosts node1,node2
        rondo calibrate --inside -- mpiexec -n 2
        rondo calibrate --across -- mpiexec -n 2 --map-by numa --bind-to numa
        rondo calibrate --cluster 8x1:2ms:200Mbit --output emulated.machine
        rondo calibrate --show emulated.machine --nodes 8x8

    The table shows for every pipelined algorithm the segment that is chosen, the time that is predicted, and beside it
    the number of segments that a formula gives for rounds in lock step (b*), which is too small where messages overlap.
    """
    lengths = plans.counts_of(sizes)
    if min(lengths) < calibrate.ELEMENT:
        raise Error(f"--sizes {sizes}: expected at least {calibrate.ELEMENT} bytes each")
    if nodes is not None:
        ranks_on = sum(placement.ranks_on(nodes))
        if ranks not in (None, ranks_on):
            raise Error(f"--nodes {nodes} has {ranks_on} ranks, not the {ranks} of --ranks; leave out one of the two")
        ranks = ranks_on
    if show is not None:
        if launcher or cluster or output or mpi or precompute or inside or across:
            raise Error(
                "--show measures and writes nothing; expected no launcher, --cluster, --mpi, --output, --inside, "
                "--across or --precompute beside it"
            )
        figures = machine.read(Path(show))
        tell(figures, calibrate.table(figures, ranks or DEFAULT_RANKS, lengths, nodes or ""), as_json, source=show)
        return
    if not launcher and cluster is None:
        raise Error(
            "what to calibrate? Expected a launcher, as in: rondo calibrate -- mpiexec -n 2; or an emulated cluster: "
            "--cluster 8x1:2ms:200Mbit; or a file: --show FILE"
        )
    path = Path(output) if output is not None else machine.default_path(os.environ)
    if path.is_dir():
        raise Error(f"--output {path} is a directory; expected a file in it")
    if inside and across:
        raise Error("--inside and --across measure other pairs of ranks; leave out one of the two")
    part = "--inside" if inside else "--across" if across else ""
    if part and precompute:
        raise Error(f"{part} changes three figures of a file; leave out --precompute")
    before = machine.read(path) if part else None  # refuses what is wrong before anything starts, as this:
    launches.make(launcher, cluster, mpi)

    def progress(stage: str) -> None:
        click.echo(f"measuring {stage}", err=True)

    if before is not None:
        links = calibrate.measure_inside(launcher, cluster, mpi, progress)
        names = machine.INSIDE if inside else machine.ACROSS
        figures, measured_ranks = calibrate.with_links(before, links, names), 2
        if across and links.alpha <= figures.alpha_inside:
            click.echo(
                f"rondo: warning: a message takes {time_text(links.alpha)} between domains, and "
                f"{time_text(figures.alpha_inside)} inside a node: are the two ranks bound to different domains?",
                err=True,
            )
        machine.write(path, machine.text_with(path.read_text(encoding="utf-8"), figures, names))
    else:
        measured = calibrate.measure(launcher, cluster, mpi, progress)
        figures, measured_ranks = measured.machine, measured.ranks
        machine.write(path, text_of(measured, launcher, cluster, precompute))
    click.echo(f"wrote {path}", err=True)
    if figures.rendezvous is not None and figures.rendezvous > figures.alpha / 2:
        click.echo(
            f"rondo: messages beyond the eager limit take {time_text(figures.rendezvous)} more, because this library "
            f"asks the receiver first",
            err=True,
        )
    if nodes is None and ranks is None:
        ranks, nodes = table_ranks(cluster, measured_ranks)
    rows = calibrate.table(figures, ranks or DEFAULT_RANKS, lengths, nodes or "")
    tell(figures, rows, as_json, source=str(path))


def table_ranks(cluster: str | None, measured: int) -> tuple[int, str]:
    """Those of the cluster and its nodes, if its text says; two ends of a network say nothing about programs."""
    if cluster is not None and ":" in cluster:
        shape = shapes.parse(cluster)
        return shape.ranks, f"{shape.nodes}x{shape.per_node}"
    return (measured if measured > 2 else DEFAULT_RANKS), ""


def text_of(
    measured: calibrate.Calibration, launcher: Sequence[str], cluster: str | None, precompute: Sequence[int]
) -> str:
    """The machine file."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    where = f"emulated cluster {cluster}" if cluster is not None else " ".join(launcher)
    text = measured.machine.text(f"Measured by rondo calibrate, {date}\n{where}\n{measured.library}")
    if precompute:
        click.echo(f"computing segments for {', '.join(map(str, precompute))} ranks", err=True)
        text += "# The best segment for an algorithm, from so many ranks and bytes up to twice as many.\n"
        text += calibrate.known_segments(measured.machine, precompute, KNOWN_SIZES, KNOWN_BUDGET)
    return text


def tell(figures: machine.Machine, rows: Sequence[calibrate.Row], as_json: bool, source: str) -> None:
    """Prints figures and table on standard output."""
    if as_json:
        document = {"machine": dataclasses.asdict(figures), "segments": [dataclasses.asdict(row) for row in rows]}
        click.echo(json.dumps(document, indent=2))
        return
    from rich.table import Table  # noqa: PLC0415

    click.secho(source, bold=True)
    alphas = (figures.alpha, figures.alpha_inside, figures.alpha_across)
    betas = (figures.beta, figures.beta_inside, figures.beta_across)
    overheads = (figures.overhead, figures.overhead_inside, figures.overhead_across)
    click.echo(f"  alpha       {beside(*alphas, time_text)}")
    click.echo(f"  beta        {beside(*betas, beta_text)}")
    click.echo(f"  overhead    {beside(*overheads, time_text)}")
    click.echo(f"  gamma       {beta_text(figures.gamma)}")
    click.echo(f"  lanes       {figures.lanes}")
    eager = f"{_core.quantity_text(figures.eager)} bytes" if figures.eager is not None else "by the library"
    click.echo(f"  eager       {eager}")
    wait = time_text(figures.rendezvous) if figures.rendezvous is not None else "two latencies"
    click.echo(f"  rendezvous  {wait}")
    passes = (figures.first_pass, figures.second_pass)
    if None not in passes:
        click.echo(f"  passes      {' and '.join(beta_text(each) for each in passes if each is not None)}")
    ranks = rows[0].ranks if rows else 0
    table = Table(
        title=f"Segments chosen, {ranks} ranks", title_justify="left", box=None, pad_edge=False, collapse_padding=True
    )
    for name in ("algorithm", "bytes", "segment", "segments", "time", "b*", "found by"):
        table.add_column(name, justify="left" if name in ("algorithm", "found by") else "right")
    for row in rows:
        table.add_row(
            f"{row.collective}/{row.algorithm}",
            _core.quantity_text(row.bytes),
            _core.quantity_text(row.segment),
            str(row.segments),
            time_text(row.seconds) if row.seconds else "-",
            f"{row.lock_step_segments:.0f}" if row.lock_step_segments else "-",
            row.basis,
        )
    screens.show(table, screens.console())


def beside(between: float, inside: float | None, across: float | None, text: Callable[[float], str]) -> str:
    """A figure of all classes of links."""
    words = [text(between)]
    if inside is not None:
        words.append(f"inside a node {text(inside)}")
    if across is not None:
        words.append(f"between its domains {text(across)}")
    return "; ".join(words)


def beta_text(seconds_per_byte: float) -> str:
    """A figure per byte, and its rate."""
    return f"{seconds_per_byte:.3g} s/byte ({rate_text(seconds_per_byte)})"


def time_text(seconds: float) -> str:
    """A time as people write it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def rate_text(seconds_per_byte: float) -> str:
    """The rate of a beta."""
    return f"{1e-9 / seconds_per_byte:.3g} GB/s" if seconds_per_byte > 0 else "no limit"
