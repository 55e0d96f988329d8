# SPDX-License-Identifier: BSD-3-Clause
"""`rondo calibrate`: what messages cost on this machine, and the segments that follow from it."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from rondo import _core
from rondo.bench import launches, plans
from rondo.cluster import shapes
from rondo.errors import Error
from rondo.machine import calibrate, machine

DEFAULT_RANKS = 8
DEFAULT_SIZES = "64Ki,1Mi,16Mi"
KNOWN_SIZES = tuple(2**power for power in range(16, 29))  # 64 KiB to 256 MiB
KNOWN_BUDGET = 1 << 20  # actions in virtual time, for each choice


@click.command()
@click.option(
    "--cluster",
    metavar="NODESxRANKS:LATENCY:RATE[:LANES]|NAME",
    help="Calibrate for an emulated cluster of this machine, a new one as 8x1:2ms:200Mbit or one of `rondo cluster "
    "up`.",
)
@click.option(
    "--mpi",
    metavar="mpich|openmpi|impi|PATH",
    help="MPI library. Default: the launcher's, on an emulated cluster MPICH.",
)
@click.option(
    "--output", metavar="FILE", help="Where the figures go. Default: ~/.config/rondo/machine, where `rondo run` looks."
)
@click.option("--show", metavar="FILE", help="Measure nothing; show the figures in FILE and what they lead to.")
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
@click.argument("launcher", nargs=-1, type=click.UNPROCESSED, metavar="[-- LAUNCHER [OPTION]...]")
def command(
    *,
    cluster: str | None,
    mpi: str | None,
    output: str | None,
    show: str | None,
    ranks: int | None,
    sizes: str,
    precompute: tuple[int, ...],
    as_json: bool,
    launcher: tuple[str, ...],
) -> None:
    """Measure what a message costs, so that pipelines get the segments that are best here.

    What follows -- is a launcher without a program, for two ranks on different nodes. The figures go into a file that
    `rondo run` finds by itself.

    \b
        rondo calibrate -- mpiexec -n 2 -ppn 1 -hosts node1,node2
        rondo calibrate --cluster 8x1:2ms:200Mbit --output emulated.machine
        rondo calibrate --show emulated.machine --ranks 64

    The table shows for every pipelined algorithm the segment that is chosen, the time that is predicted, and beside it
    the number of segments that a formula gives for rounds in lock step (b*), which is too small where messages overlap.
    """
    lengths = plans.counts_of(sizes)
    if min(lengths) < calibrate.ELEMENT:
        raise Error(f"--sizes {sizes}: expected at least {calibrate.ELEMENT} bytes each")
    if show is not None:
        if launcher or cluster or output or mpi or precompute:
            raise Error(
                "--show measures and writes nothing; expected no launcher, --cluster, --mpi, --output or "
                "--precompute beside it"
            )
        figures = machine.read(Path(show))
        tell(figures, calibrate.table(figures, ranks or DEFAULT_RANKS, lengths), as_json, source=show)
        return
    if not launcher and cluster is None:
        raise Error(
            "what to calibrate? Expected a launcher, as in: rondo calibrate -- mpiexec -n 2; or an emulated cluster: "
            "--cluster 8x1:2ms:200Mbit; or a file: --show FILE"
        )
    path = Path(output) if output is not None else machine.default_path(os.environ)
    if path.is_dir():
        raise Error(f"--output {path} is a directory; expected a file in it")
    launches.make(launcher, cluster, mpi)  # refuses what is wrong before anything starts
    measured = calibrate.measure(launcher, cluster, mpi, lambda stage: click.echo(f"measuring {stage}", err=True))
    machine.write(path, text_of(measured, launcher, cluster, precompute))
    click.echo(f"wrote {path}", err=True)
    if measured.rendezvous > measured.machine.alpha / 2:
        click.echo(
            f"rondo: messages beyond the eager limit take {time_text(measured.rendezvous)} more, because this library "
            f"asks the receiver first",
            err=True,
        )
    rows = calibrate.table(measured.machine, ranks or table_ranks(cluster, measured.ranks), lengths)
    tell(measured.machine, rows, as_json, source=str(path))


def table_ranks(cluster: str | None, measured: int) -> int:
    """Those of the cluster, if its text says; two ends of a network say nothing about programs."""
    if cluster is not None and ":" in cluster:
        return shapes.parse(cluster).ranks
    return measured if measured > 2 else DEFAULT_RANKS


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
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    click.secho(source, bold=True)
    click.echo(f"  alpha     {time_text(figures.alpha)}")
    click.echo(f"  beta      {figures.beta:.3g} s/byte ({rate_text(figures.beta)})")
    click.echo(f"  overhead  {time_text(figures.overhead)}")
    click.echo(f"  gamma     {figures.gamma:.3g} s/byte ({rate_text(figures.gamma)})")
    eager = f"{_core.quantity_text(figures.eager)} bytes" if figures.eager is not None else "by the library"
    click.echo(f"  eager     {eager}")
    ranks = rows[0].ranks if rows else 0
    table = Table(title=f"Segments chosen, {ranks} ranks", title_justify="left", box=None, pad_edge=False)
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
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1000
    Console(width=width, highlight=False).print(table)


def time_text(seconds: float) -> str:
    """A time as people write it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def rate_text(seconds_per_byte: float) -> str:
    """The rate of a beta."""
    return f"{1e-9 / seconds_per_byte:.3g} GB/s" if seconds_per_byte > 0 else "no limit"
